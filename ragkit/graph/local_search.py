"""Local search: questions about particular things, answered from their neighbourhood in the graph.

After GraphRAG's local mode (microsoft/graphrag, ``query/structured_search/local_search``): the question is matched to
entities; around them are gathered their relations, the reports of their communities and the passages they come from,
each kind within its share of one token budget. The index also serves as a plain ``Retriever`` over the passages.

Unlike that code, names that stand in the question are matched as words before vectors are asked, so that a code or
a rare name is never missed. Left out: conversation history and the ranking of relations out of the network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ragkit.base import LLM, Embedder, Hit, Passage, check_k, check_unique, top_k
from ragkit.graph.communities import Community, cover
from ragkit.graph.merge import Edge, KnowledgeGraph
from ragkit.graph.replies import cut_to_tokens
from ragkit.graph.reports import Report, entity_lines, relation_line
from ragkit.text import count_tokens, fill, tokenize

PROMPT = """\
Answer the question from these notes. Add nothing that the notes do not hold; if they do not suffice, say so.

${notes}

Question: ${question}
"""
NO_ANSWER = "Nothing in the collection matches this question."


class Match(NamedTuple):
    """An entity of the graph that the question is about; ``score`` is 1.0 for a name match, else the cosine."""

    key: str
    score: float


@dataclass(frozen=True, slots=True)
class LocalContext:
    """What was gathered: matched entities, relations (pairs of keys), community ids, passage ids, and the text."""

    matches: tuple[Match, ...]
    relations: tuple[tuple[str, str], ...]
    communities: tuple[int, ...]
    passages: tuple[str, ...]
    text: str


class LocalSearch:
    """Local search over a graph and its passages; calling it makes it a ``Retriever``.

    ``reports`` with the ``communities`` they describe are optional, and so is ``embed`` (then only names match).
    ``shares`` divides a context's budget among reports, entities with relations, and passages; what one part leaves
    goes to the next.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        passages: Sequence[Passage],
        embed: Embedder | None = None,
        communities: Sequence[Community] = (),
        reports: Sequence[Report] = (),
        shares: tuple[float, float, float] = (0.15, 0.35, 0.5),
    ) -> None:
        if min(shares) < 0 or not np.isclose(sum(shares), 1.0):
            raise ValueError(f"shares must be three numbers of at least 0 that sum to 1, got {shares}")
        check_unique([p.id for p in passages], "passages")
        self.graph, self.embed, self.shares = graph, embed, shares
        self.passages = {p.id: p for p in passages}
        self.keys = list(graph.nodes)
        self.adjacency = graph.adjacency
        self.reports = {report.community: report for report in reports}
        self.community_of: Mapping[str, int] = cover(
            [c for c in communities if c.id in self.reports], max((c.level for c in communities), default=0)
        )
        self._names: dict[tuple[str, ...], list[str]] = {}
        for key, node in graph.nodes.items():
            self._names.setdefault(tuple(tokenize(node.name)), []).append(key)
        texts = [f"{graph.nodes[key].name}: {graph.nodes[key].description}" for key in self.keys]
        self.vectors = embed(texts) if embed and texts else None

    def matches(self, query: str, k: int = 5) -> list[Match]:
        """At most ``k`` entities: names that stand in the question, longest first, then the nearest by vector.

        A name inside a longer one that matched at the same place is not counted ("Aster" in "Aster kettle").
        """
        check_k(k)
        words = tokenize(query)
        found: dict[str, float] = {}
        taken = [False] * len(words)
        for length in range(len(words), 0, -1):
            for i in range(len(words) - length + 1):
                keys = self._names.get(tuple(words[i : i + length]))
                if keys and not any(taken[i : i + length]):
                    taken[i : i + length] = [True] * length
                    found.update(dict.fromkeys(keys, 1.0))
        if self.vectors is not None and self.embed is not None and words and len(found) < k:
            scores = self.vectors @ self.embed([query])[0]
            for i in top_k(scores, k + len(found)):
                found.setdefault(self.keys[i], float(scores[i]))
        return [Match(key, score) for key, score in list(found.items())[:k]]

    def relations(self, matches: Sequence[Match]) -> list[Edge]:
        """Relations of the matched entities: those between two of them first, then by weight, then by name."""
        chosen = {match.key for match in matches}
        edges = {(e.a, e.b): e for match in matches for e in self.adjacency[match.key].values()}
        return sorted(edges.values(), key=lambda e: (-({e.a, e.b} <= chosen), -e.weight, e.a, e.b))

    def ranked_passages(self, matches: Sequence[Match]) -> list[Hit]:
        """Source passages: by the best entity they mention, then by how many relations of the entities they hold.

        The score is that of the best entity; further ties go by the order of the passages. Ids of passages that the
        index was not given are skipped.
        """
        held: dict[str, int] = {}
        for edge in self.relations(matches):
            for pid in edge.passages:
                held[pid] = held.get(pid, 0) + 1
        first: dict[str, tuple[int, float]] = {}
        for rank, match in enumerate(matches):
            for pid in self.graph.nodes[match.key].passages:
                first.setdefault(pid, (rank, match.score))
        position = {pid: i for i, pid in enumerate(self.passages)}
        order = sorted(
            (pid for pid in first if pid in position),
            key=lambda pid: (first[pid][0], -held.get(pid, 0), position[pid]),
        )
        return [Hit(pid, self.passages[pid].text, first[pid][1]) for pid in order]

    def __call__(self, query: str, k: int) -> list[Hit]:
        """The best ``k`` source passages of the matched entities; ``[]`` if nothing matches."""
        check_k(k)
        return self.ranked_passages(self.matches(query))[:k]

    def context(self, query: str, budget: int = 2000, k: int = 5) -> LocalContext:
        """Gather reports, entities with relations, and passages around the ``k`` matches, within ``budget`` tokens."""
        if budget < 0:
            raise ValueError(f"budget must be at least 0, got {budget}")
        matches = self.matches(query, k)
        ids = list(dict.fromkeys(self.community_of[m.key] for m in matches if m.key in self.community_of))
        edges = self.relations(matches)
        hits = self.ranked_passages(matches)
        parts = [
            [f"report: {self.reports[i].text}" for i in ids],
            [line for m in matches for line in entity_lines(self.graph, m.key)]
            + [relation_line(self.graph, e.a, e.b) for e in edges],
            [f"passage {hit.id}: {self.passages[hit.id].full_text}" for hit in hits],
        ]
        kept: list[list[str]] = []
        left = 0.0
        for lines, share in zip(parts, self.shares, strict=True):
            left += budget * share
            part: list[str] = []
            for line in lines:
                if count_tokens(line) > left:
                    if not part and (start := cut_to_tokens(line, int(left))):  # a part of one long line is not empty
                        part.append(start)
                        left -= count_tokens(start)
                    break
                part.append(line)
                left -= count_tokens(line)
            kept.append(part)
        n_entities = len(parts[1]) - len(edges)
        return LocalContext(
            tuple(matches),
            tuple((e.a, e.b) for e in edges[: max(0, len(kept[1]) - n_entities)]),
            tuple(ids[: len(kept[0])]),
            tuple(hit.id for hit in hits[: len(kept[2])]),
            "\n".join(line for part in kept for line in part),
        )

    def answer(self, query: str, llm: LLM, budget: int = 2000, k: int = 5) -> str:
        """Answer from the context in one call; ``NO_ANSWER``, without a call, where nothing was gathered."""
        gathered = self.context(query, budget, k)
        return llm(local_prompt(query, gathered.text)).strip() if gathered.text else NO_ANSWER


def local_prompt(question: str, notes: str) -> str:
    """The prompt for one question with its gathered context."""
    return fill(PROMPT, question=question, notes=notes)
