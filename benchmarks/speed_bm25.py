"""BM25 beside bm25s: index and query on passages whose words follow Zipf's law.

    python benchmarks/speed_bm25.py [--small]

100,000 passages of about 60 words. Both sides cut words at blanks, inside the time of the index. 1,000 queries of four
words drawn by the same law ask for 10 results: ours one after the other, as a chapter would; bm25s all in one call, its
fastest way. Where numba is installed, bm25s is measured with that back end as well.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import bm25s
import numpy as np
from _measure import Side, Task, installed, run, zipf_passages

from ragkit.base import Passage
from ragkit.search import BM25

NUMBA = installed("numba")
K = 10


def tasks(size: int) -> list[Task]:
    words = zipf_passages(size)
    # Words of the passages themselves, so that none is unknown: frequent words stay as frequent as they are there.
    flat = [term for passage in words for term in passage[:8]]
    picks = np.random.default_rng(3).integers(0, len(flat), (min(1_000, size), 4)).tolist()
    queries = [" ".join(flat[i] for i in row) for row in picks]
    passages = [Passage(str(i), " ".join(passage)) for i, passage in enumerate(words)]
    del words

    @cache
    def ours() -> BM25:
        return BM25(passages, tokenize=str.split)

    def their_index(backend: str) -> bm25s.BM25:
        model = bm25s.BM25(method="lucene", k1=1.5, b=0.75, backend=backend)
        model.index([p.text.split() for p in passages], show_progress=False)
        return model

    theirs = cache(their_index)

    def their_search(backend: str) -> Any:
        tokens = [query.split() for query in queries]
        return theirs(backend).retrieve(tokens, k=K, show_progress=False)

    def agree_on_scores() -> None:
        for query in queries[:20]:
            own, other = ours().scores(query), theirs("numpy").get_scores(query.split())
            np.testing.assert_allclose(own, other, rtol=1e-4, atol=1e-4)  # bm25s keeps float32

    def agree_on_hits(backend: str) -> None:
        found = their_search(backend).scores
        for query, other in zip(queries, found, strict=True):
            own = [hit.score for hit in ours()(query, K)]
            np.testing.assert_allclose(own, other[: len(own)], rtol=1e-4, atol=1e-4)
            assert not other[len(own) :].any(), "bm25s fills up with scores of 0"

    backends = ["numpy", *(["numba"] if NUMBA else [])]
    names = {"numpy": "bm25s", "numba": "bm25s, numba"}
    n = len(queries)
    return [
        Task(
            "index",
            "index",
            [
                Side("ragkit", lambda: BM25(passages, tokenize=str.split)),
                Side("bm25s", partial(their_index, "numpy")),
            ],
            agree_on_scores,
        ),
        Task(
            f"top {K}",
            "query",
            [
                Side("ragkit", lambda: [ours()(query, K) for query in queries], n),
                *(Side(names[b], partial(their_search, b), n) for b in backends),
            ],
            lambda: [agree_on_hits(b) for b in backends] and None,
        ),
    ]


if __name__ == "__main__":
    raise SystemExit(run(__doc__, tasks, (25_000, 100_000), (500, 2_000), ("bm25s", "numba", "numpy", "scipy")))
