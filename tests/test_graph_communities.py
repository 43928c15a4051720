"""Louvain, Leiden and the hierarchy, against networkx, igraph and a stored GraphRAG index."""

from __future__ import annotations

import os
from pathlib import Path

import graspologic_native
import igraph
import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.graph.communities import Community, at_level, cover, hierarchy, leiden, louvain, modularity

DATA = Path(os.environ.get("RAGKIT_DATA") or Path(__file__).resolve().parents[1] / "../shared/data")
CAROL = DATA / "graphrag_christmas_carol"
EDGES = st.dictionaries(
    st.tuples(st.sampled_from("abcdefghij"), st.sampled_from("abcdefghij")), st.floats(0.5, 5.0), max_size=25
)


def karate() -> dict[tuple[str, str], float]:
    return {(f"{a:02}", f"{b:02}"): float(w) for a, b, w in nx.karate_club_graph().edges(data="weight")}


def two_cliques(n: int) -> dict[tuple[str, str], float]:
    left = {(f"l{i}", f"l{j}"): 1.0 for i in range(n) for j in range(i)}
    right = {(f"r{i}", f"r{j}"): 1.0 for i in range(n) for j in range(i)}
    return {**left, **right, ("l0", "r0"): 1.0}


@pytest.mark.parametrize("method", [louvain, leiden])
def test_two_cliques_joined_by_one_edge_come_apart(method) -> None:
    parts = method(two_cliques(5))
    assert parts == [[f"l{i}" for i in range(5)], [f"r{i}" for i in range(5)]]


@pytest.mark.parametrize("method", [louvain, leiden])
def test_an_empty_graph_is_an_empty_list_and_isolated_nodes_stay(method) -> None:
    assert method({}) == []
    assert method({}, nodes=["b", "a"]) == [["a"], ["b"]]
    assert method({("a", "b"): 1.0}, nodes=["z"]) == [["a", "b"], ["z"]]


@pytest.mark.parametrize("method", [louvain, leiden])
def test_the_same_seed_gives_the_same_answer_in_whatever_order_the_edges_come(method) -> None:
    edges = karate()
    turned = {(b, a): w for (a, b), w in reversed(edges.items())}
    assert method(edges, seed=3) == method(edges, seed=3) == method(turned, seed=3)


@given(EDGES)
@settings(max_examples=50, deadline=None)
def test_leiden_communities_are_connected_and_partition_the_nodes(edges) -> None:
    parts = leiden(edges)
    names = {end for pair in edges for end in pair}
    assert sorted(name for part in parts for name in part) == sorted(names)
    graph = nx.Graph(list(edges))
    assert all(nx.is_connected(graph.subgraph(part)) for part in parts)


def test_modularity_agrees_with_igraph_and_the_textbook_value_of_two_triangles() -> None:
    edges = two_cliques(3)  # 7 edges: 2 (3/7 - (7/14)^2) = 5/14
    assert modularity(edges, [["l0", "l1", "l2"], ["r0", "r1", "r2"]]) == pytest.approx(5 / 14)
    club = karate()
    parts = leiden(club)
    names = sorted({end for pair in club for end in pair})
    graph = igraph.Graph(n=len(names), edges=[(names.index(a), names.index(b)) for a, b in club])
    member = {name: i for i, part in enumerate(parts) for name in part}
    theirs = graph.modularity([member[name] for name in names], weights=list(club.values()))
    assert modularity(club, parts) == pytest.approx(theirs)
    assert modularity(club, parts) >= modularity(club, louvain(club)) - 0.02


def test_modularity_of_a_graph_without_edges_is_zero_and_a_hole_is_an_error() -> None:
    assert modularity({}, []) == 0.0
    assert modularity({}, [["a"]], nodes=["a"]) == 0.0
    with pytest.raises(ValueError, match="partition"):
        modularity({("a", "b"): 1.0}, [["a"]])
    with pytest.raises(ValueError, match="partition"):
        modularity({("a", "b"): 1.0}, [["a", "b"], ["b"]])
    with pytest.raises(ValueError, match="edges"):
        modularity({("a", "b"): -1.0}, [["a", "b"]])


def test_reversed_duplicates_add_up_where_published_code_keeps_the_last() -> None:
    club = karate()
    halves = {pair: w / 2 for pair, w in club.items()} | {(b, a): w / 2 for (a, b), w in club.items()}
    parts = leiden(club)
    assert modularity(halves, parts) == pytest.approx(modularity(club, parts))


def pulled(weights: tuple[float, float]) -> dict[tuple[str, str], float]:
    """Two triangles and ``m``, tied to the left by 3 and to the right by a pair that is listed in both directions."""
    triangles = {(f"{side}{i}", f"{side}{j}"): 2.0 for side in "lr" for i, j in ((0, 1), (0, 2), (1, 2))}
    return {**triangles, ("l0", "m"): 3.0, ("m", "r0"): weights[0], ("r0", "m"): weights[1]}


@pytest.mark.parametrize("weights", [(4.0, 1.0), (1.0, 4.0), (2.5, 2.5)])
def test_the_weights_of_both_directions_add_up_whichever_row_is_the_last(weights) -> None:
    summed = ["m", "r0", "r1", "r2"]  # 5 pulls m to the right; the row of 1 or 2.5 alone would leave it on the left
    assert summed in louvain(pulled(weights))
    assert summed in leiden(pulled(weights))
    assert tuple(summed) in [c.members for c in hierarchy(pulled(weights)) if c.level == 0]
    assert modularity(pulled(weights), leiden(pulled(weights))) == pytest.approx(
        modularity(pulled((5.0, 0.0)), leiden(pulled((5.0, 0.0))))
    )


# A tree of eleven nodes on which Louvain's greedy moves can take the middle out of a community.
TREE = {
    ("a", "b"): 5.0, ("a", "c"): 5.0, ("a", "d"): 3.0, ("d", "e"): 5.0, ("a", "f"): 1.0,
    ("c", "g"): 5.0, ("a", "h"): 5.0, ("f", "i"): 5.0, ("e", "j"): 5.0, ("h", "k"): 5.0,
}  # fmt: skip


def test_louvain_may_leave_a_community_in_pieces_and_leiden_does_not() -> None:
    graph = nx.Graph(list(TREE))

    def in_pieces(method) -> int:
        runs = (method(TREE, seed=seed, resolution=0.3) for seed in range(40))
        return sum(not nx.is_connected(graph.subgraph(part)) for parts in runs for part in parts)

    assert in_pieces(louvain) > 0
    assert in_pieces(leiden) == 0


@pytest.mark.parametrize("method", [louvain, leiden])
def test_a_random_graph_has_communities_too_so_finding_some_proves_no_structure(method) -> None:
    graph = nx.gnp_random_graph(60, 0.08, seed=1)
    edges = {(f"{a:02}", f"{b:02}"): 1.0 for a, b in graph.edges}
    parts = method(edges)
    assert len([part for part in parts if len(part) > 2]) > 3
    assert modularity(edges, parts) > 0.25


@pytest.mark.parametrize("method", [louvain, leiden])
def test_weights_resolution_and_seed_reach_the_library(method) -> None:
    square = {("a", "b"): 9.0, ("c", "d"): 9.0, ("b", "c"): 1.0, ("a", "d"): 1.0}
    assert method(square) == [["a", "b"], ["c", "d"]]
    assert method({(a, d): 10 - w for (a, d), w in square.items()}) == [["a", "d"], ["b", "c"]]
    assert len(method(karate(), resolution=0.1)) == 1
    assert len(method(karate(), resolution=4.0)) > len(method(karate()))
    tied = {(f"{i:02}", f"{(i + 1) % 30:02}"): 1.0 for i in range(30)}  # a ring: where to cut is up to the seed
    assert len({str(method(tied, seed=seed)) for seed in range(10)}) > 1


def test_the_defaults_of_the_hierarchy_are_graphrags() -> None:
    club = karate()
    rows = graspologic_native.hierarchical_leiden(
        [(a, b, w) for (a, b), w in sorted(club.items())],
        resolution=1.0,
        randomness=0.001,
        iterations=1,
        use_modularity=True,
        max_cluster_size=10,
        seed=0xDEADBEEF,
    )
    theirs = {(row.level, row.cluster) for row in rows}
    members = {key: {row.node for row in rows if (row.level, row.cluster) == key} for key in theirs}
    assert len(theirs) > len({key for key in theirs if key[0] == 0})  # something was split again
    assert sorted((level, sorted(members[level, c])) for level, c in theirs) == sorted(
        (c.level, list(c.members)) for c in hierarchy(club)
    )
    assert sorted(c.level for c in hierarchy(club, resolution=3.0)) != sorted(c.level for c in hierarchy(club))


def test_all_components_are_kept_and_isolated_nodes_are_communities_of_level_zero() -> None:
    found = hierarchy({**two_cliques(4), ("x", "y"): 1.0}, nodes=["alone"])
    members = {name for c in found if c.level == 0 for name in c.members}
    assert members == {f"{side}{i}" for side in "lr" for i in range(4)} | {"x", "y", "alone"}
    assert Community(len(found) - 1, 0, -1, ("alone",)) in found


def test_an_empty_graph_has_no_hierarchy_where_the_library_raises() -> None:
    with pytest.raises(Exception, match="EmptyNetworkError"):
        graspologic_native.hierarchical_leiden([], seed=1)
    assert hierarchy({}) == []
    assert cover([], 3) == {}
    assert [c.members for c in hierarchy({}, nodes=["b", "a"])] == [("a",), ("b",)]
    with pytest.raises(ValueError, match="max_size"):
        hierarchy({}, max_size=0)
    with pytest.raises(ValueError, match="level"):
        cover([], -1)


def test_max_size_is_no_cap_since_a_clique_cannot_be_split() -> None:
    clique = {(f"{i:02}", f"{j:02}"): 1.0 for i in range(20) for j in range(i)}
    assert [len(c.members) for c in hierarchy(clique, max_size=5)] == [20]


def test_levels_nest_ids_count_up_and_parents_hold_their_children() -> None:
    found = hierarchy(karate(), nodes=["alone"], max_size=5)
    assert [c.id for c in found] == list(range(len(found)))
    assert max(c.level for c in found) >= 1
    by_id = {c.id: c for c in found}
    for c in found:
        if c.level == 0:
            assert c.parent == -1
        else:
            assert by_id[c.parent].level == c.level - 1
            assert set(c.members) <= set(by_id[c.parent].members)
    turned = {(b, a): w for (a, b), w in reversed(karate().items())}
    assert hierarchy(turned, nodes=["alone"], max_size=5) == found


def test_a_deeper_level_alone_does_not_cover_but_the_roll_up_does() -> None:
    found = hierarchy(karate(), nodes=["alone"], max_size=5)
    names = {name for pair in karate() for name in pair} | {"alone"}
    deepest = max(c.level for c in found)
    assert {name for c in found if c.level == deepest for name in c.members} < names
    for level in range(deepest + 2):
        chosen = cover(found, level)
        assert set(chosen) == names
        used = at_level(found, level)
        assert {c.id for c in used} == set(chosen.values())
        assert all(c.level <= level for c in used)
        for name, community in chosen.items():
            holding = [c for c in found if name in c.members and c.level <= level]
            assert community == max(holding, key=lambda c: c.level).id


@given(EDGES, st.integers(1, 4))
@settings(max_examples=50, deadline=None)
def test_level_zero_is_a_partition_of_all_nodes(edges, max_size: int) -> None:
    found = hierarchy(edges, nodes=["k"], max_size=max_size)
    names = {end for pair in edges for end in pair} | {"k"}
    assert sorted(m for c in found if c.level == 0 for m in c.members) == sorted(names)


@pytest.mark.skipif(not CAROL.is_dir(), reason="the stored index is not there")
def test_the_stored_index_of_a_christmas_carol_has_the_known_structure() -> None:
    pandas = pytest.importorskip("pandas")
    read = {n: pandas.read_parquet(CAROL / f"{n}.parquet") for n in ("entities", "relationships", "communities")}
    entities, relations, communities = read["entities"], read["relationships"], read["communities"]
    assert (len(entities), len(relations), len(communities)) == (529, 978, 122)
    title = dict(zip(entities.id, entities.title, strict=True))
    ends = {*relations.source, *relations.target}
    assert len(ends - set(entities.title)) == 32
    stored = [
        Community(c, level, parent, tuple(sorted(title[i] for i in ids)))
        for c, level, parent, ids in zip(
            communities.community, communities.level, communities.parent, communities.entity_ids, strict=True
        )
    ]
    levels = {n: [c for c in stored if c.level == n] for n in range(4)}
    assert [len(levels[n]) for n in range(4)] == [23, 65, 32, 2]
    assert [len({m for c in levels[n] for m in c.members}) for n in range(4)] == [504, 443, 192, 13]
    assert [len(cover(stored, n)) for n in range(4)] == [504] * 4  # rolled up, every level covers what level 0 covers
    last: dict[tuple[str, str], float] = {}
    summed: dict[tuple[str, str], float] = {}
    inside = {m for c in levels[0] for m in c.members}
    for a, b, w in zip(relations.source, relations.target, relations.weight, strict=True):
        if {a, b} <= inside:
            pair = (min(a, b), max(a, b))
            last[pair], summed[pair] = w, summed.get(pair, 0.0) + w
    parts = [c.members for c in levels[0]]
    assert modularity(last, parts, inside) == pytest.approx(0.659, abs=0.0005)
    ours = leiden(summed, inside)
    assert modularity(summed, ours, inside) > modularity(summed, parts, inside)
