"""Support tickets by the ten thousand, seeded and streamed, with a known distribution of complaints.

A whole-corpus question ("what do customers complain about most?") has an answer that can be scored only where the
truth is known. Here it is: each theme gets its share of ``n`` exactly (largest remainder), and the text never writes
a theme's label. Tickets come one at a time from an iterator; memory does not grow with ``n``.

Left out: replies, threads, and any model. The pieces are in ``phrases.py``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from ragkit.corpus.phrases import BUDS, CLOSINGS, CONTEXTS, EXTRAS, OPENINGS, PRODUCTS, STORES, THEMES, Theme

__all__ = ["MAX_WORDS", "MIN_WORDS", "Ticket", "counts", "distribution", "generate"]

MIN_WORDS, MAX_WORDS = 25, 60
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_NEW_YEAR = date(2024, 1, 1)
_BUDS_ON_SALE = 42  # days after New Year: the date of their user guide
_TYPO_SHARE = 0.15  # of the tickets; one word each


class Ticket(NamedTuple):
    """One complaint. ``date`` is ISO 8601, in 2024; ``product`` a product code, or ``app``."""

    id: str
    text: str
    theme: str
    product: str
    store: str
    date: str


def distribution() -> dict[str, float]:
    """Theme to share, most frequent first; the shares sum to 1.

    >>> list(distribution().items())[:2]
    [('kettle shuts off early', 0.18), ('limescale', 0.15)]
    """
    return {theme.label: theme.percent / 100 for theme in sorted(THEMES, key=lambda theme: -theme.percent)}


def counts(n: int) -> dict[str, int]:
    """How many of ``n`` tickets each theme gets: its share by the largest-remainder method, ties by table order.

    >>> counts(3)
    {'kettle shuts off early': 1, 'limescale': 1, 'earbuds pairing': 1}
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise ValueError(f"n must be a whole number of at least 0, got {n!r}")
    whole = {theme.label: theme.percent * n // 100 for theme in THEMES}
    by_remainder = sorted(THEMES, key=lambda theme: -(theme.percent * n % 100))
    for theme in by_remainder[: n - sum(whole.values())]:
        whole[theme.label] += 1
    return {label: count for label, count in whole.items() if count}


def generate(n: int = 50_000, seed: int = 0) -> Iterator[Ticket]:
    """Yield ``n`` tickets, the same ones for the same ``n`` and ``seed``; ``n`` below 0 is a ``ValueError``.

    The themes come in random order: each draw takes one theme from those still to be given out, which is a uniform
    shuffle of the whole list without holding it.
    """
    left = counts(n)  # outside the generator, so that a bad n raises here and not at the first ticket
    return _stream(n, random.Random(seed), [theme for theme in THEMES if theme.label in left], left)


def _stream(n: int, rng: random.Random, themes: Sequence[Theme], left: dict[str, int]) -> Iterator[Ticket]:
    for number in range(1, n + 1):
        pick = rng.randrange(n - number + 1)
        for theme in themes:
            pick -= left[theme.label]
            if pick < 0:
                break
        left[theme.label] -= 1
        yield _ticket(number, theme, rng)


def _ticket(number: int, theme: Theme, rng: random.Random) -> Ticket:
    product = rng.choice(theme.products)
    store = rng.choice(STORES[product])
    first = _BUDS_ON_SALE if product == "EARBUDS-AIR2" else 0
    day = rng.randrange(first + 6, 366)  # 2024 is a leap year
    bought = _NEW_YEAR + timedelta(days=day - rng.randrange(5, min(150, day - first) + 1))
    names = BUDS if product == "EARBUDS-AIR2" and theme.kind == "goods" else PRODUCTS.get(product, ("app",))
    blanks = {
        "thing": rng.choice(names),
        "order": f"ORD-{_order_number(rng)}",
        "bought": _written(bought, rng),
        "store": store,
    }
    text = _compose(theme, blanks, rng)
    if rng.random() < _TYPO_SHARE:
        text = _with_typo(text, rng)
    written = _NEW_YEAR + timedelta(days=day)
    return Ticket(f"ticket-{number:06d}", text, theme.label, product, store, written.isoformat())


def _order_number(rng: random.Random) -> int:
    """Six digits outside 400,000 to 599,999: those belong to the orders that the documents tell of."""
    number = rng.randrange(100_000, 800_000)
    return number if number < 400_000 else number + 200_000


def _compose(theme: Theme, blanks: dict[str, str], rng: random.Random) -> str:
    """Opening, complaint, details, context and closing, kept between 25 and 60 words."""

    def say(piece: str) -> str:
        return _say(piece, blanks, rng)

    opening, closing = say(rng.choice(OPENINGS)), say(rng.choice(CLOSINGS[theme.kind]))
    context = say(rng.choice(CONTEXTS[theme.kind]))
    detail, *more = rng.sample(theme.details, len(theme.details))
    spare = [more[0], rng.choice(EXTRAS[theme.kind]), *more[1:]]
    body = [say(rng.choice(theme.complaints)), say(detail)]
    # The order code comes before or after the story, as people do it; now and then it is left out.
    roll = rng.random()
    before, after = ([context], []) if roll < 0.2 else ([], [context]) if roll < 0.9 else ([], [])
    used = sum(len(piece.split()) for piece in (opening, *before, *body, *after))
    wanted = rng.randrange(MIN_WORDS, MAX_WORDS - 10)
    while spare and used < wanted:
        piece = say(spare.pop(0))
        length = len(piece.split())
        if used + length <= MAX_WORDS:
            body.append(piece)
            used += length
    if closing and used + len(closing.split()) <= MAX_WORDS:
        after.append(closing)
    parts = [*before, *body, *after]
    if opening.endswith(","):
        parts[0] = _lower_first(parts[0])
    return " ".join([opening, *parts] if opening else parts)


def _lower_first(text: str) -> str:
    """A sentence as it goes on after a greeting and a comma.

    >>> _lower_first("My lid wobbles."), _lower_first("I give up.")
    ('my lid wobbles.', 'I give up.')
    """
    return text if text.startswith("I ") else text[0].lower() + text[1:]


_CHOICE = re.compile(r"\[([^\]]*)\]")


@cache
def _parsed(piece: str) -> tuple[tuple[str, ...], ...]:
    """Alternating fixed text (one alternative) and choices.

    >>> _parsed("I [am|was] here")
    (('I ',), ('am', 'was'), (' here',))
    """
    return tuple(tuple(part.split("|")) if i % 2 else (part,) for i, part in enumerate(_CHOICE.split(piece)))


def _say(piece: str, blanks: dict[str, str], rng: random.Random) -> str:
    text = "".join([part[0] if len(part) == 1 else rng.choice(part) for part in _parsed(piece)])
    return text.format_map(blanks) if "{" in text else text


def _written(day: date, rng: random.Random) -> str:
    """A date as one of four people would write it."""
    month = _MONTHS[day.month - 1]  # strftime would follow the machine's language
    forms = (f"{day.day} {month}", f"{month} {day.day}", f"{day:%d/%m/%Y}", f"{day.day} {month[:3]} 2024")
    return rng.choice(forms)


def _with_typo(text: str, rng: random.Random) -> str:
    """One slip of the fingers in one plain word of five letters or more: swapped, dropped or doubled letter."""
    words = list(re.finditer(r"(?<![\w-])[a-z]{5,}(?![\w-])", text))
    if not words:
        return text
    word = rng.choice(words)
    at = rng.randrange(word.start() + 1, word.end() - 2)
    a, b = text[at], text[at + 1]
    slip = rng.choice((b + a, a, a + a + b))
    return text[:at] + slip + text[at + 2 :]
