"""Dense retrieval: cosine similarity as one matrix product over unit vectors, exact and without an index structure.

The bi-encoder set-up of Karpukhin et al., *Dense Passage Retrieval* (EMNLP 2020): passages are embedded once, a query
is embedded when it comes, and the score is their inner product, which for unit vectors is the cosine. Left out:
approximate search (a flat product over 100,000 passages takes milliseconds) and many queries at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragkit.base import Embedder, Hit, Passage, check_k, check_unique, top_k


def unit_rows(vectors: ArrayLike, name: str = "vectors") -> NDArray[np.float32]:
    """Rows scaled to length 1, a zero row left as it is.

    >>> (5 * unit_rows([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[3.0, 4.0], [0.0, 0.0]]
    """
    rows = np.array(vectors, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, (n, d), got shape {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError(f"{name} holds a value that is not finite")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


class Dense:
    """A flat vector index over ``passages``; ``index(query, k)`` is a `Retriever`.

    ``scores(query)`` is in the order of ``passages``, so it can be added to another index's scores over the same list.
    ``embed`` maps ``n`` texts to ``(n, d)``. ``vectors`` of shape ``(n, d)``, aligned with ``passages``, spares
    embedding them again. ``query_vector`` (``str -> (d,)``) replaces the plain embedding of the query, for models that
    encode queries in another way. A blank query finds nothing, and so does an empty corpus.

    Passages with equal text share one vector: it is computed once, and their scores are equal to the last bit, so that
    the tie is settled by position rather than by rounding.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        embed: Embedder,
        vectors: ArrayLike | None = None,
        query_vector: Callable[[str], NDArray[np.floating]] | None = None,
    ) -> None:
        check_unique([p.id for p in passages], "passages")
        self.passages = list(passages)
        self.embed = embed
        self.query_vector = query_vector or self._embedded
        texts = [p.full_text for p in self.passages]
        first = {text: i for i, text in reversed(list(enumerate(texts)))}
        distinct = sorted(first.values())
        row = {texts[i]: r for r, i in enumerate(distinct)}
        self._row = np.array([row[text] for text in texts], dtype=np.intp)
        if not texts:
            self._distinct = np.zeros((0, 0), dtype=np.float32)
        elif vectors is None:
            self._distinct = unit_rows(embed([texts[i] for i in distinct]), "embed's answer")
            if len(self._distinct) != len(distinct):
                raise ValueError(f"embed gave {len(self._distinct)} vectors for {len(distinct)} texts")
        else:
            rows = unit_rows(vectors)
            if len(rows) != len(texts):
                raise ValueError(f"vectors has {len(rows)} rows for {len(texts)} passages: they must be aligned")
            self._distinct = rows[distinct]

    def _embedded(self, query: str) -> NDArray[np.floating]:
        vector: NDArray[np.float32] = self.embed([query])[0]
        return vector

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The unit vectors, shape ``(n, d)``, in the order of ``passages`` (a copy)."""
        return self._distinct[self._row]

    def scores_of_vector(self, vector: ArrayLike) -> NDArray[np.float64]:
        """Cosine of ``vector`` (``(d,)``, any length) with every passage, shape ``(n,)``; zeros for a zero vector."""
        if not self.passages:
            return np.zeros(0)
        query = unit_rows(np.array(vector, dtype=np.float64)[None], "vector")[0]
        if query.shape[0] != self._distinct.shape[1]:
            raise ValueError(f"vector has {query.shape[0]} dimensions, the index {self._distinct.shape[1]}")
        similarity: NDArray[np.float64] = (self._distinct @ query).astype(np.float64)
        return similarity[self._row]

    def scores(self, query: str) -> NDArray[np.float64]:
        """Cosine of the query with every passage, shape ``(n,)``, in the order of ``passages``; zeros if blank."""
        if not query.strip() or not self.passages:
            return np.zeros(len(self.passages))
        return self.scores_of_vector(self.query_vector(query))

    def matches(self, query: str) -> NDArray[np.bool_]:
        """Which passages a search may return, shape ``(n,)``: all, or none for a blank query."""
        return np.full(len(self.passages), bool(query.strip()))

    def by_vector(self, vector: ArrayLike, k: int) -> list[Hit]:
        """The ``k`` passages nearest to ``vector``, best first, ties by position; ``[]`` for a zero vector."""
        check_k(k)
        return self._hits(self.scores_of_vector(vector), k) if np.any(vector) else []

    def __call__(self, query: str, k: int) -> list[Hit]:
        """The ``k`` passages nearest to the query, best first, ties in the order of ``passages``."""
        check_k(k)
        return self._hits(self.scores(query), k) if query.strip() else []

    def _hits(self, scores: NDArray[np.float64], k: int) -> list[Hit]:
        return [Hit(self.passages[i].id, self.passages[i].text, float(scores[i])) for i in top_k(scores, k)]
