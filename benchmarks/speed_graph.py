"""Entity graph and communities beside networkx.

    python benchmarks/speed_graph.py [--small]

A chunk names five entities and so gives ten co-occurrences: 100,000 chunks are a million. Most names of a chunk come
from one topic, by Zipf's law, so there are communities to find. Three tasks: counting pairs, the components of the
pairs seen at least twice, and communities by modularity (ours is leidenalg's Leiden behind `ragkit.graph.communities`,
networkx' is Louvain; both from the same counts, both with their own graph to build).
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import networkx as nx
import numpy as np
from _measure import Side, Task, run, word, zipf_ranks

from ragkit.graph.communities import leiden, modularity
from ragkit.graph.entity_graph import communities, entity_graph

NAMES, PAIRS = 5, 10


def chunks(count: int) -> list[list[str]]:
    """``count`` lists of five distinct names, each topic with 100 names of its own."""
    topics, rng = max(4, count // 500), np.random.default_rng(0)
    topic = rng.integers(0, topics, (count, 1))
    topic = np.where(rng.random((count, 3 * NAMES)) < 0.95, topic, rng.integers(0, topics, (count, 3 * NAMES)))
    numbers = topic * 100 + zipf_ranks(topic.size, 100, seed=1).reshape(topic.shape)
    found = (list(dict.fromkeys(row))[:NAMES] for row in numbers.tolist())
    return [[word(number) for number in row] for row in found]


def tasks(size: int) -> list[Task]:
    given = chunks(size // PAIRS)

    @cache
    def pairs() -> dict[tuple[str, str], int]:
        return entity_graph(given)

    def networkx_graph() -> nx.Graph:
        graph = nx.Graph()
        for names in given:
            for a, b in combinations(sorted(set(names)), 2):
                if graph.has_edge(a, b):
                    graph[a][b]["weight"] += 1
                else:
                    graph.add_edge(a, b, weight=1)
        return graph

    def from_pairs(least: int) -> nx.Graph:
        graph = nx.Graph()
        graph.add_weighted_edges_from((a, b, w) for (a, b), w in pairs().items() if w >= least)
        return graph

    def their_components() -> list[set[str]]:
        return list(nx.connected_components(from_pairs(2)))

    def louvain() -> list[set[str]]:
        return nx.community.louvain_communities(from_pairs(1), weight="weight", seed=0)

    def agree_on_pairs() -> None:
        graph = networkx_graph()
        assert graph.number_of_edges() == len(pairs())
        assert all(graph[a][b]["weight"] == weight for (a, b), weight in pairs().items())

    def agree_on_components() -> None:
        own = communities(pairs(), 2)
        assert sorted(own) == sorted(sorted(part) for part in their_components())

    def agree_on_modularity() -> None:
        own, other = modularity(pairs(), leiden(pairs())), modularity(pairs(), louvain())
        assert own >= other - 0.01, f"Leiden {own:.3f}, networkx' Louvain {other:.3f}"

    return [
        Task(
            "count pairs",
            "graph",
            [Side("ragkit", lambda: entity_graph(given)), Side("networkx", networkx_graph)],
            agree_on_pairs,
        ),
        Task(
            "components",
            "graph",
            [Side("ragkit", lambda: communities(pairs(), 2)), Side("networkx", their_components)],
            agree_on_components,
        ),
        Task(
            "communities",
            "graph",
            [Side("ragkit, Leiden", lambda: leiden(pairs())), Side("networkx, Louvain", louvain)],
            agree_on_modularity,
        ),
    ]


if __name__ == "__main__":
    packages = ("networkx", "leidenalg", "igraph", "numpy")
    raise SystemExit(run(__doc__, tasks, (250_000, 1_000_000), (5_000, 20_000), packages))
