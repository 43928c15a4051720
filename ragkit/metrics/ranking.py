"""Measures of a ranked list: recall@k, all-recall@k, reciprocal rank, nDCG.

Formulas: Manning, Raghavan and Schütze, *Introduction to Information Retrieval*, chapter 8; nDCG from Järvelin and
Kekäläinen (2002) with two gains: linear (``rel``, what trec_eval computes) and exponential (``2^rel - 1``, Burges et
al. 2005). Every function takes ids best first in the order given. trec_eval re-sorts by score and breaks ties by id
descending, so on tied scores it may disagree with any list you printed.

``relevant`` is a mapping from id to gain, or a plain collection of ids, each of gain 1; gains of 0 or below mean
"judged, not relevant". Without any relevant id the measures are undefined, which is a ``ValueError``: a 0 or a 1 would
both be made up. An id that a list repeats counts where it first stands. Fewer than ``k`` ids is an ordinary case.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import log2
from typing import Literal

from ragkit.base import check_k


def recall_at_k(ranked_ids: Sequence[str], relevant: Mapping[str, float] | Collection[str], k: int) -> float:
    """Share of the relevant ids that stand among the first ``k``.

    >>> recall_at_k(["b", "x", "a"], ["a", "b", "c", "d"], k=3)
    0.5
    """
    gains = _gains(relevant)
    return len(gains.keys() & set(_first(ranked_ids, k))) / len(gains)


def all_recall_at_k(ranked_ids: Sequence[str], relevant: Mapping[str, float] | Collection[str], k: int) -> float:
    """1.0 if every relevant id stands among the first ``k``, else 0.0.

    For a multi-hop question this is the one that counts; its mean is below the mean of ``recall_at_k``.

    >>> all_recall_at_k(["b", "x", "a"], ["a", "b"], k=2)
    0.0
    """
    return float(_gains(relevant).keys() <= set(_first(ranked_ids, k)))


def reciprocal_rank(
    ranked_ids: Sequence[str], relevant: Mapping[str, float] | Collection[str], k: int | None = None
) -> float:
    """1 / rank of the first relevant id (ranks from 1), 0.0 if there is none among the first ``k``.

    >>> reciprocal_rank(["x", "a", "b"], ["a", "b"])
    0.5
    """
    gains = _gains(relevant)
    for rank, an_id in enumerate(_first(ranked_ids, len(ranked_ids) if k is None else k), start=1):
        if an_id in gains:
            return 1.0 / rank
    return 0.0


def ndcg_at_k(
    ranked_ids: Sequence[str],
    relevant: Mapping[str, float] | Collection[str],
    k: int,
    gain: Literal["linear", "exponential"] = "linear",
) -> float:
    """Discounted gain of the first ``k`` over that of the best possible ``k``.

    Rank ``r`` is discounted by ``log2(r + 1)``; the ideal list holds all relevant ids, retrieved or not.

    >>> round(ndcg_at_k(["b", "a", "x", "c"], {"a": 3, "b": 2, "c": 1}, k=4), 6)
    0.907936
    """
    if gain not in ("linear", "exponential"):
        raise ValueError(f"gain must be 'linear' or 'exponential', got {gain!r}")
    gains = _gains(relevant)
    worth = gains if gain == "linear" else {an_id: 2.0**value - 1.0 for an_id, value in gains.items()}
    found = _discounted([worth.get(an_id, 0.0) for an_id in _first(ranked_ids, k)])
    ideal = _discounted(sorted(worth.values(), reverse=True)[:k])
    return found / ideal if ideal else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _first(ranked_ids: Sequence[str], k: int) -> list[str]:
    """The first ``k`` different ids.

    >>> _first(["a", "a", "b", "c"], 2)
    ['a', 'b']
    """
    check_k(k)
    return list(dict.fromkeys(ranked_ids))[:k]


def _gains(relevant: Mapping[str, float] | Collection[str]) -> dict[str, float]:
    if isinstance(relevant, str):
        raise ValueError(f"relevant must be a collection of ids, got the string {relevant!r}")
    weights = relevant if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1.0)
    gains = {an_id: float(gain) for an_id, gain in weights.items() if gain > 0}
    if not gains:
        raise ValueError("relevant holds no relevant id, so the measure is undefined")
    return gains
