"""An explorer of cost: the whole corpus in the prompt, the same from a cached prefix, or retrieved passages.

Over ``ragkit.systems.cost``. A share of the questions finds the corpus in the cache, the others write it anew. Two
crossovers follow. A prefix pays from the share s at which ``write (1 - s) + read s = 1``, and a cached corpus costs
what retrieval costs when its tokens times that factor are as many as the retrieved ones. Left out: the tokens of
question and answer, which every way pays alike, building the index, and the rent of a machine that searches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragkit.explore.explorer import Data, Explorer, Result, State, control
from ragkit.explore.markup import count, drawing, fixed, grid, label, line, money, swatch
from ragkit.figures import COLOURS
from ragkit.show.provenance import Source, provenance
from ragkit.systems.cost import Prices, call_price, compare

WAYS = ("long context, read afresh", "long context, cached prefix", "retrieved passages")
CORPUS = (*(int(step * 10**power) for power in (3, 4, 5, 6) for step in (1, 1.5, 2, 3, 5, 7)), 10_000_000)
RETRIEVED = (500, 1000, 2000, 3000, 4000, 5000, 8000, 10_000, 20_000, 50_000)
PRICES = (0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 15.0)
QUESTIONS = (*(step * 10**power for power in range(6) for step in (1, 2, 5)), 1_000_000)
SHARES = tuple(twentieth / 20 for twentieth in range(21))
WINDOWS = {32_000: "32K", 128_000: "128K", 200_000: "200K", 1_000_000: "1M", 2_000_000: "2M", 10_000_000: "10M"}
LEFT, RIGHT, TOP, BOTTOM = 58, 350, 22, 206  # of the plot, in a drawing of 360 by 240
DASHES = ("", "7 4", "2 3")


def compute(data: Data, state: State) -> Result:
    """Money a question and a day by each of ``WAYS``, how much cheaper retrieval is, and the crossovers."""
    prices = Prices(state["price"], cache_write=data["write"], cache_read=data["read"])
    corpus, passages, share = state["corpus"], state["retrieved"], state["share"]
    one = compare(1, corpus, 1, passages, prices=prices, queries_per_day=state["questions"], window=state["window"])
    missed = call_price(corpus, prices=prices, written=corpus)
    cached = share * one.long_cached + (1 - share) * missed
    factor = share * data["read"] + (1 - share) * data["write"]
    each = [one.long, cached, one.retrieved]
    return {
        "each": each,
        "daily": [price * state["questions"] for price in each],
        "times": [price / one.retrieved for price in each],
        "fits": one.fits,
        "factor": factor,
        "pays_from": (data["write"] - 1) / (data["write"] - data["read"]),
        "same_as_retrieval": passages / factor,
        "gap": 86_400 / state["questions"],
    }


def summary(data: Data, state: State, result: Result) -> str:
    """The verdict and both crossovers, in words."""
    each = result["each"]
    least = min(range(3), key=lambda i: (each[i], i))
    fits = "fits" if result["fits"] else "does not fit"
    return (
        f"The corpus {fits} into the window. Cheapest a question: {WAYS[least]}, {money(each[least])}. "
        f"At this share the cached corpus costs as much as retrieval when it has {count(result['same_as_retrieval'])} "
        f"tokens. Caching pays when more than {fixed(100 * result['pays_from'], 0)}% of the questions find the prefix. "
        f"Spread evenly, a question comes every {fixed(result['gap'], 1)} seconds."
    )


def view(data: Data, state: State, result: Result) -> str:
    """The bill as a table, and the price of a question over the size of the corpus."""
    tokens = [state["corpus"], state["corpus"], state["retrieved"]]
    rows = []
    for i, name in enumerate(WAYS):
        bill = [count(tokens[i]), money(result["each"][i]), money(result["daily"][i]), fixed(result["times"][i], 1)]
        rows.append(("", [f"{swatch(i)}{name}", *bill]))
    header = [("way", False), ("tokens", True), ("a question", True), ("a day", True), ("times retrieval", True)]
    caption = f"{count(state['questions'])} questions a day at ${fixed(state['price'], 2)} a million tokens"
    return f'<div class="rk-two">{grid(caption, header, rows)}{_plot(state, result)}</div>'


def _x(tokens: float) -> float:
    """Where a number of tokens stands: 1,000 to ten million, logarithmic."""
    return LEFT + (math.log10(tokens) - 3) * (RIGHT - LEFT) / 4


def _y(dollars: float) -> float:
    """Where a price stands: a hundred-thousandth of a dollar to a thousand, logarithmic."""
    return BOTTOM - (math.log10(dollars) + 5) * (BOTTOM - TOP) / 8


def _plot(state: State, result: Result) -> str:
    shapes = "".join(
        line(LEFT, _y(dollars), RIGHT, _y(dollars), "rk-rule", "#c9ccd1")
        + label(LEFT - 6, _y(dollars) + 4, text, "end")
        for dollars, text in ((0.0001, "$0.0001"), (0.01, "$0.01"), (1, "$1"), (100, "$100"))
    )
    for power, text, place in ((3, "1K", "middle"), (5, "100K", "middle"), (7, "10M", "end")):
        shapes += label(_x(10**power), BOTTOM + 17, text, place)
    shapes += label((LEFT + RIGHT) / 2, BOTTOM + 32, "tokens of the corpus (ring: same price)")
    window = _x(state["window"])
    shapes += line(window, TOP, window, BOTTOM, "rk-edge", "#7a7f87", 1, "4 3")
    shapes += label(window - 4, TOP - 6, "window", "end")
    million = state["price"] / 1_000_000
    slopes = [million, million * result["factor"], 0.0]
    for i, slope in enumerate(slopes):
        ends = [slope * tokens if slope else result["each"][2] for tokens in (1000, 10_000_000)]
        look = f"rk-line rk-t{i}"
        shapes += line(_x(1000), _y(ends[0]), _x(10_000_000), _y(ends[1]), look, COLOURS[i], 2.5, DASHES[i])
        place = f'cx="{fixed(_x(state["corpus"]), 1)}" cy="{fixed(_y(result["each"][i]), 1)}"'
        shapes += f'<circle {place} r="5" class="rk-s{i}" fill="{COLOURS[i]}"/>'
    if 1000 <= result["same_as_retrieval"] <= 10_000_000:
        place = f'cx="{fixed(_x(result["same_as_retrieval"]), 1)}" cy="{fixed(_y(result["each"][2]), 1)}"'
        shapes += f'<circle {place} r="7" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    said = (
        "Price of a question over the tokens of the corpus. Both long contexts rise with the corpus, the cached one "
        f"at {fixed(result['factor'], 2)} times the price; retrieval stays level. They meet at "
        f"{count(result['same_as_retrieval'])} tokens."
    )
    return drawing(360, 244, said, shapes)


def cost_explorer(
    corpus: int = 500_000,
    retrieved: int = 5000,
    price: float = 1.0,
    *,
    share: float = 1.0,
    questions: int = 2000,
    window: int = 1_000_000,
    write: float = 1.25,
    read: float = 0.1,
    title: str = "Long context or retrieval",
    source: Source = "computed",
    answered: str | Sequence[str] | None = None,
    date: str | None = None,
    note: str | None = None,
) -> Explorer:
    """The bill of ``corpus`` tokens in every prompt, with and without a cache, and of ``retrieved`` tokens.

    ``price`` is dollars a million input tokens, ``share`` that of the questions which find the corpus in the cache,
    ``questions`` how many come a day; all are settings at the start. ``write`` and ``read`` are multiples of the price;
    a prefix must cost more to write than to read. The last four are those of `ragkit.show.table`; without a ``note``
    the multiples are stated.
    """
    given = {"corpus": corpus, "retrieved": retrieved, "price": price, "questions": questions}
    for name, value in given.items():
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be above 0 and finite, got {value!r}")
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie in [0, 1], got {share!r}")
    if not (math.isfinite(write) and 0 < read < 1 <= write):
        raise ValueError(f"write must be at least 1 and read between 0 and 1, got write={write!r}, read={read!r}")
    sizes, parts = sorted({*CORPUS, corpus}), sorted({*RETRIEVED, retrieved})
    fees, shares, daily = sorted({*PRICES, price}), sorted({*SHARES, share}), sorted({*QUESTIONS, questions})
    if not (1000 <= corpus <= 10_000_000):
        raise ValueError(f"corpus must lie between 1,000 and 10,000,000 tokens, which the plot shows, got {corpus}")
    controls = (
        control("corpus", "Tokens of the corpus", "slider", sizes, corpus, list(map(count, sizes))),
        control("retrieved", "Tokens retrieved", "slider", parts, retrieved, list(map(count, parts))),
        control("price", "Dollars a million tokens", "slider", fees, price, [fixed(fee, 2) for fee in fees]),
        control(
            "share", "Questions that find the cache", "slider", shares, share, [f"{fixed(100 * s, 0)}%" for s in shares]
        ),
        control("questions", "Questions a day", "slider", daily, questions, list(map(count, daily))),
        control("window", "Context window", "choice", list(WINDOWS), window, list(WINDOWS.values())),
    )
    stated = f"A cached prefix costs {write:g} times the input price to write and {read:g} to read"
    said = provenance(source, answered, date, note or stated)
    data = {"write": float(write), "read": float(read)}
    return Explorer("cost", title, controls, data, compute, summary, view, said)
