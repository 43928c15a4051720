"""HippoRAG: passages ranked by Personalized PageRank from the question's entities (Gutiérrez et al., NeurIPS 2024).

After section 2 of the paper and the authors' first code (branch legacy): phrases of the extracted triples are nodes;
a triple links its subject and object, near-synonyms are linked by their cosine; each entity of the question is
linked to its nearest phrase; the walk restarts there, at each with weight 1 / (number of passages that hold the
phrase), the *node specificity*; and a passage collects the scores of its facts' phrases. One matrix iteration
replaces the model round trips of multi-hop retrieval. ``restart`` is 0.5 as in all the authors' experiments, where
textbooks take 0.15.

As in that code: a phrase that two entities link to is seeded once, edges are undirected and count triples, a synonym
edge replaces a fact edge of the same direction, and passages are scored through the counts (passages x facts) times
(facts x phrases). Unlike it: non-Latin phrases are kept (there they all become ""), spaces are squeezed, ties go by
position, and a question without entities is answered by dense search where the code ranked at random. The nearest
phrase may be far ("2019" where no phrase is a year); the code's remedy, an ensemble with dense scores at low linking
confidence, is left out, and ``min_similarity`` can drop such links. Left out too: passage nodes (HippoRAG 2).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ragkit.base import Embedder, Hit, Passage, Retriever, check_k, check_unique, top_k
from ragkit.graph.extract import Extraction
from ragkit.graph.pagerank import Float, PageRank, pagerank, transition
from ragkit.search import Dense

Triple = Sequence[str]
QueryEntities = Callable[[str], Sequence[str]]


class Link(NamedTuple):
    """An entity of the question, the phrase it was linked to, their cosine, and the seed weight of the phrase."""

    entity: str
    phrase: str
    cosine: float
    weight: float


def phrase_key(phrase: str) -> str:
    """Lower case; everything but letters, marks and digits of any script becomes one space.

    >>> phrase_key("St. Louis (Missouri)"), phrase_key("Łódź"), phrase_key("?!")
    ('st louis missouri', 'łódź', '')
    """
    if phrase.isascii():  # the common case, and many times as fast
        return " ".join(re.findall(r"[a-z0-9]+", phrase.lower()))
    text = unicodedata.normalize("NFKC", phrase).casefold()
    return " ".join("".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in text).split())


def triples_from(extractions: Mapping[str, Extraction]) -> dict[str, list[tuple[str, str, str]]]:
    """Passage id -> (source, description, target) of each relation that was extracted from it."""
    return {pid: [(r.source, r.description, r.target) for r in x.relations] for pid, x in extractions.items()}


def synonym_pairs(
    phrases: Sequence[str], vectors: NDArray[np.float32], threshold: float, limit: int
) -> list[tuple[str, str, float]]:
    """For each phrase of more than two letters or digits, its up to ``limit`` nearest with cosine >= ``threshold``.

    ``vectors`` is ``(n, d)``, unit rows. Cosines are computed a block of rows at a time: ``n x n`` may not fit.
    """
    pairs = []
    for start in range(0, len(phrases), 1024):
        similarity = vectors[start : start + 1024] @ vectors.T
        for row, i in zip(similarity, range(start, len(phrases)), strict=False):
            if len(phrases[i].replace(" ", "")) > 2:
                row[i] = -np.inf  # not its own synonym
                near = np.flatnonzero(row >= threshold)
                for j in near[top_k(row[near], limit)]:
                    pairs.append((phrases[i], phrases[j], float(row[j])))
    return pairs


class HippoRAG:
    """The index, and a ``Retriever`` over its passages.

    ``triples`` maps a passage id to its (subject, relation, object) triples; triples of another length, or with a
    subject or object without letters and digits, are dropped; ids that are no passage's raise ValueError.
    ``query_entities`` names the entities of a question. ``synonym_threshold=None`` leaves synonym edges out,
    ``node_specificity=False`` seeds every linked phrase with weight 1: the two ablations of the paper.
    ``min_similarity`` in [-1, 1] leaves out links with a lower cosine; None, as in paper and code, links every entity.
    ``fallback`` answers questions without a link (and all questions, if there is no triple); by default dense
    search with ``embed``.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        triples: Mapping[str, Sequence[Triple]],
        embed: Embedder,
        query_entities: QueryEntities,
        restart: float = 0.5,
        synonym_threshold: float | None = 0.8,
        max_synonyms: int = 100,
        node_specificity: bool = True,
        fallback: Retriever | None = None,
        min_similarity: float | None = None,
    ) -> None:
        if not 0.0 < restart <= 1.0:
            raise ValueError(f"restart must be in (0, 1], got {restart}")
        if min_similarity is not None and not -1.0 <= min_similarity <= 1.0:
            raise ValueError(f"min_similarity must be in [-1, 1] or None, got {min_similarity}")
        check_unique([p.id for p in passages], "passages")
        self.passages = list(passages)
        row = {p.id: i for i, p in enumerate(self.passages)}
        if unknown := [pid for pid in triples if pid not in row]:
            raise ValueError(f"triples holds {unknown[0]!r}, which is no passage's id")
        self.embed, self.query_entities, self.restart, self._fallback = embed, query_entities, restart, fallback
        self.min_similarity = min_similarity
        facts = {row[pid]: _keyed(found) for pid, found in triples.items()}
        self.phrases = sorted({end for found in facts.values() for s, _, o in found for end in (s, o)})
        self.passage_facts, self.fact_phrases = _matrices(facts, len(self.passages), self.phrases)
        counts = (self.passage_facts @ self.fact_phrases > 0).sum(axis=0)
        self.passages_of_phrase: NDArray[np.int64] = np.asarray(counts).ravel().astype(np.int64)
        self.vectors = embed(self.phrases) if self.phrases else np.zeros((0, 0), dtype=np.float32)
        edges: Counter[tuple[str, str]] | dict[tuple[str, str], float] = Counter(
            pair for found in facts.values() for s, _, o in found if s != o for pair in ((s, o), (o, s))
        )
        if synonym_threshold is not None:
            edges = {**edges, **{(a, b): c for a, b, c in self._synonyms(synonym_threshold, max_synonyms)}}
        self.graph = transition(edges, directed=False, nodes=self.phrases)
        specific = 1.0 / np.maximum(self.passages_of_phrase, 1)
        self.seed_weight: Float = specific if node_specificity else np.ones(len(self.phrases))

    def _synonyms(self, threshold: float, limit: int) -> list[tuple[str, str, float]]:
        return synonym_pairs(self.phrases, self.vectors, threshold, limit)

    def link(self, query: str) -> list[Link]:
        """Each entity of the question with its nearest phrase; with ``min_similarity`` only if that is near enough."""
        entities = list(dict.fromkeys(key for e in self.query_entities(query) if (key := phrase_key(e))))
        if not entities or not self.phrases:
            return []
        similarity = self.embed(entities) @ self.vectors.T
        nearest = similarity.argmax(axis=1)
        links = [
            Link(entity, self.phrases[j], float(similarity[i, j]), float(self.seed_weight[j]))
            for i, (entity, j) in enumerate(zip(entities, nearest.tolist(), strict=True))
        ]
        return [link for link in links if self.min_similarity is None or link.cosine >= self.min_similarity]

    def walk(self, links: Sequence[Link]) -> PageRank:
        """PageRank of the phrases, seeded at the linked ones; a phrase linked twice is seeded once."""
        return pagerank(self.graph, self.graph.seeds({link.phrase: link.weight for link in links}), self.restart)

    def passage_scores(self, phrase_scores: Float) -> Float:
        """From nodes back to passages: (passages x facts) (facts x phrases) (phrases), shape ``(n_passages,)``."""
        return np.asarray(self.passage_facts @ (self.fact_phrases @ phrase_scores))

    def fallback(self, query: str, k: int) -> list[Hit]:
        """What a question without a link gets; the dense index is built when first needed."""
        if self._fallback is None:
            self._fallback = Dense(self.passages, self.embed)
        return self._fallback(query, k)

    def __call__(self, query: str, k: int) -> list[Hit]:
        """The best ``k`` passages, ties by position; those that the walk does not reach are left out."""
        check_k(k)
        links = self.link(query)
        if not links:
            return self.fallback(query, k)
        scores = self.passage_scores(self.walk(links).scores)
        return [
            Hit(self.passages[i].id, self.passages[i].text, float(scores[i])) for i in top_k(scores, k) if scores[i] > 0
        ]


def _keyed(triples: Sequence[Triple]) -> list[tuple[str, str, str]]:
    keyed = [tuple(phrase_key(str(part)) for part in triple) for triple in triples if len(triple) == 3]
    return [(s, r, o) for s, r, o in keyed if s and o]


def _matrices(facts: Mapping[int, Sequence[tuple[str, str, str]]], n: int, phrases: Sequence[str]) -> tuple[Any, Any]:
    """Binary (passages x facts) and (facts x phrases), over the distinct facts; a fact counts once a passage."""
    number = {fact: i for i, fact in enumerate(dict.fromkeys(f for found in facts.values() for f in found))}
    column = {phrase: i for i, phrase in enumerate(phrases)}
    held = sorted({(row, number[fact]) for row, found in facts.items() for fact in found})
    ends = sorted({(i, column[end]) for (s, _, o), i in number.items() for end in (s, o)})
    return _binary(held, (n, len(number))), _binary(ends, (len(number), len(phrases)))


def _binary(cells: Sequence[tuple[int, int]], shape: tuple[int, int]) -> Any:
    rows, columns = [r for r, _ in cells], [c for _, c in cells]
    return sparse.csr_matrix((np.ones(len(cells)), (rows, columns)), shape=shape)
