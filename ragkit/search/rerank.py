"""Reranking: a wide and cheap search first, then a narrow and precise second look at what it found.

The cascade of Nogueira and Cho, *Passage Re-ranking with BERT* (2019): recall decides what the second stage can see,
so ``depth`` is 30 to 50 where 5 are wanted in the end. Every method of this folder that scores (query, passage) pairs
is a `Reranker` and fits in here. Left out: cascades of more stages, mixing the new scores with the old ones
(``fusion.fuse_hits`` does that by rank).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ragkit.base import Hit, Passage, Retriever, check_k, check_unique, top_k

Reranker: TypeAlias = Callable[[str, Sequence[Hit]], list[Hit]]
"""``(query, hits)`` in, the same hits out, re-ordered best first with new scores, ties in their old order."""

Scorer: TypeAlias = Callable[[str, list[str]], Any]
"""``(query, texts)`` in, one finite number a text out (an array or a list), larger for better."""


def by_scores(hits: Sequence[Hit], scores: Iterable[float]) -> list[Hit]:
    """The hits with new scores, best first, ties in their old order.

    Raises ``ValueError`` unless there is one finite score a hit: a NaN has no place in an order.

    >>> [hit.id for hit in by_scores([Hit("a", "", 9.0), Hit("b", "", 8.0), Hit("c", "", 7.0)], [0.1, 0.9, 0.1])]
    ['b', 'a', 'c']
    """
    values = np.asarray(scores if isinstance(scores, np.ndarray) else list(scores), dtype=np.float64)
    if values.shape != (len(hits),):
        raise ValueError(f"scores must be one number a hit, got shape {values.shape} for {len(hits)} hits")
    if not np.isfinite(values).all():
        raise ValueError("scores holds a value that is not finite")
    return [Hit(hits[i].id, hits[i].text, float(values[i])) for i in top_k(values, len(hits))]


def scoring(score: Scorer) -> Reranker:
    """A `Reranker` out of a function that scores the texts of all hits at once.

    No hits give ``[]`` and a blank query leaves the hits as they are, both without a call. Two hits with one text are
    scored once, so that they tie exactly.
    """

    def reranker(query: str, hits: Sequence[Hit]) -> list[Hit]:
        if not hits or not query.strip():
            return list(hits)
        texts = list(dict.fromkeys(hit.text for hit in hits))
        values = np.asarray(score(query, texts), dtype=np.float64)
        if values.shape != (len(texts),):
            raise ValueError(f"score must give one number a text, got shape {values.shape} for {len(texts)} texts")
        value = dict(zip(texts, values, strict=True))
        return by_scores(hits, [value[hit.text] for hit in hits])

    return reranker


def full_texts(passages: Iterable[Passage]) -> dict[str, str]:
    """Passage id to title and text: what an index reads, and what a reranker should read too.

    >>> full_texts([Passage("p1", "Holds 1.7 litres.", title="Aster kettle")])
    {'p1': 'Aster kettle\\nHolds 1.7 litres.'}
    """
    given = list(passages)
    check_unique([passage.id for passage in given], "passages")
    return {passage.id: passage.full_text for passage in given}


def rerank(
    retriever: Retriever, reranker: Reranker, depth: int = 50, texts: Mapping[str, str] | None = None
) -> Retriever:
    """A retriever that asks for ``depth`` hits (or ``k``, if that is more), reranks them and keeps the best ``k``.

    A hit carries its passage's text without the title, yet the title often names the product that the text calls "it".
    ``texts`` (`full_texts`) says by id what the reranker is to read; the hits that come out have their own text again.
    An id that ``texts`` lacks is read as it is.

    ``k = 0`` gives ``[]`` without a search. Raises ``ValueError`` for a reranker that drops, repeats or invents ids.
    """
    check_k(depth)

    def search(query: str, k: int) -> list[Hit]:
        check_k(k)
        if k == 0:
            return []
        found = retriever(query, max(depth, k))
        own = {hit.id: hit.text for hit in found}
        shown = [hit._replace(text=texts.get(hit.id, hit.text)) for hit in found] if texts else found
        ranked = reranker(query, shown)
        if sorted(hit.id for hit in ranked) != sorted(hit.id for hit in found):
            raise ValueError(f"reranker must return the {len(found)} hits it was given, each once")
        return [hit._replace(text=own[hit.id]) for hit in ranked[:k]]

    return search
