"""Exact top-k of many queries beside faiss' flat index.

    python benchmarks/speed_topk.py [--small]

1,000 queries over 100,000 unit vectors of 384 dimensions, 10 results each, by inner product. ``ragkit.search.Batched``
runs on a graphics card where PyTorch finds one (the row says which device), with the same code; faiss-cpu always runs
on the processor. Building either index counts in its row "index"; both keep a copy of the vectors.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from _measure import Side, Task, installed, run

from ragkit.search import Batched, unit_rows

FAISS = installed("faiss")
DIMENSION, QUERIES, K = 384, 1_000, 10


def device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def tasks(size: int) -> list[Task]:
    rng = np.random.default_rng(0)
    count = min(QUERIES, size // 10)
    vectors = unit_rows(rng.standard_normal((size, DIMENSION), dtype=np.float32))
    # A query is a passage moved a little, so that neighbours differ by more than rounding.
    noise = 0.05 * rng.standard_normal((count, DIMENSION), dtype=np.float32)
    queries = unit_rows(vectors[rng.integers(0, size, count)] + noise)

    def our_index() -> Batched:
        return Batched(vectors, device=device())

    def their_index() -> Any:
        import faiss

        index = faiss.IndexFlatIP(DIMENSION)
        index.add(vectors)
        return index

    ours, theirs = cache(our_index), cache(their_index)

    def agree() -> None:
        found = ours().search(queries, K)
        exact = np.sum(vectors[found.positions] * queries[:, None], axis=2)
        np.testing.assert_allclose(found.scores, exact, atol=1e-5)
        if FAISS:
            scores, positions = theirs().search(queries, K)
            np.testing.assert_allclose(found.scores, scores, atol=1e-5)
            assert (found.positions[:, 0] == positions[:, 0]).all()
            assert (found.positions == positions).mean() > 0.99, "only scores within rounding may change places"

    name = f"ragkit, {device()}"
    index, search = [Side(name, our_index)], [Side(name, lambda: ours().search(queries, K), count)]
    if FAISS:
        index.append(Side("faiss-cpu", their_index))
        search.append(Side("faiss-cpu", lambda: theirs().search(queries, K), count))
    return [Task("index", "index", index, agree), Task(f"top {K}", "query", search, lambda: None)]


if __name__ == "__main__":
    raise SystemExit(run(__doc__, tasks, (25_000, 100_000), (500, 2_000), ("torch", "faiss-cpu", "numpy")))
