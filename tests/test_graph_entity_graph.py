"""The co-occurrence graph and its components, against networkx and the contract of the exercise."""

from __future__ import annotations

import copy
from collections import Counter

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.graph.entity_graph import communities, entity_graph

NAMES = st.sampled_from(["a", "b", "c", "d", "e", "A", "東京", ""])
CHUNKS = st.lists(st.lists(NAMES, max_size=6), max_size=8)


def test_the_worked_example() -> None:
    edges = entity_graph([["Aster", "Riverside"], ["Riverside", "Aster", "Aster"], ["Riverside", "Oakes"], ["Oakes"]])
    assert edges == {("Aster", "Riverside"): 2, ("Oakes", "Riverside"): 1}
    assert communities(edges, 1) == [["Aster", "Oakes", "Riverside"]]
    assert communities(edges, 2) == [["Aster", "Riverside"]]
    assert communities(edges, 3) == []


def test_a_name_repeated_inside_a_chunk_counts_once_and_links_to_nothing() -> None:
    assert entity_graph([["a", "a"], [], ["b"]]) == {}
    assert entity_graph([["b", "a", "b", "a"]]) == {("a", "b"): 1}


def test_names_are_plain_strings_and_case_matters() -> None:
    assert entity_graph([["a", "A", ""]]) == {("", "A"): 1, ("", "a"): 1, ("A", "a"): 1}


def test_order_is_by_size_then_by_first_member() -> None:
    edges = {("y", "z"): 1, ("a", "b"): 1, ("m", "n"): 1, ("n", "o"): 1}
    assert communities(edges, 1) == [["m", "n", "o"], ["a", "b"], ["y", "z"]]


def test_a_long_chain_meets_no_recursion_limit() -> None:
    edges = {(f"{i:05}", f"{i + 1:05}"): 1 for i in range(5000)}
    assert [len(c) for c in communities(edges, 1)] == [5001]


@given(CHUNKS)
@settings(max_examples=50, deadline=None)
def test_counts_match_the_slow_definition_and_inputs_are_unchanged(chunks: list[list[str]]) -> None:
    before = copy.deepcopy(chunks)
    edges = entity_graph(chunks)
    assert chunks == before
    slow = Counter((a, b) for chunk in chunks for a in set(chunk) for b in set(chunk) if a < b)
    assert edges == dict(slow)


@given(CHUNKS, st.integers(0, 4))
@settings(max_examples=50, deadline=None)
def test_components_match_networkx(chunks: list[list[str]], min_weight: int) -> None:
    edges = entity_graph(chunks)
    before = dict(edges)
    graph = nx.Graph([pair for pair, n in edges.items() if n >= min_weight])
    expected = sorted((sorted(c) for c in nx.connected_components(graph)), key=lambda c: (-len(c), c[0]))
    assert communities(edges, min_weight) == expected
    assert edges == before
