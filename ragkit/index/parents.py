"""Parent and child: search small pieces, hand over the large ones they were cut from.

The small-to-big scheme of LangChain's ``ParentDocumentRetriever`` and LlamaIndex's ``AutoMergingRetriever``, with two
slips of such code avoided: ``k`` counts parents and not children (several children of one parent would leave fewer
than ``k``), and children are collapsed *before* the cut. Left out: merging by the share of a parent's children found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ragkit.base import Hit, Passage, Retriever, check_k, check_unique

Indexer: TypeAlias = Callable[[list[Passage]], Retriever]
"""What makes a search out of passages: `BM25`, or ``lambda ps: Dense(ps, embed)``."""


def parents_for(
    child_scores: Mapping[str, float], parent_of: Mapping[str, str], parent_tokens: Mapping[str, int], budget: int
) -> list[str]:
    """The ids of the parents to put in a context of ``budget`` tokens, best first.

    A parent scores as its best scored child. In the order of scores (ties by id ascending) a parent is taken if its
    tokens still fit; one that does not is skipped, and smaller ones after it may fit. Children without a score play no
    part. ``budget <= 0`` gives ``[]``. Raises `ValueError` for a scored child without a parent and a parent without a
    token count.

    >>> parent_of = {"c1": "A", "c2": "B", "c3": "C"}
    >>> parents_for({"c1": 0.9, "c2": 0.8, "c3": 0.7}, parent_of, {"A": 60, "B": 50, "C": 40}, budget=100)
    ['A', 'C']
    """
    best: dict[str, float] = {}
    for child, score in child_scores.items():
        if child not in parent_of:
            raise ValueError(f"parent_of has no entry for the scored child {child!r}")
        parent = parent_of[child]
        if parent not in parent_tokens:
            raise ValueError(f"parent_tokens has no entry for the parent {parent!r}")
        best[parent] = max(score, best.get(parent, score))
    chosen, left = [], budget
    for parent in sorted(best, key=lambda p: (-best[p], p)):
        if parent_tokens[parent] <= left:
            chosen.append(parent)
            left -= parent_tokens[parent]
    return chosen


class ParentChild:
    """A `Retriever` of parents that searches ``children``; each child names its parent in ``meta["parent"]``.

    ``index`` makes the search over the children. A hit is a parent: its id, its text, and the score of its best child;
    parents come in the order of their best child. As many children are fetched as it takes to fill ``k`` parents
    (``over_fetch * k`` first, then twice as many, and so on), so fewer than ``k`` come back only if the children's
    search has no more to give. Raises `ValueError` for a child whose parent is missing or unknown.
    """

    def __init__(
        self, parents: Sequence[Passage], children: Sequence[Passage], index: Indexer, over_fetch: int = 4
    ) -> None:
        if over_fetch < 1:
            raise ValueError(f"over_fetch must be at least 1, got {over_fetch}")
        check_unique([p.id for p in parents], "parents")
        check_unique([c.id for c in children], "children")
        self.parents = {p.id: p for p in parents}
        self.parent_of: dict[str, str] = {}
        for child in children:
            parent = child.meta.get("parent")
            if parent not in self.parents:
                raise ValueError(f"children: {child.id!r} names the parent {parent!r}, which is not among parents")
            self.parent_of[child.id] = parent
        self.search = index(list(children))
        self.over_fetch = over_fetch

    def children_of_best(self, query: str, k: int) -> dict[str, list[Hit]]:
        """The ``k`` best parents, each with the children found for it, best first: what a page shows as evidence."""
        check_k(k)
        fetch = k * self.over_fetch
        while True:
            hits = self.search(query, min(fetch, len(self.parent_of)))
            grouped: dict[str, list[Hit]] = {}
            for hit in hits:
                grouped.setdefault(self.parent_of[hit.id], []).append(hit)
            if len(grouped) >= k or len(hits) < fetch:
                return dict(list(grouped.items())[:k])
            fetch *= 2

    def __call__(self, query: str, k: int) -> list[Hit]:
        """At most ``k`` parents, best child first; ties as the children's search settles them."""
        found = self.children_of_best(query, k)
        return [Hit(parent, self.parents[parent].text, hits[0].score) for parent, hits in found.items()]
