"""Lookups in the semantic cache, beside one numpy product over a ready matrix and faiss' flat index.

    python benchmarks/speed_cache.py [--small]

100,000 stored questions with vectors of 384 dimensions, 16 lookups, one at a time; half of them find something. The
product over a ready float32 matrix is the least that an exact lookup can cost. The second task is the cache with both
gates, on questions of six words; its vectors come ready made, so no embedding is timed on any side.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from _measure import Side, Task, installed, run, zipf_passages

from ragkit.search import unit_rows
from ragkit.systems import GuardedSemanticCache, Scope, SemanticCache

FAISS = installed("faiss")
DIMENSION, LOOKUPS, THRESHOLD = 384, 16, 0.9
SCOPE = Scope("model", "1", "1")


def tasks(size: int) -> list[Task]:
    rng = np.random.default_rng(0)
    vectors = unit_rows(rng.standard_normal((size, DIMENSION), dtype=np.float32))
    stored = [" ".join(words[:4]) + f" number{'x' * (i % 3)}" for i, words in enumerate(zipf_passages(size, 6))]
    near = rng.choice(size, LOOKUPS // 2, replace=False)
    noise = 0.01 * rng.standard_normal((len(near), DIMENSION), dtype=np.float32)
    far = rng.standard_normal((LOOKUPS - len(near), DIMENSION), dtype=np.float32)
    asked = unit_rows(np.concatenate([vectors[near] + noise, far]))
    expected: list[Any] = [*near.tolist(), *[None] * len(far)]
    questions = [*(stored[i] for i in near), *("a question that nobody asked before" for _ in far)]

    @cache
    def plain() -> SemanticCache:
        made = SemanticCache(THRESHOLD)
        for i, vector in enumerate(vectors):
            made.put(vector, i)
        return made

    turn: list[Any] = [None]  # the vector that the embedder hands out next

    @cache
    def guarded() -> GuardedSemanticCache:
        made = GuardedSemanticCache(THRESHOLD, lambda texts: turn[0][None], ttl=1e9)
        for i, (question, vector) in enumerate(zip(stored, vectors, strict=True)):
            turn[0] = vector
            assert made.put(question, str(i), SCOPE)
        return made

    def by_plain() -> list[Any]:
        return [plain().get(vector) for vector in asked]

    def by_guarded() -> list[Any]:
        store, found = guarded(), []  # built first: building moves the embedder's turn
        for question, vector in zip(questions, asked, strict=True):
            turn[0] = vector
            answer = store.get(question, SCOPE)
            found.append(None if answer is None else int(answer))
        return found

    @cache
    def matrix() -> Any:
        return vectors.copy()

    def by_numpy() -> list[Any]:
        found = []
        for vector in asked:
            cosines = matrix() @ vector
            best = int(cosines.argmax())
            found.append(best if cosines[best] >= THRESHOLD else None)
        return found

    @cache
    def index() -> Any:
        import faiss

        made = faiss.IndexFlatIP(DIMENSION)
        made.add(vectors)
        return made

    def by_faiss() -> list[Any]:
        found = (index().search(vector[None], 1) for vector in asked)
        return [int(place[0, 0]) if score[0, 0] >= THRESHOLD else None for score, place in found]

    others = [Side("numpy product", by_numpy, LOOKUPS), *([Side("faiss-cpu", by_faiss, LOOKUPS)] if FAISS else [])]

    def agree(ours: Side) -> None:
        for side in [ours, *others]:
            assert side.work() == expected, side.name

    first, second = Side("ragkit", by_plain, LOOKUPS), Side("ragkit, both gates", by_guarded, LOOKUPS)
    return [
        Task("lookup", "lookup", [first, *others], lambda: agree(first)),
        Task("guarded lookup", "lookup", [second, *others], lambda: agree(second)),
    ]


if __name__ == "__main__":
    raise SystemExit(run(__doc__, tasks, (25_000, 100_000), (500, 2_000), ("numpy", "faiss-cpu")))
