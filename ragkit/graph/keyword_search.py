"""LightRAG's two-level search: particular things by low-level keywords, themes by high-level ones.

Guo et al. (2024), section 3.2. ``keyword_query`` splits a question into keywords. Low-level ones are matched to entity
vectors, and the entities bring their relations, ranked by the degrees of their ends together, then by weight. The
high-level ones are matched to relation vectors, and the relations bring their ends. *Hybrid* merges both sides in
turns, without repeats; ranks are not fused.

As in the authors' code, the keywords of a level are embedded as one text, and what is less similar than 0.2 is no
match. Unlike it, a budget counts what stands between the lines. Left out: its ``mix`` mode (fuse this retriever with a
vector index by ``fuse_retrievers``).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragkit.base import LLM, Hit, Passage, check_k, check_unique, top_k
from ragkit.graph.keyword_graph import KeywordGraph, Pair
from ragkit.graph.keyword_query import Keywords, query_keywords
from ragkit.text import count_tokens, fill

ANSWER_PROMPT = """\
Answer the question from these notes. Add nothing that the notes do not hold; if they do not suffice, say so.

${notes}

Question: ${question}
"""
NO_ANSWER = "Nothing in the collection matches this question."
Mode = Literal["low", "high", "hybrid"]
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class KeywordContext:
    """What a search gathered, best first, as far as it fitted: the trace of one question and the text for a prompt."""

    keywords: Keywords
    entities: tuple[str, ...] = ()
    edges: tuple[Pair, ...] = ()
    passages: tuple[str, ...] = ()
    text: str = ""


def answer_prompt(question: str, notes: str) -> str:
    """The prompt for one question with its gathered notes."""
    return fill(ANSWER_PROMPT, question=question, notes=notes)


def in_turns(first: Sequence[T], second: Sequence[T]) -> list[T]:
    """First of one, first of the other, second of one …, each item once; a repeat loses its turn.

    >>> in_turns("abc", "bad"), in_turns("", "xy")
    (['a', 'b', 'c', 'd'], ['x', 'y'])
    """
    longest = max(len(first), len(second))
    return list(dict.fromkeys(item for i in range(longest) for side in (first, second) for item in side[i : i + 1]))


class KeywordSearch:
    """Two-level search over a ``KeywordGraph``; calling it makes it a ``Retriever`` over the ``passages`` behind it.

    Sources of the graph that are not among ``passages`` are skipped. ``top`` entities or relations a level are matched
    by vector, each with a cosine of at least ``min_score``. One call to ``llm`` a question, for its keywords; ``count``
    measures budgets.
    """

    def __init__(
        self,
        graph: KeywordGraph,
        passages: Sequence[Passage],
        llm: LLM,
        top: int = 10,
        min_score: float = 0.2,
        count: Callable[[str], int] = count_tokens,
    ) -> None:
        if top < 1:
            raise ValueError(f"top must be at least 1, got {top}")
        check_unique([p.id for p in passages], "passages")
        self.graph, self.llm, self.top, self.min_score, self.count = graph, llm, top, min_score, count
        self.passages = {p.id: p for p in passages}

    def keywords(self, query: str) -> Keywords:
        """The query's keywords, by one call; none, and no call, for a blank query."""
        return query_keywords(query, self.llm)

    def low(self, keywords: Sequence[str]) -> tuple[list[str], list[Pair]]:
        """Entities by vector; then all their relations by (degrees of both ends, weight), ties by pair."""
        entities = self._nearest(keywords, *self.graph.entity_vectors())
        pairs = {(min(e, other), max(e, other)) for e in entities for other in self.graph.neighbours.get(e, ())}
        degree, edges = self.graph.degree, self.graph.edges
        return entities, sorted(pairs, key=lambda p: (-(degree(p[0]) + degree(p[1])), -edges[p].weight, p))

    def high(self, keywords: Sequence[str]) -> tuple[list[str], list[Pair]]:
        """Relations by vector; then their ends, in the order of the relations, each once."""
        pairs = self._nearest(keywords, *self.graph.edge_vectors())
        return list(dict.fromkeys(end for pair in pairs for end in pair)), pairs

    def _nearest(self, keywords: Sequence[str], items: list[Any], vectors: NDArray[np.float32]) -> list[Any]:
        text = ", ".join(keywords)
        if not items or not text.strip():
            return []
        scores = vectors @ self.graph.embed([text])[0]
        return [items[i] for i in top_k(scores, self.top) if scores[i] >= self.min_score]

    def find(self, keywords: Keywords, mode: Mode = "hybrid") -> tuple[list[str], list[Pair]]:
        """Entities and relations, best first. A mode whose own keywords are empty finds nothing on that side."""
        if mode not in ("low", "high", "hybrid"):
            raise ValueError(f"mode must be 'low', 'high' or 'hybrid', got {mode!r}")
        low = self.low(keywords.low) if mode != "high" else ([], [])
        high = self.high(keywords.high) if mode != "low" else ([], [])
        return in_turns(low[0], high[0]), in_turns(low[1], high[1])

    def ranked_passages(self, entities: Sequence[str], edges: Sequence[Pair]) -> list[str]:
        """Ids of source passages, those of the entities and those of the relations in turns.

        An entity's passages come by how many of the chosen relations they hold, then in the order of the passages.
        """
        position = {an_id: i for i, an_id in enumerate(self.passages)}
        held = dict.fromkeys(position, 0)
        for pair in edges:
            for an_id in self.graph.edges[pair].sources:
                held[an_id] = held.get(an_id, 0) + 1

        def known(ids: Iterable[str]) -> list[str]:
            return sorted((i for i in ids if i in position), key=lambda i: (-held[i], position[i]))

        of_entities = [an_id for key in entities for an_id in known(self.graph.entities[key].sources)]
        of_edges = [an_id for pair in edges for an_id in known(self.graph.edges[pair].sources)]
        return in_turns(list(dict.fromkeys(of_entities)), list(dict.fromkeys(of_edges)))

    def __call__(self, query: str, k: int) -> list[Hit]:
        """The best ``k`` source passages of a hybrid search; the score is 1 / rank."""
        check_k(k)
        ids = self.ranked_passages(*self.find(self.keywords(query))) if k else []
        return [Hit(an_id, self.passages[an_id].text, 1 / rank) for rank, an_id in enumerate(ids[:k], start=1)]

    def context(
        self,
        query: str,
        budget: int = 2000,
        mode: Mode = "hybrid",
        shares: tuple[float, float, float] = (0.2, 0.3, 0.5),
    ) -> KeywordContext:
        """Entities, relations and passages as text of at most ``budget`` by ``count``, line breaks included.

        ``shares`` divides the budget among the three; what one leaves goes to the next. A part ends at its first line
        that does not fit.
        """
        if budget < 0:
            raise ValueError(f"budget must be at least 0, got {budget}")
        if min(shares) < 0 or not np.isclose(sum(shares), 1.0):
            raise ValueError(f"shares must be three numbers of at least 0 that sum to 1, got {shares}")
        keywords = self.keywords(query)
        entities, edges = self.find(keywords, mode)
        ids = self.ranked_passages(entities, edges)
        parts = (
            [self._entity_line(e) for e in entities],
            [self._edge_line(p) for p in edges],
            [*map(self._passage, ids)],
        )
        lines: list[str] = []
        kept: list[int] = []
        allowed = 0.0
        for part, share in zip(parts, shares, strict=True):
            allowed += budget * share
            fitting = 0
            for line in part:
                if self.count("\n".join([*lines, line])) > round(allowed, 6):
                    break
                lines.append(line)
                fitting += 1
            kept.append(fitting)
        text = "\n".join(lines)
        return KeywordContext(
            keywords, tuple(entities[: kept[0]]), tuple(edges[: kept[1]]), tuple(ids[: kept[2]]), text
        )

    def answer(self, query: str, budget: int = 2000, mode: Mode = "hybrid") -> str:
        """One call for the keywords, one for the answer; ``NO_ANSWER``, without the second, where nothing matched."""
        gathered = self.context(query, budget, mode)
        return self.llm(answer_prompt(query, gathered.text)).strip() if gathered.text else NO_ANSWER

    def _entity_line(self, key: str) -> str:
        entity = self.graph.entities[key]
        return f"entity: {entity.name} ({entity.type}): {entity.description}".rstrip(": ")

    def _edge_line(self, pair: Pair) -> str:
        edge, names = self.graph.edges[pair], [self.graph.entities[key].name for key in pair]
        return f"relation: {names[0]} -- {names[1]} [{', '.join(edge.keywords)}]: {edge.description}".rstrip(": ")

    def _passage(self, an_id: str) -> str:
        return f"passage {an_id}: {self.passages[an_id].full_text}"
