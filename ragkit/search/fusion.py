"""Merging results of several searches: Reciprocal Rank Fusion, interleaving, and weighted sums of aligned scores.

RRF: Cormack, Clarke and Büttcher, *Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods*
(SIGIR 2009). It needs ranks only. A weighted sum needs scores of the *same* passages in the *same* order, brought to
one range; the functions here refuse what is not aligned. Interleaving gives every list its turn, which a fused list
does not promise. Left out: CombMNZ, Borda counts and learned weights.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import fsum, isfinite
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragkit.base import Hit, Passage, Retriever, check_k, top_k

Item = TypeVar("Item", bound=Hashable)


class Scored(Protocol):
    """An index with scores in the order of its passages: `BM25` and `Dense` are such."""

    passages: list[Passage]

    def scores(self, query: str) -> NDArray[np.float64]:
        """The score of every passage, shape ``(n,)``, in the order of ``passages``."""
        ...

    def matches(self, query: str) -> NDArray[np.bool_]:
        """Which passages a search may return, shape ``(n,)``."""
        ...


def reciprocal_rank_fusion(rankings: Iterable[Iterable[Item]], k: float = 60) -> list[tuple[Item, float]]:
    """Every item with the sum of ``1 / (k + rank)`` over the rankings that hold it, best first.

    Ranks count from 1. Inside a ranking only the first mention of an item counts, and the ranks behind a repeat close
    up. A ranking that lacks an item gives it nothing. Ties go to the better best rank, then to the item met first when
    the rankings are read one after the other. Ids must mean the same thing in every ranking. ``k`` must be finite and
    at least 0. No rankings give ``[]``.

    >>> [(item, round(score, 7)) for item, score in reciprocal_rank_fusion(["abc", "bda"])]
    [('b', 0.0325225), ('a', 0.0322665), ('d', 0.016129), ('c', 0.015873)]
    """
    if not (isfinite(k) and k >= 0):
        raise ValueError(f"k must be a finite number of at least 0, got {k!r}")
    ranks: defaultdict[Item, list[int]] = defaultdict(list)
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            ranks[item].append(rank)
    # fsum rounds once, so equal ranks give equal scores in whichever order the rankings come.
    fused = {item: fsum(1 / (k + rank) for rank in found) for item, found in ranks.items()}
    return sorted(fused.items(), key=lambda pair: (-pair[1], min(ranks[pair[0]])))


def interleave(lists: Sequence[Sequence[Item]], k: int) -> list[Item]:
    """At most ``k`` items, taken from the lists in turn.

    In its turn a list gives its next item that nobody gave before, passing over taken ones; an exhausted list drops
    out. ``k <= 0`` or no lists give ``[]``. The inputs are left unchanged.

    >>> interleave([["a", "b", "c"], ["b", "d"]], 4)
    ['a', 'b', 'c', 'd']
    """
    merged: dict[Item, None] = {}
    turns = [iter(items) for items in lists] if k > 0 else []
    while turns:
        still_going = []
        for turn in turns:
            for item in turn:
                if item not in merged:
                    merged[item] = None
                    if len(merged) == k:
                        return list(merged)
                    still_going.append(turn)
                    break
        turns = still_going
    return list(merged)


def min_max(scores: ArrayLike) -> NDArray[np.float64]:
    """Scores moved and stretched onto [0, 1]; all zeros where every score is the same.

    >>> min_max([2.0, 4.0, 3.0]).tolist()
    [0.0, 1.0, 0.5]
    """
    values = np.array(scores, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError(f"scores must be one row of finite numbers, got shape {values.shape}")
    if not len(values) or values.max() == values.min():
        return np.zeros(len(values))
    spread: NDArray[np.float64] = (values - values.min()) / (values.max() - values.min())
    return spread


def weighted_fusion(first: ArrayLike, second: ArrayLike, weight: float = 0.5) -> NDArray[np.float64]:
    """``weight * min_max(first) + (1 - weight) * min_max(second)``, shape ``(n,)``.

    Both hold one score a passage *in the same order of passages*: position i of one and of the other must speak of
    the same passage. Different lengths raise `ValueError`; a different order of equal length no function can see,
    so take both from one list of passages, or use `weighted_fusion_by_id`. With ``weight`` 1 the order is that of
    ``first``, with 0 that of ``second``.
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"weight must lie in [0, 1], got {weight!r}")
    one, other = min_max(first), min_max(second)
    if len(one) != len(other):
        raise ValueError(f"first has {len(one)} scores and second {len(other)}: they are not aligned")
    return weight * one + (1 - weight) * other


def weighted_fusion_by_id(
    first: Mapping[Item, float], second: Mapping[Item, float], weight: float = 0.5
) -> list[tuple[Item, float]]:
    """The weighted sum for scores that come by id, best first; an id absent from a side scores 0 there before scaling.

    That is what it has in an index's own scores, and it keeps the credit of a lone lexical match, which scaling a
    single number would wipe out. A side with scores below 0 counts an absent id as its lowest. Ties keep the order in
    which ids are met, ``first`` before ``second``. Two empty mappings give ``[]``.

    >>> weighted_fusion_by_id({"a": 4.0, "b": 1.0}, {"c": 9.0, "b": 5.0, "a": 5.0}, weight=0.25)
    [('c', 0.75), ('a', 0.25), ('b', 0.0625)]
    """
    ids = list(dict.fromkeys([*first, *second]))
    one, other = min((0.0, *first.values())), min((0.0, *second.values()))
    fused = weighted_fusion([first.get(i, one) for i in ids], [second.get(i, other) for i in ids], weight)
    return [(ids[i], float(fused[i])) for i in top_k(fused, len(ids))]


def weighted_retriever(first: Scored, second: Scored, weight: float = 0.5) -> Retriever:
    """Hybrid search by weighted scores of two indexes over one list of passages.

    A passage is returned if an index with a weight above 0 matches it: at ``weight`` 1 this is the first index, at 0
    the second, hits and order alike. Raises `ValueError` if the indexes do not hold the same ids in the same order.
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"weight must lie in [0, 1], got {weight!r}")
    passages = first.passages
    if [p.id for p in passages] != [p.id for p in second.passages]:
        raise ValueError("first and second hold different passages, or the same in another order: not aligned")

    def search(query: str, k: int) -> list[Hit]:
        check_k(k)
        fused = weighted_fusion(first.scores(query), second.scores(query), weight)
        used = [index for index, share in ((first, weight), (second, 1 - weight)) if share > 0]
        found = np.flatnonzero(np.any([index.matches(query) for index in used], axis=0))
        best = found[top_k(fused[found], k)]
        return [Hit(passages[i].id, passages[i].text, float(fused[i])) for i in best]

    return search


def _first_texts(results: Sequence[Sequence[Hit]]) -> dict[str, str]:
    """Id to the text with which it is first seen, list by list."""
    text: dict[str, str] = {}
    for hit in (hit for hits in results for hit in hits):
        text.setdefault(hit.id, hit.text)
    return text


def fuse_hits(results: Sequence[Sequence[Hit]], n: int, k: float = 60) -> list[Hit]:
    """RRF over lists of hits: at most ``n``, each id once, with the text first seen and the fused score."""
    check_k(n)
    text = _first_texts(results)
    fused = reciprocal_rank_fusion([[hit.id for hit in hits] for hits in results], k)
    return [Hit(an_id, text[an_id], score) for an_id, score in fused[:n]]


def interleave_hits(results: Sequence[Sequence[Hit]], n: int) -> list[Hit]:
    """`interleave` over lists of hits by id; scores of different queries do not compare, so the score is 1 / rank."""
    check_k(n)
    text = _first_texts(results)
    merged = interleave([[hit.id for hit in hits] for hits in results], n)
    return [Hit(an_id, text[an_id], 1 / rank) for rank, an_id in enumerate(merged, start=1)]


def fuse_retrievers(retrievers: Sequence[Retriever], depth: int = 50, k: float = 60) -> Retriever:
    """One retriever out of several: each gives its ``depth`` best (or as many as are asked for), RRF merges them.

    A passage that a retriever does not return earns nothing from it, which is why a lexical index must leave out what
    matches no term. No retrievers find nothing.
    """
    check_k(depth)

    def search(query: str, n: int) -> list[Hit]:
        check_k(n)
        return fuse_hits([retriever(query, max(depth, n)) for retriever in retrievers], n, k)

    return search
