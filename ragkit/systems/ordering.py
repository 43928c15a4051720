"""The order of passages in the prompt: best at both ends, newest first, or as they stand in the documents.

Liu et al., *Lost in the Middle* (TACL 2024): a model uses the beginning and the end of its context better than the
middle (with 20 documents GPT-3.5 answered 75.8 / 53.8 / 63.2 percent with the answer first / in the middle / last).
`edge_weighted_order` puts ranks 1, 3, 5 … from the front and 2, 4, 6 … from the back, so the best is always first.

``LongContextReorder`` of langchain-community 0.4.2 and of llama-index-core 0.14.25 take the passages from the
weakest to the best and put them in front and behind in turn, so where the best lands depends on parity: for 5
passages 1 3 5 4 2, for 4 passages 2 4 3 1, with the best *last*. (The first expects its input sorted best first,
the second sorts it.) `parity_reorder` gives their order, for comparison. Left out: choosing the order by a measured
position curve of the reader at hand.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import date
from math import isnan
from typing import TypeVar

from ragkit.base import Hit

Chunk = TypeVar("Chunk")


def edge_weighted_order(chunks_with_scores: Sequence[tuple[Chunk, float]]) -> list[Chunk]:
    """The chunks with the best at both ends and the weakest in the middle.

    ``(chunk, score)`` in any order; rank 1 is the highest score, equal scores keep their input order. Ranks 1, 3, 5 …
    fill from the front, 2, 4, 6 … from the back. Every entry appears, equal chunks included; ``[]`` gives ``[]``.

    >>> edge_weighted_order([("c", 0.3), ("a", 0.9), ("b", 0.5), ("d", 0.1)])
    ['a', 'c', 'd', 'b']
    """
    if any(isnan(score) for _, score in chunks_with_scores):
        raise ValueError("chunks_with_scores holds a score that is not a number")
    ranked = [chunk for chunk, _ in sorted(chunks_with_scores, key=lambda pair: -pair[1])]
    return ranked[0::2] + ranked[1::2][::-1]


def parity_reorder(ranked: Sequence[Chunk]) -> list[Chunk]:
    """What the two libraries' reordering makes of a list sorted best first.

    >>> parity_reorder([1, 2, 3, 4, 5]), parity_reorder([1, 2, 3, 4])
    ([1, 3, 5, 4, 2], [2, 4, 3, 1])
    """
    edges = [*ranked[0::2], *reversed(ranked[1::2])]
    return edges if len(ranked) % 2 else edges[::-1]


def _day(when: date | str | None) -> date | None:
    """ISO 8601, the calendar day of it, or None for no date.

    >>> _day("2026-03-01"), _day("")
    (datetime.date(2026, 3, 1), None)
    """
    if isinstance(when, date):
        return date(when.year, when.month, when.day)
    try:
        return date.fromisoformat(when[:10]) if when else None
    except ValueError:
        raise ValueError(f"dates are ISO 8601 (2026-03-01), got {when!r}") from None


def recency_order(chunks_with_dates: Sequence[tuple[Chunk, date | str | None]]) -> list[Chunk]:
    """Newest first; one day keeps its input order; undated chunks come last. Dates are ISO 8601 or ``date``.

    >>> recency_order([("v1", "2024-05-01"), ("v3", "2026-01-09"), ("?", None), ("v2", "2025-02-28")])
    ['v3', 'v2', 'v1', '?']
    """
    dated = [(chunk, _day(when)) for chunk, when in chunks_with_dates]
    return [c for c, _ in sorted(dated, key=lambda pair: -(pair[1].toordinal() if pair[1] else 0))]


def recency_scores(
    scores: Sequence[float], dates: Sequence[date | str | None], today: date | str, half_life_days: float
) -> list[float]:
    """Scores (at least 0) halved for every ``half_life_days`` of age; a future date counts as today.

    A soft form of recency: a much better old passage still beats a poor new one. An undated one counts as the oldest.

    >>> recency_scores([1.0, 1.0], ["2026-01-31", "2026-01-01"], "2026-01-31", half_life_days=30)
    [1.0, 0.5]
    """
    if not half_life_days > 0:
        raise ValueError(f"half_life_days must be above 0, got {half_life_days!r}")
    if len(scores) != len(dates):
        raise ValueError(f"scores has {len(scores)} entries and dates {len(dates)}: they are not aligned")
    if not all(score >= 0 for score in scores):
        raise ValueError("scores must be at least 0: halving a negative one would raise it")
    now = _day(today)
    if now is None:
        raise ValueError("today must be a date")
    ages = [max(0, (now - day).days) if (day := _day(when)) else None for when in dates]
    oldest = max((age for age in ages if age is not None), default=0)
    return [s * 0.5 ** ((oldest if age is None else age) / half_life_days) for s, age in zip(scores, ages, strict=True)]


def reading_order(hits: Sequence[Hit], place: Mapping[str, tuple[Hashable, int]]) -> list[Hit]:
    """Hits of one document together and in the order of its text; documents by their best hit.

    ``place`` maps a passage id to ``(document, position)``. ``hits`` come best first. A passage without a place stands
    as a document of its own. Repeated hits keep their order.

    >>> hits = [Hit("b2", "", 0.9), Hit("a1", "", 0.8), Hit("b1", "", 0.7)]
    >>> [hit.id for hit in reading_order(hits, {"a1": ("A", 1), "b1": ("B", 1), "b2": ("B", 2)})]
    ['b1', 'b2', 'a1']
    """
    documents: dict[Hashable, list[tuple[int, Hit]]] = {}
    for hit in hits:
        document, position = place.get(hit.id, (("", hit.id), 0))
        documents.setdefault(document, []).append((position, hit))
    return [hit for parts in documents.values() for _, hit in sorted(parts, key=lambda part: part[0])]
