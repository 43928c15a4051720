"""An explorer of a semantic cache: labelled pairs of questions, a threshold, and the second gate on or off.

Over ``ragkit.systems``: the cosines are those of `SemanticCache`, the gate is that of `GuardedSemanticCache`, and each
setting counts what `audit` counts. Every pair has a cache of its own. Left out: traffic, in which a wrong answer of the
nearest question can hide a right one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ragkit.base import Embedder
from ragkit.explore.explorer import Data, Explorer, Result, State, control, switch
from ragkit.explore.markup import count, drawing, fixed, grid, label, line, share
from ragkit.figures import COLOURS
from ragkit.show.provenance import Source, provenance
from ragkit.systems.cache_gate import difference, holds_identifier
from ragkit.systems.cache_pairs import Pair
from ragkit.systems.semantic_cache import TIE, unit

LOWEST, BINS = 0.2, 40  # of the drawing: 0.2 to 1 in steps of 0.02, what is below stands in the first
THRESHOLDS = tuple(hundredth / 100 for hundredth in range(30, 101))
LEFT, WIDTH, MIDDLE, TALL = 12, 8.5, 118, 84  # pixels: left end, a bin, the axis, the highest bar


def compute(data: Data, state: State) -> Result:
    """The four outcomes, refusals of the second gate by reason, bins of the drawing, and the closest misjudged pairs.

    ``false_hit`` is the wrongly served pair with the highest cosine, ``miss`` the paraphrase not served with the
    highest one, both as positions in the pairs, -1 if there is none. A bin is ``[hits, missed, false hits, refused]``.
    """
    counts = {"hits": 0, "missed": 0, "false_hits": 0, "refused": 0}
    reasons: dict[str, int] = {}
    bins = [[0, 0, 0, 0] for _ in range(BINS)]
    closest = {"false_hits": -1, "missed": -1}
    pairs = data["pairs"]
    for at, (_, _, cosine, same, reason) in enumerate(pairs):
        near = cosine >= state["threshold"] - TIE
        served = near and not (state["gate"] and reason)
        if near and not served:
            reasons[reason] = reasons.get(reason, 0) + 1
        outcome = ("hits" if served else "missed") if same else ("false_hits" if served else "refused")
        counts[outcome] += 1
        column = min(max(int((cosine - LOWEST) * 50), 0), BINS - 1)
        bins[column][list(counts).index(outcome)] += 1
        if outcome in closest and (closest[outcome] < 0 or cosine > pairs[closest[outcome]][2]):
            closest[outcome] = at
    return {**counts, "reasons": reasons, "bins": bins, "false_hit": closest["false_hits"], "miss": closest["missed"]}


def summary(data: Data, state: State, result: Result) -> str:
    """What the cache does at this threshold, in words."""
    same, other = result["hits"] + result["missed"], result["false_hits"] + result["refused"]
    gate = "with the second gate" if state["gate"] else "by cosine alone"
    return (
        f"At {fixed(state['threshold'], 2)}, {gate}, the cache serves {result['hits']} of {same} paraphrases "
        f"({share(result['hits'], same)}) and {result['false_hits']} of {other} changed questions wrongly "
        f"({share(result['false_hits'], other)})."
    )


def view(data: Data, state: State, result: Result) -> str:
    """The outcomes as a table and a drawing, why the second gate refused, and the closest misjudged pairs."""
    rows = [
        ("", ["other wording, one answer", count(result["hits"]), count(result["missed"])]),
        ("", ["one token changed, another answer", count(result["false_hits"]), count(result["refused"])]),
    ]
    header = [("pair", False), ("served", True), ("not served", True)]
    table = grid(f"Pairs at threshold {fixed(state['threshold'], 2)}", header, rows)
    said = ""
    if result["reasons"]:
        why = ", ".join(f"{escape(reason)} {result['reasons'][reason]}" for reason in sorted(result["reasons"]))
        said += f"<p>Near enough, and refused by the second gate: {why}.</p>"
    said += _pair(data, result["false_hit"], "The closest pair that is served wrongly")
    said += _pair(data, result["miss"], "The closest paraphrase that is missed")
    return f'<div class="rk-two">{_bars(state, result)}<div>{table}{said}</div></div>'


def _pair(data: Data, at: int, what: str) -> str:
    if at < 0:
        return ""
    stored, asked, cosine, _, _ = data["pairs"][at]
    texts = data["texts"]
    return (
        f"<p>{what} (cosine {fixed(cosine, 3)}):<br><q>{escape(texts[stored])}</q><br><q>{escape(texts[asked])}</q></p>"
    )


def _bars(state: State, result: Result) -> str:
    """Paraphrases upwards, changed questions downwards, each on its own scale; what is served in full colour."""
    highest = (max(1, *(b[0] + b[1] for b in result["bins"])), max(1, *(b[2] + b[3] for b in result["bins"])))
    shapes = ""
    for at, (up, over, down, under) in enumerate(result["bins"]):
        x = LEFT + at * WIDTH
        for series, full, pale, most in ((2, up, over, highest[0]), (1, down, under, highest[1])):
            y = 0.0
            for number, look in ((full, ""), (pale, ' fill-opacity="0.35"')):
                height = TALL * number / most
                top = MIDDLE + (y if series == 1 else -y - height)
                if number:
                    shapes += (
                        f'<rect x="{fixed(x, 1)}" y="{fixed(top, 1)}" width="{fixed(WIDTH - 1, 1)}" '
                        f'height="{fixed(height, 1)}" class="rk-s{series}" fill="{COLOURS[series]}"{look}/>'
                    )
                y += height
    right = LEFT + BINS * WIDTH
    shapes += line(LEFT, MIDDLE, right, MIDDLE, "rk-edge", "#7a7f87", 1)
    at = LEFT + (state["threshold"] - LOWEST) * 50 * WIDTH
    shapes += line(at, MIDDLE - TALL - 6, at, MIDDLE + TALL + 6, "rk-mark", "currentColor", 2, "5 3")
    shapes += label(LEFT, 16, f"↑ other wording (highest bar: {highest[0]})", "start")
    shapes += label(LEFT, 2 * MIDDLE - 6, f"↓ one token changed (highest bar: {highest[1]})", "start")
    for cosine in (0.2, 0.4, 0.6, 0.8, 1.0):
        place = "start" if cosine == LOWEST else "end" if cosine == 1 else "middle"
        shapes += label(LEFT + (cosine - LOWEST) * 50 * WIDTH, 2 * MIDDLE + 16, fixed(cosine, 1), place)
    shapes += label((LEFT + right) / 2, 2 * MIDDLE + 32, "cosine; full colour is served")
    said = (
        f"Pairs by cosine. Paraphrases stand above the axis, changed questions below it. At or above the threshold of "
        f"{fixed(state['threshold'], 2)} lie the pairs near enough to be served."
    )
    return drawing(366, 276, said, shapes)


def cache_explorer(
    pairs: Iterable[Pair],
    embed: Embedder,
    *,
    names: Iterable[str] = (),
    threshold: float = 0.9,
    gate: bool = False,
    title: str = "A semantic cache and its threshold",
    source: Source = "computed",
    answered: str | Sequence[str] | None = None,
    date: str | None = None,
    note: str | None = None,
) -> Explorer:
    """Pairs ``(stored, asked, whether one answer serves both)`` with the cosine of each and what the second gate says.

    ``names`` are words that count as names to the gate. ``threshold`` in [0.3, 1] and ``gate`` are settings at the
    start. The last four are those of `ragkit.show.table`. ValueError for no pairs and for a blank question.
    """
    given, words = list(pairs), frozenset(word for name in names for word in name.lower().split())
    texts = list(dict.fromkeys(text for stored, asked, _ in given for text in (stored, asked)))
    if not texts:
        raise ValueError("pairs must hold at least one pair")
    if any(not text.strip() for text in texts):
        raise ValueError("pairs holds a blank question, which a cache neither stores nor serves")
    vectors = [unit(row) for row in embed(texts)]
    if any(not vector.any() for vector in vectors):
        raise ValueError("embed gave a vector of length 0, which has no cosine")
    index = {text: i for i, text in enumerate(texts)}
    rows = []
    for stored, asked, same in given:
        cosine = float(vectors[index[stored]] @ vectors[index[asked]])
        barred = holds_identifier(stored) or holds_identifier(asked)
        reason = "identifier" if barred else difference(asked, stored, words)
        rows.append([index[stored], index[asked], cosine, bool(same), reason])
    thresholds = sorted({*THRESHOLDS, threshold} if 0.3 <= threshold <= 1 else THRESHOLDS)
    controls = (
        control("threshold", "Threshold θ", "slider", thresholds, threshold, [fixed(t, 2) for t in thresholds]),
        switch("gate", "Second gate: identifiers, numbers, names, negation", gate),
    )
    said = provenance(source, answered, date, note)
    return Explorer("cache", title, controls, {"texts": texts, "pairs": rows}, compute, summary, view, said)
