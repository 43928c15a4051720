"""The graph of LightRAG (Guo et al., 2024): entities and relations, each with a vector, kept up to date as texts come.

Section 3.1 of the paper and its "incremental update": a new text's records are merged into what is there, nothing is
built anew. Three slips of published code are avoided. An edge has one key, the *sorted* pair. Its weight sums what its
sources give, each once: a text that comes again changes nothing (there the weight grew 1, 2, 3). And names that differ
in case, spacing or quotes are one node (``entity_key``).

A graph is a function of the texts in it: any order of insertions and deletions that ends with the same texts gives the
same graph, which is why merging goes by source id and not by time of arrival. Left out: a model that condenses long
descriptions (``merge`` has it), and persistence.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Mapping
from math import fsum
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.base import Embedder
from ragkit.graph.keyword_extract import KeyedExtraction, KeyedRelation, each_once
from ragkit.graph.merge import UNKNOWN, entity_key
from ragkit.graph.records import Entity

Pair: TypeAlias = tuple[str, str]
_QUOTES = "\"'“”‘’`«»"


class KeyedEntity(NamedTuple):
    """A node: its key, commonest spelling, majority type, joined descriptions, and the ids of its sources, sorted."""

    key: str
    name: str
    type: str
    description: str
    sources: tuple[str, ...]


class KeyedEdge(NamedTuple):
    """An undirected relation between the keys ``a < b``; ``keywords`` are its themes, each once."""

    a: str
    b: str
    weight: float
    keywords: tuple[str, ...]
    description: str
    sources: tuple[str, ...]


class Update(NamedTuple):
    """What an insertion or a deletion did: keys and pairs that are new, that changed, and that are gone, sorted."""

    added: tuple[str | Pair, ...] = ()
    changed: tuple[str | Pair, ...] = ()
    removed: tuple[str | Pair, ...] = ()


class KeywordGraph:
    """Entities and edges of a changing set of sources.

    An insertion touches only what its source names. Vectors are made when they are first asked for, and again only
    for what reads differently since; ``embedded`` counts the texts that went to ``embed``.
    """

    def __init__(self, embed: Embedder) -> None:
        self.embed = embed
        self.embedded = 0
        self.sources: dict[str, KeyedExtraction] = {}
        self.entities: dict[str, KeyedEntity] = {}
        self.edges: dict[Pair, KeyedEdge] = {}
        self.neighbours: dict[str, set[str]] = {}
        # key or pair -> source id -> the records of that source about it
        self._mentions: dict[str, dict[str, list[Entity]]] = {}
        self._relations: dict[Pair, dict[str, list[KeyedRelation]]] = {}
        self._vectors: dict[str | Pair, tuple[str, NDArray[np.float32]]] = {}
        # what the two methods below gave last, until something is rebuilt: a search asks for them at each question
        self._entity_table: tuple[list[str], NDArray[np.float32]] | None = None
        self._edge_table: tuple[list[Pair], NDArray[np.float32]] | None = None

    def insert(self, source: str, extraction: KeyedExtraction) -> Update:
        """Add what ``source`` holds. The same again changes nothing; other records under its id replace the old ones.

        A record that an extraction repeats word for word counts once. A relation of a name with itself, and names
        without letters, are left out; an end of a relation without a record of its own is a node all the same.
        """
        if not source:
            raise ValueError("source must be a non-empty id")
        if self.sources.get(source) == extraction:
            return Update()
        touched = self._take_out(source)
        self.sources[source] = extraction
        mentions, relations = _filed(extraction)
        for key, entity in mentions:
            self._mentions.setdefault(key, {}).setdefault(source, []).append(entity)
        for pair, relation in relations:
            self._relations.setdefault(pair, {}).setdefault(source, []).append(relation)
        return self._rebuild(touched.union((key for key, _ in mentions), (pair for pair, _ in relations)))

    def insert_all(self, extractions: Mapping[str, KeyedExtraction]) -> list[Update]:
        """``insert`` for each source."""
        return [self.insert(source, extraction) for source, extraction in extractions.items()]

    def delete(self, source: str) -> Update:
        """Take a source out: what only it held goes, what others hold stays without its share. Unknown: no change."""
        touched = self._take_out(source)
        self.sources.pop(source, None)
        return self._rebuild(touched)

    def degree(self, key: str) -> int:
        """The number of an entity's neighbours; 0 for an unknown one."""
        return len(self.neighbours.get(key, ()))

    def entity_vectors(self) -> tuple[list[str], NDArray[np.float32]]:
        """Keys, sorted, and their vectors ``(n, d)``, of name and description together."""
        if self._entity_table is None:
            texts = {key: f"{e.name}\n{e.description}".strip() for key, e in sorted(self.entities.items())}
            self._entity_table = list(texts), self._embedded(texts)
        return self._entity_table

    def edge_vectors(self) -> tuple[list[Pair], NDArray[np.float32]]:
        """Pairs, sorted, and their vectors ``(n, d)``, of keywords, both names and the description."""
        if self._edge_table is None:
            texts = {}
            for pair, edge in sorted(self.edges.items()):
                names = f"{self.entities[edge.a].name}, {self.entities[edge.b].name}"
                texts[pair] = "\n".join(part for part in (", ".join(edge.keywords), names, edge.description) if part)
            self._edge_table = list(texts), self._embedded(texts)
        return self._edge_table

    def _embedded(self, texts: Mapping[Any, str]) -> NDArray[np.float32]:
        due = {item: text for item, text in texts.items() if self._vectors.get(item, ("", None))[0] != text}
        distinct = list(dict.fromkeys(due.values()))
        vectors = dict(zip(distinct, self.embed(distinct), strict=True)) if distinct else {}
        self.embedded += len(distinct)
        self._vectors.update((item, (text, vectors[text])) for item, text in due.items())
        return np.stack([self._vectors[item][1] for item in texts]) if texts else np.zeros((0, 0), dtype=np.float32)

    def _take_out(self, source: str) -> set[str | Pair]:
        mentions, relations = _filed(self.sources.get(source, KeyedExtraction()))
        for key, _ in mentions:
            self._mentions[key].pop(source, None)
        for pair, _ in relations:
            self._relations[pair].pop(source, None)
        return {*(key for key, _ in mentions), *(pair for pair, _ in relations)}

    def _rebuild(self, touched: set[str | Pair]) -> Update:
        self._entity_table = self._edge_table = None
        added, changed, removed = [], [], []
        for item in touched:
            before: object = self.entities.get(item) if isinstance(item, str) else self.edges.get(item)
            after: object = self._entity(item) if isinstance(item, str) else self._edge(item)
            if after is None:
                removed.append(item)
                self._vectors.pop(item, None)
            elif before is None:
                added.append(item)
            elif before != after:
                changed.append(item)
        return Update(*(tuple(sorted(items, key=str)) for items in (added, changed, removed)))

    def _entity(self, key: str) -> KeyedEntity | None:
        held = self._mentions[key]
        if not held:
            del self._mentions[key]
            del self.entities[key]
            return None
        records = [entity for source in sorted(held) for entity in held[source]]
        # most_common keeps the order of first mention among equals, and that order is by source id
        name = Counter(_spelling(entity.name) for entity in records).most_common(1)[0][0]
        kinds = Counter(kind for entity in records if (kind := entity.type.strip().casefold()) not in ("", UNKNOWN))
        kind = kinds.most_common(1)[0][0] if kinds else UNKNOWN
        self.entities[key] = KeyedEntity(key, name, kind, _joined(e.description for e in records), tuple(sorted(held)))
        return self.entities[key]

    def _edge(self, pair: Pair) -> KeyedEdge | None:
        a, b = pair
        held = self._relations[pair]
        if not held:
            del self._relations[pair]
            del self.edges[pair]
            for one, other in ((a, b), (b, a)):
                self.neighbours[one].discard(other)
                if not self.neighbours[one]:
                    del self.neighbours[one]
            return None
        records = [relation for source in sorted(held) for relation in held[source]]
        weight = fsum(relation.strength for relation in records)  # one rounding: the order of arrival leaves no trace
        keywords = each_once(word for relation in records for word in relation.keywords)
        text = _joined(relation.description for relation in records)
        self.edges[pair] = KeyedEdge(a, b, weight, keywords, text, tuple(sorted(held)))
        self.neighbours.setdefault(a, set()).add(b)
        self.neighbours.setdefault(b, set()).add(a)
        return self.edges[pair]


def _filed(extraction: KeyedExtraction) -> tuple[list[tuple[str, Entity]], list[tuple[Pair, KeyedRelation]]]:
    """The records of an extraction under the keys and sorted pairs they belong to."""
    mentions = [(key, e) for e in dict.fromkeys(extraction.entities) if (key := entity_key(e.name))]
    relations = []
    for relation in dict.fromkeys(extraction.relations):
        ends = {entity_key(name): name for name in (relation.source, relation.target)}
        if len(ends) == 2 and "" not in ends:
            a, b = sorted(ends)
            relations.append(((a, b), relation))
            mentions += [(key, Entity(name, "", "")) for key, name in ends.items()]
    return mentions, relations


def _spelling(name: str) -> str:
    return " ".join(html.unescape(name).split()).strip(_QUOTES + " ")


def _joined(texts: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(text for text in texts if text))
