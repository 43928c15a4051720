"""Personalized PageRank by power iteration, sparse (Page et al., 1999, section 6; Haveliwala, 2002).

``r <- restart * p + (1 - restart) * (P^T r + (dangling mass) * p)`` where ``P`` is the row-stochastic transition
matrix and ``p`` the seed distribution. ``restart`` is the probability of returning to the seeds; networkx and
igraph call ``1 - restart`` alpha and damping. The mass that sits on nodes without out-edges goes to the seeds, as
in both libraries; otherwise scores would not sum to 1.

Iterations are sparse products, one for a whole batch of seed sets; ``benchmarks/speed_pagerank.py`` shows them beside
both libraries on a million edges.

Left out: push methods that touch only the neighbourhood of the seeds (Andersen et al., 2006), and sampling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Transition:
    """A graph made ready for the iteration.

    ``nodes`` are the names in the order of all vectors, ``matrix`` is the (n, n) sparse ``P^T`` (column ``j`` holds
    where node ``j`` leads), ``dangling`` is the (n,) mask of nodes without out-edges.
    """

    nodes: tuple[str, ...]
    matrix: Any
    dangling: NDArray[np.bool_]

    @cached_property
    def index(self) -> dict[str, int]:
        """Node -> its position in all vectors."""
        return {node: i for i, node in enumerate(self.nodes)}

    def seeds(self, weights: Mapping[str, float]) -> Float:
        """Seed weights as an (n,) vector that sums to 1; unknown names are ignored; ValueError if nothing is left."""
        vector = np.zeros(len(self.nodes))
        for node, weight in weights.items():
            if node in self.index:
                vector[self.index[node]] = weight
        return _distribution(vector[:, None])[:, 0]


class PageRank(NamedTuple):
    """Scores of shape ``(n,)`` or ``(n, q)``, columns summing to 1; steps taken; a bound on the L1 error."""

    scores: Float
    steps: int
    error: float


def transition(edges: Mapping[tuple[str, str], float], directed: bool = True, nodes: Sequence[str] = ()) -> Transition:
    """The transition matrix of a weighted graph.

    ``edges`` maps ``(from, to)`` to a weight of at least 0 (an edge of weight 0 is no edge); undirected, both
    directions are walked, and ``(a, b)`` and ``(b, a)`` add up. A self-loop is an ordinary edge. Nodes stand in the
    order ``nodes`` first, then by first appearance; ``nodes`` may add isolated ones.
    """
    names = dict.fromkeys([*nodes, *(end for pair in edges for end in pair)])
    index = {name: i for i, name in enumerate(names)}
    weights = np.array(list(edges.values()), dtype=np.float64)
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise ValueError("edges holds a weight that is negative or not finite")
    source = np.array([index[a] for a, _ in edges], dtype=np.intp)
    target = np.array([index[b] for _, b in edges], dtype=np.intp)
    if not directed:
        loop = source == target  # a self-loop is one edge however one looks at it
        source, target = np.concatenate([source, target[~loop]]), np.concatenate([target, source[~loop]])
        weights = np.concatenate([weights, weights[~loop]])
    n = len(index)
    matrix = sparse.coo_matrix((weights, (target, source)), shape=(n, n)).tocsr()  # duplicates are summed here
    out = np.asarray(matrix.sum(axis=0)).ravel()
    scale = np.divide(1.0, out, out=np.zeros(n), where=out > 0)
    return Transition(tuple(index), (matrix @ sparse.diags(scale)).tocsr(), out == 0)


def _distribution(seeds: Float) -> Float:
    if not np.all(np.isfinite(seeds)) or np.any(seeds < 0):
        raise ValueError("seeds holds a weight that is negative or not finite")
    total = seeds.sum(axis=0)
    if seeds.shape[0] == 0 or np.any(total <= 0):
        raise ValueError("seeds has no positive weight on any node of the graph: there is nowhere to restart")
    return np.asarray(seeds / total)


def steps(graph: Transition, seeds: ArrayLike, restart: float = 0.15) -> Iterator[Float]:
    """The vectors of the iteration, one a step, beginning with the seeds themselves; endless.

    ``seeds`` is ``(n,)``, or ``(n, q)`` for ``q`` seed sets at once: a step is then one sparse-dense product, which
    costs far less than ``q`` separate ones.
    """
    if not 0.0 <= restart <= 1.0:
        raise ValueError(f"restart must be in [0, 1], got {restart}")
    given = np.asarray(seeds, dtype=np.float64)
    if given.ndim not in (1, 2) or given.shape[0] != len(graph.nodes):
        raise ValueError(f"seeds must have {len(graph.nodes)} rows, one a node, got shape {given.shape}")
    p = _distribution(given.reshape(len(graph.nodes), -1))
    r = p
    while True:
        yield r.reshape(given.shape).copy()
        lost = r[graph.dangling].sum(axis=0)
        r = restart * p + (1.0 - restart) * (graph.matrix @ r + p * lost)


def pagerank(
    graph: Transition, seeds: ArrayLike, restart: float = 0.15, tolerance: float = 1e-10, max_steps: int = 1000
) -> PageRank:
    """Iterate until every column is within ``tolerance`` (L1) of the fixed point, or for ``max_steps``.

    A step shrinks the error by ``1 - restart``, so the last change times ``(1 - restart) / restart`` bounds what
    is left; ``error`` is that bound, and a value above ``tolerance`` says that ``max_steps`` was too few. At
    ``restart = 0`` there is no such bound and perhaps no limit (a cycle of two nodes swings for ever): then the
    last change itself is reported.
    """
    if max_steps < 1:
        raise ValueError(f"max_steps must be at least 1, got {max_steps}")
    factor = (1.0 - restart) / restart if restart > 0 else 1.0
    walk = steps(graph, seeds, restart)
    r = next(walk)
    taken, error = 0, np.inf
    while taken < max_steps and error > tolerance:
        before, r = r, next(walk)
        taken += 1
        error = factor * float(np.abs(r - before).sum(axis=0).max())
    return PageRank(r, taken, error)


def personalized_pagerank(
    edges: Sequence[tuple[str, str]], seeds: Sequence[str], alpha: float, iterations: int
) -> dict[str, float]:
    """The walk on a list of directed edges, exactly ``iterations`` steps from the uniform seeds.

    ``alpha`` is the probability of restarting (``restart`` elsewhere). A repeated edge counts each time, a repeated
    seed once; an unknown seed is ignored, and none known (or no edges) is a ValueError. Returns a score for every
    node of ``edges``, in order of first appearance.

    >>> personalized_pagerank([("A", "B"), ("B", "C"), ("C", "A")], ["A"], alpha=0.15, iterations=1)
    {'A': 0.15, 'B': 0.85, 'C': 0.0}
    """
    if isinstance(iterations, bool) or iterations < 0:
        raise ValueError(f"iterations must be at least 0, got {iterations}")
    counts: dict[tuple[str, str], float] = {}
    for source, target in edges:
        counts[source, target] = counts.get((source, target), 0.0) + 1.0
    graph = transition(counts)
    walk = steps(graph, graph.seeds(dict.fromkeys(seeds, 1.0)), alpha)
    for _ in range(iterations):
        next(walk)
    return dict(zip(graph.nodes, next(walk).tolist(), strict=True))
