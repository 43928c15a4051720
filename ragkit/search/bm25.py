"""BM25 over a sparse matrix, in five published variants.

Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009); the variants as tabulated by
Kamphuis, de Vries, Boytsov and Lin, *Which BM25 Do You Mean?* (ECIR 2020); BM25+ and BM25L from Lv and Zhai (CIKM and
SIGIR 2011). A term's score for every passage that holds it is computed once, at indexing, and kept as one column of a
sparse matrix, so a query reads only the columns of its own terms.

The same scheme is ``bm25s``' (Lù, 2024), which with its numba back end answers several times as many queries a second:
take it beyond some hundred thousand passages. ``benchmarks/speed_bm25.py`` shows both sides.

Left out: Lucene's one-byte encoding of document lengths, k3 (a query term counts as often as it is written), fields
with weights of their own, and updates in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ragkit.base import Hit, Passage, check_k, check_unique, top_k
from ragkit.text import tokenize as default_tokenize

Floats: TypeAlias = NDArray[np.float64]


def idf_lucene(n: int, df: Floats) -> Floats:
    """ln(1 + (N - df + 0.5) / (df + 0.5)): above zero for every term, even one that all passages hold."""
    return np.log1p((n - df + 0.5) / (df + 0.5))


def idf_robertson(n: int, df: Floats) -> Floats:
    """ln((N - df + 0.5) / (df + 0.5)): below zero for a term that more than half of the passages hold."""
    return np.log((n - df + 0.5) / (df + 0.5))


def idf_atire(n: int, df: Floats) -> Floats:
    """ln(N / df): exactly zero for a term that all passages hold."""
    return np.log(n / df)


def idf_bm25plus(n: int, df: Floats) -> Floats:
    """ln((N + 1) / df)."""
    return np.log((n + 1) / df)


def idf_bm25l(n: int, df: Floats) -> Floats:
    """ln((N + 1) / (df + 0.5))."""
    return np.log((n + 1) / (df + 0.5))


# ``norm`` below is 1 - b + b * length / average length, one entry a posting, aligned with ``tf``.


def tf_lucene(tf: Floats, norm: Floats, k1: float, delta: float) -> Floats:
    """tf / (tf + k1 norm): below 1. Robertson's formula and Lucene's, since Lucene 8 without the factor k1 + 1."""
    return tf / (tf + k1 * norm)


def tf_atire(tf: Floats, norm: Floats, k1: float, delta: float) -> Floats:
    """(k1 + 1) tf / (tf + k1 norm): the same curve, k1 + 1 times as high."""
    return (k1 + 1) * tf / (tf + k1 * norm)


def tf_bm25plus(tf: Floats, norm: Floats, k1: float, delta: float) -> Floats:
    """ATIRE's curve plus delta: one occurrence is worth at least delta, however long the passage."""
    return tf_atire(tf, norm, k1, delta) + delta


def tf_bm25l(tf: Floats, norm: Floats, k1: float, delta: float) -> Floats:
    """(k1 + 1)(c + delta) / (k1 + c + delta) with c = tf / norm: long passages are punished less."""
    c = tf / norm
    return (k1 + 1) * (c + delta) / (k1 + c + delta)


class Variant(NamedTuple):
    """One BM25: how rare a term is, how a term's count saturates, and the usual ``delta``."""

    idf: Callable[[int, Floats], Floats]
    tf: Callable[[Floats, Floats, float, float], Floats]
    delta: float = 0.0


VARIANTS = {
    "lucene": Variant(idf_lucene, tf_lucene),
    "robertson": Variant(idf_robertson, tf_lucene),
    "atire": Variant(idf_atire, tf_atire),
    "bm25+": Variant(idf_bm25plus, tf_bm25plus, delta=1.0),
    "bm25l": Variant(idf_bm25l, tf_bm25l, delta=0.5),
}


class BM25:
    """A BM25 index over ``passages``; ``index(query, k)`` is a `Retriever`.

    ``scores(query)`` is in the order of ``passages``. The score is the sum over the query's terms of ``idf * tf``; a
    term written twice counts twice, an unknown term adds nothing, and in every variant a passage earns nothing for a
    term it lacks (Lv and Zhai sum over the terms that query and passage share; adding delta to the others as well
    would cancel its effect on the order).

    ``k1 >= 0`` sets how slowly counts saturate, ``b`` in [0, 1] how much length matters, ``delta`` is used by
    ``bm25+`` (1.0) and ``bm25l`` (0.5). ``tokenize`` serves passages and queries alike. Raises `ValueError` for a
    parameter out of range and for a passage id used twice. An empty corpus is fine: every search finds nothing.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        k1: float = 1.5,
        b: float = 0.75,
        variant: str = "lucene",
        tokenize: Callable[[str], list[str]] = default_tokenize,
        delta: float | None = None,
    ) -> None:
        if variant not in VARIANTS:
            raise ValueError(f"variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
        if not 0 <= k1 < np.inf:
            raise ValueError(f"k1 must be a finite number of at least 0, got {k1!r}")
        if not 0 <= b <= 1:
            raise ValueError(f"b must lie in [0, 1], got {b!r}")
        chosen = VARIANTS[variant]
        delta = chosen.delta if delta is None else delta
        if not 0 <= delta < np.inf:
            raise ValueError(f"delta must be a finite number of at least 0, got {delta!r}")
        check_unique([p.id for p in passages], "passages")
        self.passages = list(passages)
        self.tokenize = tokenize
        self.vocabulary: dict[str, int] = {}

        counts = self._count()
        lengths = counts.sum(axis=1)
        n, df = len(self.passages), np.bincount(counts.indices, minlength=len(self.vocabulary)).astype(np.float64)
        average = lengths.mean() if lengths.any() else 1.0
        norm = np.repeat(1 - b + b * lengths / average, np.diff(counts.indptr))
        counts.data = chosen.tf(counts.data, norm, k1, delta) * chosen.idf(n, df)[counts.indices]
        self.weights = counts.tocsc()  # one column a term: the passages that hold it, and what it is worth there

    def _count(self) -> csr_array:
        """How often each passage (row) holds each term (column); fills the vocabulary on the way."""
        number = self.vocabulary
        rows = [
            np.array([number.setdefault(term, len(number)) for term in self.tokenize(p.full_text)], dtype=np.int32)
            for p in self.passages
        ]
        ends = np.cumsum([0, *map(len, rows)])
        columns = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=ends[-1])
        counts = csr_array((np.ones(len(columns)), columns, ends), shape=(len(rows), len(number)))
        counts.sum_duplicates()
        return counts

    def _search(self, query: str) -> tuple[Floats, NDArray[np.bool_]]:
        """Scores, and which passages hold a query term (a score cannot tell: ATIRE's may be 0, Robertson's below)."""
        scores = np.zeros(len(self.passages))
        matched = np.zeros(len(self.passages), dtype=bool)
        for term, times in Counter(self.tokenize(query)).items():
            column = self.vocabulary.get(term)
            if column is not None:
                entries = slice(self.weights.indptr[column], self.weights.indptr[column + 1])
                rows = self.weights.indices[entries]
                scores[rows] += times * self.weights.data[entries]
                matched[rows] = True
        return scores, matched

    def scores(self, query: str) -> Floats:
        """The score of every passage, shape ``(n,)``, in the order of ``passages``; 0 where no term matches."""
        return self._search(query)[0]

    def matches(self, query: str) -> NDArray[np.bool_]:
        """Which passages hold at least one term of the query, shape ``(n,)``."""
        return self._search(query)[1]

    def __call__(self, query: str, k: int) -> list[Hit]:
        """At most ``k`` passages that hold a query term, best first, ties in the order of ``passages``."""
        check_k(k)
        scores, matched = self._search(query)
        found = np.flatnonzero(matched)
        best = found[top_k(scores[found], k)]
        ranked = zip(best.tolist(), scores[best].tolist(), strict=True)
        return [Hit(self.passages[i].id, self.passages[i].text, score) for i, score in ranked]
