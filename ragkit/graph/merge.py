"""One knowledge graph from the extractions of many passages (GraphRAG, Edge et al., 2024, section 2.3).

Passages name one thing in several ways of writing, so names are normalised to a key; entities, relations and
claims under the same key are merged, and each keeps the passages it came from. Three slips of published code are
avoided: an endpoint of a relation that has no record of its own becomes a node (elsewhere it dangles), ``(a, b)``
and ``(b, a)`` are one edge whose weights add up (elsewhere the last row wins), and non-Latin names are kept.

Left out: entity resolution beyond spelling ("the company" and "Larkfield Goods" stay two nodes).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import networkx as nx

from ragkit.base import LLM
from ragkit.graph.extract import Extraction
from ragkit.text import count_tokens, fill

UNKNOWN = "unknown"
PROMPT = """\
Several passages describe ${name}. Combine what they say into one short paragraph. Keep every fact; where two
statements contradict each other, say so.

${descriptions}
"""
_QUOTES = "\"'“”‘’`«»"


class Node(NamedTuple):
    """A merged entity. ``key`` is the normalised name, ``name`` the commonest spelling, ``passages`` its sources."""

    key: str
    name: str
    type: str
    description: str
    passages: tuple[str, ...]


class Edge(NamedTuple):
    """A merged relation between the keys ``a < b``; its direction is only in the words of the description."""

    a: str
    b: str
    weight: float
    description: str
    passages: tuple[str, ...]


class MergedClaim(NamedTuple):
    """A statement about the node ``subject``, with the passages that make it; ``object`` is a key or ""."""

    subject: str
    object: str
    type: str
    status: str
    start: str
    end: str
    description: str
    passages: tuple[str, ...]


@dataclass(frozen=True)
class KnowledgeGraph:
    """Nodes by key, edges by sorted pair of keys, claims; all in order of first mention."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[tuple[str, str], Edge] = field(default_factory=dict)
    claims: tuple[MergedClaim, ...] = ()

    # Cached, though the class is frozen: cached_property writes to __dict__ and never to a field.
    @cached_property
    def weights(self) -> dict[tuple[str, str], float]:
        """Edge weights by pair: what the community and PageRank functions take."""
        return {pair: edge.weight for pair, edge in self.edges.items()}

    @cached_property
    def adjacency(self) -> dict[str, dict[str, Edge]]:
        """Node key -> neighbour key -> edge; isolated nodes have an empty entry."""
        table: dict[str, dict[str, Edge]] = {key: {} for key in self.nodes}
        for (a, b), edge in self.edges.items():
            table[a][b] = table[b][a] = edge
        return table

    @cached_property
    def claims_of(self) -> dict[str, list[MergedClaim]]:
        """Node key -> the claims about it; only keys that have any."""
        table: defaultdict[str, list[MergedClaim]] = defaultdict(list)
        for claim in self.claims:
            table[claim.subject].append(claim)
        return dict(table)

    @cached_property
    def entities_of(self) -> dict[str, list[str]]:
        """Passage id -> keys of the entities it mentions."""
        table: defaultdict[str, list[str]] = defaultdict(list)
        for key, node in self.nodes.items():
            for passage in node.passages:
                table[passage].append(key)
        return dict(table)

    def to_networkx(self) -> Any:
        """An undirected ``networkx.Graph``; nodes and edges carry the fields of ``Node`` and ``Edge``."""
        graph = nx.Graph()
        for key, node in self.nodes.items():
            graph.add_node(key, name=node.name, type=node.type, description=node.description, passages=node.passages)
        for (a, b), edge in self.edges.items():
            graph.add_edge(a, b, weight=edge.weight, description=edge.description, passages=edge.passages)
        return graph


def entity_key(name: str) -> str:
    """The key under which spellings of a name meet: HTML decoded, quotes and extra space off, case folded.

    >>> entity_key(' "Scrooge &amp;  Marley" '), entity_key("МОСКВА")
    ('scrooge & marley', 'москва')
    """
    text = unicodedata.normalize("NFKC", html.unescape(name)).casefold()
    return re.sub(r"\s+", " ", text).strip(_QUOTES + " ")


def summary_prompt(name: str, descriptions: Sequence[str]) -> str:
    """Ask for one description out of several, each on a line of its own."""
    return fill(PROMPT, name=name, descriptions="\n".join(f"- {text}" for text in descriptions))


def merge(extractions: Mapping[str, Extraction], summarise: LLM | None = None, max_tokens: int = 300) -> KnowledgeGraph:
    """Merge ``passage id -> extraction`` into one graph; nothing gives an empty graph.

    A type is the majority's, ties to the earliest, "unknown" only if no record names one. Descriptions are
    joined with spaces, each once; if that is longer than ``max_tokens`` word pieces and ``summarise`` is given,
    the model combines them. Strengths add up over records, but a record that a passage repeats word for word
    (gleaning does that) counts once. A relation of a name with itself is dropped, as is a name with no letters.
    """
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, got {max_tokens}")
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    types: defaultdict[str, Counter[str]] = defaultdict(Counter)
    texts: defaultdict[Any, dict[str, None]] = defaultdict(dict)  # a dict keeps the order and drops repeats
    sources: defaultdict[Any, dict[str, None]] = defaultdict(dict)
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    claims: defaultdict[MergedClaim, dict[str, None]] = defaultdict(dict)

    def mention(name: str, passage: str) -> str:
        key = entity_key(name)
        if key:
            spellings[key][re.sub(r"\s+", " ", html.unescape(name)).strip(_QUOTES + " ")] += 1
            sources[key][passage] = None
        return key

    for passage, extraction in extractions.items():
        for entity in _each_once(extraction.entities):
            if key := mention(entity.name, passage):
                if kind := entity.type.strip().casefold():
                    types[key][kind] += 1
                texts[key][entity.description] = None
        for relation in _each_once(extraction.relations):
            a, b = sorted((mention(relation.source, passage), mention(relation.target, passage)))
            if a and a != b:
                weights[a, b] += relation.strength
                texts[a, b][relation.description] = None
                sources[a, b][passage] = None
        for claim in _each_once(extraction.claims):
            target = "" if claim.object.strip().upper() in {"", "NONE"} else mention(claim.object, passage)
            if subject := mention(claim.subject, passage):
                head = (subject, target, claim.type, claim.status.upper())
                claims[MergedClaim(*head, claim.start, claim.end, claim.description, ())][passage] = None

    def describe(key: Any, name: str) -> str:
        parts = [text for text in texts[key] if text]
        joined = " ".join(parts)
        if summarise is None or len(parts) < 2 or count_tokens(joined) <= max_tokens:
            return joined
        return summarise(summary_prompt(name, parts)).strip()

    # most_common keeps the order of first mention among equals: that is the tie rule.
    names = {key: spellings[key].most_common(1)[0][0] for key in spellings}
    nodes = {
        key: Node(key, name, _majority(types[key]), describe(key, name), tuple(sources[key]))
        for key, name in names.items()
    }
    edges = {
        (a, b): Edge(a, b, w, describe((a, b), f"{names[a]} and {names[b]}"), tuple(sources[a, b]))
        for (a, b), w in weights.items()
    }
    merged = tuple(claim._replace(passages=tuple(ids)) for claim, ids in claims.items())
    return KnowledgeGraph(nodes, edges, merged)


def _majority(votes: Counter[str]) -> str:
    known = Counter({kind: n for kind, n in votes.items() if kind != UNKNOWN})
    return known.most_common(1)[0][0] if known else UNKNOWN


def _each_once(records: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(records))
