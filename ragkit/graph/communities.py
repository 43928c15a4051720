"""Communities of a weighted graph: Louvain, Leiden, and GraphRAG's hierarchy of levels.

Louvain (Blondel et al., 2008) comes from networkx, Leiden (Traag et al., 2019) from leidenalg, the hierarchy from
graspologic-native, which GraphRAG uses too. Leiden promises connected communities, Louvain does not. All are seeded,
edges are sorted before a library sees them, and nodes without edges stay, each in a community of its own.

Around the libraries stand the two things that callers get wrong. A hierarchy is not a stack of covers: only a
community larger than ``max_size`` is split again, so the deeper level holds only a part of the nodes, and ``cover``
takes for each node its deepest community down to a level. And ``max_size`` is no cap: a clique cannot be split.
Left out: overlapping communities, and updating a partition when documents are added.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import graspologic_native
import igraph
import leidenalg
import networkx as nx

Weights = Mapping[tuple[str, str], float]


class Community(NamedTuple):
    """One community of a hierarchy. Level 0 is the coarsest; ``parent`` is -1 there; ``members`` are sorted."""

    id: int
    level: int
    parent: int
    members: tuple[str, ...]


def _clean(edges: Weights, nodes: Iterable[str]) -> tuple[list[str], list[tuple[str, str, float]]]:
    """Sorted node names and sorted undirected edges; both directions of a pair add up, self-loops and 0 go."""
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    names = set(nodes)
    for (a, b), weight in edges.items():
        if not weight >= 0:
            raise ValueError(f"edges holds the weight {weight} for {(a, b)}; weights must be at least 0")
        names.update((a, b))
        if a != b and weight > 0:
            weights[min(a, b), max(a, b)] += float(weight)
    return sorted(names), [(a, b, w) for (a, b), w in sorted(weights.items())]


def _ordered(groups: Iterable[Iterable[str]]) -> list[list[str]]:
    """Members sorted; most members first, ties by the first member.

    >>> _ordered([{"c"}, {"b", "a"}, {"d"}])
    [['a', 'b'], ['c'], ['d']]
    """
    return sorted((sorted(group) for group in groups), key=lambda group: (-len(group), group[0]))


def _networkx(edges: Weights, nodes: Iterable[str]) -> Any:
    names, pairs = _clean(edges, nodes)
    graph = nx.Graph()
    graph.add_nodes_from(names)
    graph.add_weighted_edges_from(pairs)
    return graph


def louvain(edges: Weights, nodes: Iterable[str] = (), seed: int = 0, resolution: float = 1.0) -> list[list[str]]:
    """Louvain's partition; ``nodes`` may add isolated ones; an empty graph gives ``[]``."""
    graph = _networkx(edges, nodes)
    if not graph:
        return []
    return _ordered(nx.community.louvain_communities(graph, weight="weight", resolution=resolution, seed=seed))


def leiden(edges: Weights, nodes: Iterable[str] = (), seed: int = 0, resolution: float = 1.0) -> list[list[str]]:
    """Leiden's partition for modularity with ``resolution``, iterated until it is stable."""
    names, pairs = _clean(edges, nodes)
    if not names:
        return []
    index = {name: i for i, name in enumerate(names)}
    graph = igraph.Graph(n=len(names), edges=[(index[a], index[b]) for a, b, _ in pairs])
    partition = leidenalg.find_partition(
        graph,
        leidenalg.RBConfigurationVertexPartition,
        weights=[w for _, _, w in pairs],
        resolution_parameter=resolution,
        seed=seed,
        n_iterations=-1,
    )
    return _ordered([names[i] for i in part] for part in partition)


def modularity(
    edges: Weights, partition: Iterable[Iterable[str]], nodes: Iterable[str] = (), resolution: float = 1.0
) -> float:
    """Newman's weighted modularity of a partition of all nodes; 0.0 for a graph without edges.

    ValueError if a node is in no part or in two.
    """
    parts = [set(part) for part in partition]
    graph = _networkx(edges, nodes)
    if not nx.community.is_partition(graph, parts):
        raise ValueError("partition must hold every node of the graph exactly once")
    if graph.number_of_edges() == 0:
        return 0.0
    return float(nx.community.modularity(graph, parts, weight="weight", resolution=resolution))


def hierarchy(
    edges: Weights,
    nodes: Iterable[str] = (),
    max_size: int = 10,
    seed: int = 0xDEADBEEF,
    resolution: float = 1.0,
) -> list[Community]:
    """Hierarchical Leiden: communities of all levels, coarsest first, ids counting up from 0.

    Within a level the order is by size, then by first member, so that equal graphs have equal ids. A community
    larger than ``max_size`` is split again if that is possible. The defaults are GraphRAG's, but for the largest
    component: here all components are kept, and isolated nodes become communities of level 0.
    """
    if max_size < 1:
        raise ValueError(f"max_size must be at least 1, got {max_size}")
    names, pairs = _clean(edges, nodes)
    members: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    parents: dict[tuple[int, int], int] = {}
    if pairs:  # the library raises EmptyNetworkError on an empty list
        for row in graspologic_native.hierarchical_leiden(
            pairs,
            resolution=resolution,
            randomness=0.001,
            iterations=1,
            use_modularity=True,
            max_cluster_size=max_size,
            seed=seed,
        ):
            members[row.level, row.cluster].append(row.node)
            parents[row.level, row.cluster] = -1 if row.parent_cluster is None else row.parent_cluster
    linked = {end for a, b, _ in pairs for end in (a, b)}
    for i, name in enumerate(name for name in names if name not in linked):
        members[0, -2 - i].append(name)  # negative numbers cannot meet the library's
        parents[0, -2 - i] = -1
    found: list[Community] = []
    new_id = {-1: -1}
    for key in sorted(members, key=lambda k: (k[0], -len(members[k]), min(members[k]))):
        new_id[key[1]] = len(found)
        found.append(Community(len(found), key[0], new_id[parents[key]], tuple(sorted(members[key]))))
    return found


def cover(communities: Sequence[Community], level: int) -> dict[str, int]:
    """Node -> id of its deepest community at ``level`` or above: GraphRAG's roll-up.

    A community that was not split again stands for its members at every deeper level, so each node of level 0 has
    an entry whatever the level.
    """
    if level < 0:
        raise ValueError(f"level must be at least 0, got {level}")
    chosen: dict[str, int] = {}
    for community in sorted(communities, key=lambda c: c.level):
        if community.level <= level:
            chosen.update(dict.fromkeys(community.members, community.id))
    return dict(sorted(chosen.items()))


def at_level(communities: Sequence[Community], level: int) -> list[Community]:
    """The communities that ``cover`` uses at ``level``: those whose reports answer a question at that level."""
    used = set(cover(communities, level).values())
    return [community for community in communities if community.id in used]
