"""RAPTOR: a tree of summaries over passages, searched on all its levels.

Sarthi et al., *RAPTOR: Recursive Abstractive Processing for Tree-Organized Retrieval* (ICLR 2024). Passages are the
leaves; they are clustered by meaning (``raptor_clusters``), a model summarises each cluster, and the summaries are
clustered and summarised in turn, until few enough are left. Two ways to search: *collapsed* ranks all nodes
together and fills a token budget, *traversal* goes down from the top, the best ``k`` children at a time.

Both paper and released code stop filling a budget at the first node that does not fit; ``skip=True`` goes on to
shorter ones. The code's ``selection_mode="threshold"`` keeps nodes whose *distance* is above the threshold, the far
ones; ``min_score`` here keeps those whose similarity reaches it. Left out: inserting passages into a finished tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.base import LLM, Embedder, Hit, Passage, check_k, check_unique
from ragkit.chunk import sentence_chunks
from ragkit.index.raptor_clusters import clusters
from ragkit.search.dense import Dense
from ragkit.text import count_tokens, fill

PROMPT = """\
Summarise the passages below together, in at most $words words, as one text.
Keep the names, numbers, dates and codes, and say what the passages have in common. Add nothing.

$passages

Summary:"""
_SEPARATOR = "\n\n"
Groups: TypeAlias = Sequence[Sequence[Sequence[str]]]
"""Layer by layer, the clusters as ids of the layer below."""


@dataclass(frozen=True, slots=True)
class Node:
    """A leaf (layer 0, a passage under its own id) or a summary of its ``children``, ids of the layer below."""

    id: str
    text: str
    layer: int
    children: tuple[str, ...]
    tokens: int


def cluster_prompt(texts: Sequence[str], words: int = 100) -> str:
    """The prompt that asks for one summary of a cluster's texts."""
    if words < 1:
        raise ValueError(f"words must be at least 1, got {words}")
    return fill(PROMPT, passages=_SEPARATOR.join(texts), words=words)


class Raptor:
    """The tree over ``passages``; calling it searches the collapsed tree.

    ``options`` go to ``raptor_clusters.clusters``. A layer is the last if it has at most ``dimensions + 1`` nodes,
    if its clusters are no fewer than its nodes, or if it is layer ``max_layers``. One model call a cluster. An empty
    reply is replaced by the head of what was to be summarised, so that no node is lost. Texts longer than
    ``token_limit`` enter a prompt cut to it. No passages make a tree without nodes, and it finds nothing.

    ``groups`` are clusters found before, one list a layer, each cluster as the ids of its members: the tree gets just
    these layers, and nothing is clustered. A tree's own are in ``tree.groups``. The ids of summaries are
    ``raptor-1-0``, ``raptor-1-1`` and so on, by layer and position.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        embed: Embedder,
        llm: LLM,
        *,
        max_layers: int = 5,
        words: int = 100,
        dimensions: int = 10,
        token_limit: int = 3500,
        groups: Groups | None = None,
        **options: Any,
    ) -> None:
        if max_layers < 0:
            raise ValueError(f"max_layers must be at least 0, got {max_layers}")
        check_unique([p.id for p in passages], "passages")
        self.calls = 0
        self.layers: list[list[Node]] = []
        self.nodes: dict[str, Node] = {}
        rows: list[NDArray[np.float32]] = []
        layer = [Node(p.id, p.full_text, 0, (), count_tokens(p.full_text)) for p in passages]
        while layer:
            vectors = Dense([Passage(n.id, n.text) for n in layer], embed).vectors
            self.layers.append(layer)
            self.nodes.update((node.id, node) for node in layer)
            rows.append(vectors)
            if groups is not None:
                found = _positions(layer, groups[len(self.layers) - 1]) if len(self.layers) <= len(groups) else []
            elif len(layer) <= dimensions + 1 or len(self.layers) > max_layers:
                break
            else:
                lengths = [node.tokens for node in layer]
                found = clusters(vectors, lengths, dimensions=dimensions, token_limit=token_limit, **options)
                if len(found) >= len(layer):
                    break
            layer = [
                self._summary([layer[i] for i in group], j, llm, words, token_limit) for j, group in enumerate(found)
            ]
        all_nodes = [Passage(node.id, node.text) for node in self.nodes.values()]
        if len(all_nodes) < sum(map(len, self.layers)):
            raise ValueError("passages holds an id that looks like a summary's, such as 'raptor-1-0'")
        self.index = Dense(all_nodes, embed, np.concatenate(rows)) if rows else Dense([], embed)

    @property
    def groups(self) -> list[list[tuple[str, ...]]]:
        """The clusters of each layer, as ids: what the constructor takes as ``groups``."""
        return [[node.children for node in layer] for layer in self.layers[1:]]

    def _summary(self, parts: Sequence[Node], number: int, llm: LLM, words: int, token_limit: int) -> Node:
        texts = [n.text if n.tokens <= token_limit else _head(n.text, token_limit) for n in parts]
        self.calls += 1
        text = " ".join(llm(cluster_prompt(texts, words)).split()) or _head(_SEPARATOR.join(texts), 2 * words)
        layer = parts[0].layer + 1
        return Node(f"raptor-{layer}-{number}", text, layer, tuple(n.id for n in parts), count_tokens(text))

    def scores(self, query: str) -> dict[str, float]:
        """Node id -> cosine with the query, leaves first, then layer by layer; a blank query gives ``{}``."""
        if not query.strip():
            return {}
        return dict(zip(self.nodes, self.index.scores(query).tolist(), strict=True))

    def __call__(self, query: str, k: int) -> list[Hit]:
        """The ``k`` nearest nodes of any layer; ties go to the lower layer, then to position."""
        return self.index(query, k)

    def collapsed(self, query: str, budget: int = 2000, k: int | None = None, skip: bool = False) -> list[Hit]:
        """The nearest nodes of all layers within ``budget`` tokens, and at most ``k`` if given.

        The first node that does not fit ends the list (paper and code); with ``skip`` it is passed over and shorter
        ones after it may fit. 2,000 is the paper's budget (the code's default is 3,500 and ``k`` = 10).
        """
        if budget < 0:
            raise ValueError(f"budget must be at least 0, got {budget}")
        chosen: list[Hit] = []
        left = budget
        most = len(self.nodes) if k is None else k
        check_k(most)
        for hit in self(query, len(self.nodes)):
            if len(chosen) == most:
                break
            if self.nodes[hit.id].tokens <= left:
                chosen.append(hit)
                left -= self.nodes[hit.id].tokens
            elif not skip:
                break
        return chosen

    def traverse(
        self, query: str, k: int, start: int | None = None, layers: int | None = None, min_score: float | None = None
    ) -> list[Hit]:
        """The best ``k`` of layer ``start`` (the top), then the best ``k`` of their children, and so on down.

        All nodes chosen on the way are returned, top first, best first within a layer, ties to the child met first.
        ``layers`` bounds how many are visited (all down to the leaves). With ``min_score`` a node must reach that
        cosine too.
        """
        check_k(k)
        top = len(self.layers) - 1
        start = top if start is None else start
        layers = start + 1 if layers is None else layers
        if self.layers and not 0 <= start <= top:
            raise ValueError(f"start must be a layer from 0 to {top}, got {start}")
        if self.layers and not 1 <= layers <= start + 1:
            raise ValueError(f"layers must lie between 1 and start + 1 = {start + 1}, got {layers}")
        scores = self.scores(query)
        chosen: list[Hit] = []
        candidates = [node.id for node in self.layers[start]] if scores else []
        for _ in range(layers):
            best = sorted(candidates, key=lambda an_id: -scores[an_id])[:k]  # stable: ties by position
            best = [an_id for an_id in best if min_score is None or scores[an_id] >= min_score]
            chosen += [Hit(an_id, self.nodes[an_id].text, scores[an_id]) for an_id in best]
            candidates = list(dict.fromkeys(child for an_id in best for child in self.nodes[an_id].children))
        return chosen

    def leaves(self, an_id: str) -> list[str]:
        """The ids of the passages below a node, each once, in the order of the tree; a leaf gives itself."""
        layer = [an_id]
        while self.nodes[layer[0]].children:
            layer = list(dict.fromkeys(child for parent in layer for child in self.nodes[parent].children))
        return layer

    def passages(self, query: str, k: int) -> list[Hit]:
        """A retriever of passages, for measures that know no summaries: the collapsed ranking, summaries unfolded.

        In the ranking's order a leaf gives itself and a summary the passages below it, nearest first. The score is
        that of the node that brought the passage in. This reading is ours.
        """
        check_k(k)
        scores = self.scores(query)
        found: dict[str, Hit] = {}
        for hit in self(query, len(self.nodes)):
            for leaf in sorted(self.leaves(hit.id), key=lambda an_id: -scores[an_id]):
                found.setdefault(leaf, Hit(leaf, self.nodes[leaf].text, hit.score))
            if len(found) >= k:
                break
        return list(found.values())[:k]


def _positions(layer: Sequence[Node], groups: Sequence[Sequence[str]]) -> list[tuple[int, ...]]:
    """Clusters of ids as positions in the layer; an empty cluster and an id that is not there are ``ValueError``."""
    place = {node.id: i for i, node in enumerate(layer)}
    for group in groups:
        if not group:
            raise ValueError("groups holds a cluster without members")
        if missing := [an_id for an_id in group if an_id not in place]:
            raise ValueError(f"groups names {missing[0]!r}, which is not in the layer below")
    return [tuple(place[an_id] for an_id in group) for group in groups]


def _head(text: str, budget: int) -> str:
    """Whole sentences from the start of ``text`` within ``budget`` tokens."""
    return next(iter(sentence_chunks(text, budget)), "").strip()
