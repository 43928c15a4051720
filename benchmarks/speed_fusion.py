"""Reciprocal Rank Fusion beside ranx.

    python benchmarks/speed_fusion.py [--small]

1,000 queries, 5 lists of 100 results each, out of 1,000 passages by Zipf's law, so that lists overlap. ``ragkit, one by
one`` is `reciprocal_rank_fusion` on lists of ids; ``ragkit, batch`` is `batched_rrf` on one array of positions, on a
graphics card where PyTorch finds one. ranx gets its ``Run`` objects ready made (its compiler's work is in the warm-up
and in its memory): what is timed on every side is the fusion.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np
from _measure import Side, Task, installed, run, zipf_ranks
from numpy.typing import NDArray

from ragkit.search import batched_rrf, reciprocal_rank_fusion

RANX = installed("ranx")
LISTS, DEPTH, PASSAGES, RRF_K = 5, 100, 1_000, 60


def device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def rankings(queries: int) -> NDArray[np.int64]:
    """Positions of shape ``(LISTS, queries, DEPTH)``, no repeats inside a list, frequent ones in many lists."""
    draws = zipf_ranks(LISTS * queries * 8 * DEPTH, PASSAGES).reshape(LISTS * queries, -1)
    return np.array([list(dict.fromkeys(row))[:DEPTH] for row in draws.tolist()]).reshape(LISTS, queries, DEPTH)


def tasks(size: int) -> list[Task]:
    table = rankings(size)
    ids = [[[f"p{i}" for i in table[source, q].tolist()] for source in range(LISTS)] for q in range(size)]

    def one_by_one() -> list[list[tuple[str, float]]]:
        return [reciprocal_rank_fusion(lists, RRF_K) for lists in ids]

    def batch() -> Any:
        return batched_rrf(table, LISTS * DEPTH, RRF_K, device())

    @cache
    def ranx() -> Any:
        return importlib.import_module("ranx")  # here and not above: numba's threads do not outlive a fork

    @cache
    def runs() -> list[Any]:
        # ranx ranks by score; falling numbers keep our order.
        return [
            ranx().Run({f"q{q}": {p: float(DEPTH - r) for r, p in enumerate(ids[q][source])} for q in range(size)})
            for source in range(LISTS)
        ]

    def theirs() -> Any:
        return ranx().fuse(runs=runs(), norm=None, method="rrf", params={"k": RRF_K})

    def agree() -> None:
        fused, together = one_by_one(), batch()
        for own, positions, scores in zip(fused, together.positions, together.scores, strict=True):
            assert [item for item, _ in own] == [f"p{i}" for i in positions[: len(own)]]
            np.testing.assert_allclose([score for _, score in own], scores[: len(own)], atol=1e-12)
        if RANX:
            found = theirs()
            for q, own in enumerate(fused):
                other = dict(found.run[f"q{q}"])
                assert set(other) == {item for item, _ in own}
                np.testing.assert_allclose([other[item] for item, _ in own], [score for _, score in own], atol=1e-9)

    sides = [
        Side("ragkit, one by one", one_by_one, size),
        *([Side("ranx", theirs, size)] if RANX else []),
    ]
    batched = [Side(f"ragkit, batch, {device()}", batch, size), *sides[1:]]
    return [
        Task("RRF of 5 lists", "query", sides, agree),
        Task("RRF of 5 lists, batch", "query", batched, lambda: None),
    ]


if __name__ == "__main__":
    raise SystemExit(run(__doc__, tasks, (250, 1_000), (25, 100), ("ranx", "numba", "torch", "numpy")))
