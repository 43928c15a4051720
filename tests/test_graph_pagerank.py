"""Personalized PageRank against networkx, igraph, a linear solve, and values worked by hand."""

from __future__ import annotations

from itertools import islice

import igraph
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.graph.pagerank import pagerank, personalized_pagerank, steps, transition

DANGLING = {("a", "b"): 1.0, ("a", "c"): 1.0, ("b", "c"): 1.0, ("c", "a"): 1.0, ("c", "d"): 1.0}
CYCLE = [("A", "B"), ("B", "C"), ("C", "A")]
EDGES = st.dictionaries(
    st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), st.floats(0.1, 9.0), min_size=1, max_size=20
)


def scores(edges: dict[tuple[str, str], float], seeds: dict[str, float], restart: float, directed: bool = True):
    graph = transition(edges, directed)
    result = pagerank(graph, graph.seeds(seeds), restart, tolerance=1e-12, max_steps=5000)
    assert result.error <= 1e-12
    return dict(zip(graph.nodes, result.scores.tolist(), strict=True))


def test_dangling_mass_goes_to_the_seeds_as_in_networkx_and_igraph() -> None:
    found = scores(DANGLING, {"a": 1.0}, restart=0.15)
    expected = {"a": 0.392865, "b": 0.166967, "c": 0.308890, "d": 0.131278}
    assert found == pytest.approx(expected, abs=1e-6)
    assert sum(found.values()) == pytest.approx(1.0)


def test_a_walk_that_loses_the_dangling_mass_would_be_told_apart() -> None:
    graph = transition(DANGLING)
    r = p = graph.seeds({"a": 1.0})
    for _ in range(200):
        r = 0.15 * p + 0.85 * (graph.matrix @ r)
    assert r.sum() < 0.9
    assert r[0] != pytest.approx(0.392865, abs=1e-3)


@given(EDGES, st.booleans(), st.floats(0.05, 0.95), st.data())
@settings(max_examples=50, deadline=None)
def test_agrees_with_networkx_and_igraph_to_six_places(
    edges, directed: bool, restart: float, data: st.DataObject
) -> None:
    names = sorted({end for pair in edges for end in pair})
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    seeds = {name: data.draw(st.floats(0.1, 5.0)) for name in chosen}
    found = scores(edges, seeds, restart, directed)
    assert sum(found.values()) == pytest.approx(1.0)
    # Undirected: both directions of a pair are one edge whose weights add up.
    merged: dict[tuple[str, str], float] = {}
    for (a, b), w in edges.items():
        key = (a, b) if directed else (min(a, b), max(a, b))
        merged[key] = merged.get(key, 0.0) + w
    nxg = nx.DiGraph() if directed else nx.Graph()
    nxg.add_nodes_from(names)
    nxg.add_weighted_edges_from([(a, b, w) for (a, b), w in merged.items()])
    assert found == pytest.approx(
        nx.pagerank(nxg, alpha=1 - restart, personalization=seeds, weight="weight", tol=1e-13, max_iter=5000), abs=1e-6
    )
    loops = any(a == b for a, b in merged)
    if directed or not loops:  # igraph walks an undirected self-loop from both of its ends: its weight counts double
        ig = igraph.Graph(n=len(names), edges=[(names.index(a), names.index(b)) for a, b in merged], directed=directed)
        reset = [seeds.get(name, 0.0) for name in names]
        theirs = ig.personalized_pagerank(
            damping=1 - restart, reset=reset, weights=list(merged.values()), implementation="prpack"
        )
        assert found == pytest.approx(dict(zip(names, theirs, strict=True)), abs=1e-6)


@given(EDGES, st.floats(0.05, 1.0))
@settings(max_examples=50, deadline=None)
def test_the_fixed_point_solves_the_linear_system(edges, restart: float) -> None:
    graph = transition(edges)
    p = graph.seeds({graph.nodes[0]: 1.0})
    walk = graph.matrix.toarray() + np.outer(p, graph.dangling)
    exact = np.linalg.solve(np.eye(len(p)) - (1 - restart) * walk, restart * p)
    assert pagerank(graph, p, restart, 1e-12, 5000).scores == pytest.approx(exact, abs=1e-10)


def test_closed_form_on_the_three_cycle() -> None:
    restart, follow = 0.15, 0.85
    norm = restart / (1 - follow**3)
    expected = {"A": norm, "B": norm * follow, "C": norm * follow**2}
    assert scores(dict.fromkeys(CYCLE, 1.0), {"A": 1.0}, restart) == pytest.approx(expected, abs=1e-10)
    assert expected == pytest.approx({"A": 0.3887, "B": 0.3304, "C": 0.2809}, abs=5e-5)


def test_the_hand_exercise_c_leads_after_two_steps_and_a_at_the_end() -> None:
    one, two = personalized_pagerank(CYCLE, ["A"], 0.15, 1), personalized_pagerank(CYCLE, ["A"], 0.15, 2)
    assert one == pytest.approx({"A": 0.15, "B": 0.85, "C": 0.0})
    assert two == pytest.approx({"A": 0.15, "B": 0.1275, "C": 0.7225})
    end = personalized_pagerank(CYCLE, ["A"], 0.15, 400)
    assert max(two, key=two.__getitem__) == "C"
    assert max(end, key=end.__getitem__) == "A"


def slow_walk(edges, seeds, alpha, iterations):
    """The exercise's contract, word for word, with dictionaries."""
    nodes = list(dict.fromkeys(end for edge in edges for end in edge))
    known = [s for s in dict.fromkeys(seeds) if s in nodes]
    p = {n: (1 / len(known) if n in known else 0.0) for n in nodes}
    r = dict(p)
    for _ in range(iterations):
        new = {n: alpha * p[n] for n in nodes}
        for n in nodes:
            out = [b for a, b in edges if a == n]
            for b in out:
                new[b] += (1 - alpha) * r[n] / len(out)
            if not out:
                for m in nodes:
                    new[m] += (1 - alpha) * r[n] * p[m]
        r = new
    return r


@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde")), min_size=1, max_size=12),
    st.lists(st.sampled_from("abcdez"), max_size=4),
    st.floats(0, 1),
    st.integers(0, 12),
)
@settings(max_examples=50, deadline=None)
def test_exactly_the_steps_of_the_contract(edges, seeds, alpha: float, iterations: int) -> None:
    if not set(seeds) & {end for edge in edges for end in edge}:
        with pytest.raises(ValueError, match="seeds"):
            personalized_pagerank(edges, seeds, alpha, iterations)
        return
    found = personalized_pagerank(edges, seeds, alpha, iterations)
    assert found == pytest.approx(slow_walk(edges, seeds, alpha, iterations), abs=1e-9)


def test_many_seed_sets_at_once_equal_one_after_the_other() -> None:
    graph = transition(DANGLING, nodes=["lonely"])
    seeds = np.eye(len(graph.nodes))
    together = pagerank(graph, seeds, 0.15, 1e-12)
    assert together.scores.shape == (5, 5)
    for i in range(5):
        assert together.scores[:, i] == pytest.approx(pagerank(graph, seeds[:, i], 0.15, 1e-12).scores, abs=1e-10)
    assert together.scores[:, 0] == pytest.approx([1, 0, 0, 0, 0])  # an isolated seed keeps everything


def test_the_trace_starts_at_the_seeds_and_each_vector_is_its_own() -> None:
    graph = transition(dict.fromkeys(CYCLE, 1.0))
    first, second, third = islice(steps(graph, graph.seeds({"A": 3.0}), 0.15), 3)
    assert first == pytest.approx([1, 0, 0])
    assert second == pytest.approx([0.15, 0.85, 0])
    assert third == pytest.approx([0.15, 0.1275, 0.7225])


def test_restart_one_stays_at_the_seeds_and_restart_zero_may_never_settle() -> None:
    graph = transition({("a", "b"): 1.0, ("b", "a"): 1.0})
    p = graph.seeds({"a": 1.0})
    assert pagerank(graph, p, restart=1.0) == (pytest.approx([1, 0]), 1, 0.0)
    swinging = pagerank(graph, p, restart=0.0, max_steps=50)
    assert swinging.steps == 50
    assert swinging.error == pytest.approx(2.0)


def test_the_reported_error_bounds_the_true_one() -> None:
    graph = transition(DANGLING)
    p = graph.seeds({"a": 1.0})
    exact = pagerank(graph, p, 0.15, 1e-14, 5000).scores
    for n in (1, 3, 10, 30):
        rough = pagerank(graph, p, 0.15, tolerance=0.0, max_steps=n)
        assert np.abs(rough.scores - exact).sum() <= rough.error + 1e-12


def test_weights_of_both_directions_add_up_when_undirected() -> None:
    both = transition({("a", "b"): 1.0, ("b", "a"): 2.0, ("a", "c"): 3.0}, directed=False)
    one = transition({("a", "b"): 3.0, ("a", "c"): 3.0}, directed=False)
    assert both.nodes == one.nodes
    assert both.matrix.toarray() == pytest.approx(one.matrix.toarray())


def test_bad_input_is_named() -> None:
    graph = transition(DANGLING)
    with pytest.raises(ValueError, match="edges"):
        transition({("a", "b"): -1.0})
    with pytest.raises(ValueError, match="edges"):
        transition({("a", "b"): float("nan")})
    with pytest.raises(ValueError, match="seeds"):
        graph.seeds({"nobody": 1.0})  # igraph raises too, networkx divides by zero
    with pytest.raises(ValueError, match="seeds"):
        graph.seeds({"a": -1.0})
    with pytest.raises(ValueError, match="rows"):
        pagerank(graph, [1.0, 0.0])
    with pytest.raises(ValueError, match="seeds"):
        pagerank(graph, np.zeros(4))
    with pytest.raises(ValueError, match="restart"):
        pagerank(graph, np.ones(4), restart=1.5)
    with pytest.raises(ValueError, match="max_steps"):
        pagerank(graph, np.ones(4), max_steps=0)
    with pytest.raises(ValueError, match="iterations"):
        personalized_pagerank(CYCLE, ["A"], 0.15, -1)
    with pytest.raises(ValueError, match="seeds"):
        personalized_pagerank([], ["A"], 0.15, 1)
    with pytest.raises(ValueError, match="restart"):
        personalized_pagerank(CYCLE, ["A"], 2.0, 1)


def test_seeds_of_no_weight_raise_a_named_error_where_networkx_divides_by_zero() -> None:
    zero = {"a": 0.0, "b": 0.0}
    with pytest.raises(ZeroDivisionError):
        nx.pagerank(nx.DiGraph([("a", "b")]), personalization=zero)
    with pytest.raises(igraph.InternalError, match="reset"):
        igraph.Graph([(0, 1)]).personalized_pagerank(reset=[0.0, 0.0])
    with pytest.raises(ValueError, match="nowhere to restart"):
        transition({("a", "b"): 1.0}).seeds(zero)


def test_restart_read_as_following_is_seen_everywhere_but_at_one_half() -> None:
    graph = nx.DiGraph(list(DANGLING))
    for restart, same in ((0.15, False), (0.3, False), (0.5, True), (0.85, False)):
        mistaken = nx.pagerank(graph, alpha=restart, personalization={"a": 1.0}, tol=1e-13, max_iter=5000)
        assert (scores(DANGLING, {"a": 1.0}, restart) == pytest.approx(mistaken, abs=1e-6)) is same


def test_a_graph_too_large_for_a_dense_matrix_is_walked() -> None:
    n = 100_000  # dense, this would take 80 GB
    edges = {(str(i), str((i * 7 + 1) % n)): 1.0 for i in range(n)}
    graph = transition(edges)
    assert pagerank(graph, graph.seeds({"0": 1.0}), 0.5, 1e-6).scores.sum() == pytest.approx(1.0)
