"""Personalized PageRank beside networkx and igraph: one seed set, and a batch of 64.

    python benchmarks/speed_pagerank.py [--small]

A directed graph of a million weighted edges whose targets follow Zipf's law, ten edges a node on average, so that some
nodes are hubs and some lead nowhere. All sides solve to the same bound on the L1 error, 1e-10, which is what igraph's
PRPACK keeps. The batch is one sparse-matrix times dense-matrix product a step; the peers have no such call and go
through the seed sets one by one (networkx through two of them: the time is for one seed set in every row).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import igraph
import networkx as nx
import numpy as np
from _measure import Side, Task, run, zipf_ranks
from numpy.typing import NDArray

from ragkit.graph.pagerank import Transition, pagerank, transition

RESTART, TOLERANCE, BATCH = 0.15, 1e-10, 64


def random_edges(size: int) -> dict[tuple[str, str], float]:
    """``size`` distinct directed edges with weights 1 to 9; node names are strings, as in an entity graph."""
    nodes, rng = size // 10, np.random.default_rng(1)
    codes = np.zeros(0, dtype=np.int64)
    seed = 2
    while len(codes) < size:  # duplicates among the hubs go, so draw until there are enough
        # A fifth of the nodes are never a source: their mass returns to the seeds.
        source, target = rng.integers(0, nodes * 4 // 5, size), rng.permutation(nodes)[zipf_ranks(size, nodes, seed)]
        codes = np.unique(np.concatenate([codes, source * nodes + target]))
        seed += 1
    chosen = rng.permutation(codes)[:size]
    weights = rng.integers(1, 10, size).astype(float).tolist()
    pairs = zip((chosen // nodes).tolist(), (chosen % nodes).tolist(), strict=True)
    return {(f"entity {a}", f"entity {b}"): w for (a, b), w in zip(pairs, weights, strict=True)}


def tasks(size: int) -> list[Task]:
    edges = random_edges(size)
    names = list(dict.fromkeys(end for pair in edges for end in pair))
    index = {name: i for i, name in enumerate(names)}
    rng = np.random.default_rng(5)
    batch = [dict.fromkeys((names[i] for i in rng.integers(0, len(names), 5)), 1.0) for _ in range(BATCH)]

    @cache
    def graph() -> Transition:
        return transition(edges)

    @cache
    def networkx_graph() -> nx.DiGraph:
        made = nx.DiGraph()
        made.add_weighted_edges_from((a, b, w) for (a, b), w in edges.items())
        return made

    @cache
    def igraph_graph() -> igraph.Graph:
        made = igraph.Graph(n=len(names), edges=[(index[a], index[b]) for a, b in edges], directed=True)
        made.es["weight"] = list(edges.values())
        return made

    def ours(seed_sets: list[dict[str, float]]) -> NDArray[np.float64]:
        columns = np.column_stack([graph().seeds(seeds) for seeds in seed_sets])
        found = pagerank(graph(), columns[:, 0] if len(seed_sets) == 1 else columns, RESTART, TOLERANCE)
        assert found.error <= TOLERANCE
        return found.scores.reshape(len(names), -1)

    def by_networkx(seeds: dict[str, float]) -> dict[str, float]:
        # Its tol is for one node and one step; this one stops it where ours stops.
        tol = TOLERANCE * RESTART / (1 - RESTART) / len(names)
        return nx.pagerank(networkx_graph(), 1 - RESTART, personalization=seeds, tol=tol, max_iter=1_000)

    def by_igraph(seeds: dict[str, float]) -> list[float]:
        reset = [index[name] for name in seeds]  # all seeds weigh the same
        return igraph_graph().personalized_pagerank(damping=1 - RESTART, reset_vertices=reset, weights="weight")

    def agree() -> None:
        found = ours(batch)
        assert list(graph().nodes) == names
        np.testing.assert_allclose(ours(batch[:1])[:, 0], found[:, 0], atol=1e-9)
        for column, seeds in list(zip(found.T, batch, strict=True))[:2]:
            theirs = by_networkx(seeds)
            np.testing.assert_allclose(column, [theirs[name] for name in names], atol=1e-8)
        for column, seeds in zip(found.T, batch, strict=True):
            np.testing.assert_allclose(column, by_igraph(seeds), atol=1e-8)

    def sides(seed_sets: list[dict[str, float]], few: list[dict[str, float]]) -> list[Side]:
        def each(work: Any, chosen: list[dict[str, float]]) -> Any:
            return lambda: [work(seeds) for seeds in chosen]

        return [
            Side("ragkit", lambda: ours(seed_sets), len(seed_sets)),
            Side("networkx", each(by_networkx, few), len(few)),
            Side("igraph", each(by_igraph, seed_sets), len(seed_sets)),
        ]

    return [
        Task("one seed set", "seed set", sides(batch[:1], batch[:1]), agree),
        Task(f"batch of {BATCH}", "seed set", sides(batch, batch[:2]), lambda: None),
    ]


if __name__ == "__main__":
    packages = ("networkx", "igraph", "numpy", "scipy")
    raise SystemExit(run(__doc__, tasks, (250_000, 1_000_000), (2_000, 8_000), packages))
