"""Merging extractions into one knowledge graph."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.graph.extract import Claim, Entity, Extraction, Relation
from ragkit.graph.merge import KnowledgeGraph, entity_key, merge, summary_prompt


def one(*records: Entity | Relation | Claim) -> Extraction:
    return Extraction(
        tuple(r for r in records if isinstance(r, Entity)),
        tuple(r for r in records if isinstance(r, Relation)),
        tuple(r for r in records if isinstance(r, Claim)),
    )


def test_spellings_of_a_name_meet_and_the_commonest_is_shown() -> None:
    graph = merge(
        {
            "p1": one(Entity('"SCROOGE &amp; MARLEY"', "organisation", "a firm")),
            "p2": one(
                Entity("Scrooge  &  Marley", "organisation", "a counting house"), Entity("Scrooge & Marley", "", "")
            ),
        }
    )
    assert list(graph.nodes) == ["scrooge & marley"]
    node = graph.nodes["scrooge & marley"]
    assert node.name == "Scrooge & Marley"
    assert node.passages == ("p1", "p2")  # a passage that names it twice stands once
    assert node.description == "a firm a counting house"


def test_non_latin_names_are_kept_apart() -> None:
    graph = merge(
        {"p": one(Entity("東京", "place", ""), Entity("Москва", "place", ""), Entity("«МОСКВА»", "place", ""))}
    )
    assert list(graph.nodes) == ["東京", "москва"]


def test_the_type_is_the_majoritys_and_unknown_never_outvotes() -> None:
    graph = merge(
        {
            "1": one(Entity("A", "unknown", "")),
            "2": one(Entity("A", "Place", "")),
            "3": one(Entity("A", "UNKNOWN", "x")),
            "4": one(Entity("B", "event", ""), Entity("C", "", "")),
            "5": one(Entity("B", "person", "")),
            "6": one(Entity("B", "person", "again")),
            "7": one(Entity("D", "event", "")),
            "8": one(Entity("D", "person", "")),
        }
    )
    assert {key: node.type for key, node in graph.nodes.items()} == {
        "a": "place", "b": "person", "c": "unknown", "d": "event",
    }  # fmt: skip


def test_an_endpoint_without_a_record_becomes_a_node() -> None:
    graph = merge({"p": one(Entity("A", "person", ""), Relation("A", "Ghost", "saw", 2.0))})
    assert graph.nodes["ghost"].type == "unknown"
    assert graph.nodes["ghost"].passages == ("p",)
    assert all(end in graph.nodes for pair in graph.edges for end in pair)


def test_both_directions_are_one_edge_and_weights_add_up() -> None:
    graph = merge(
        {
            "p1": one(Relation("B", "A", "first", 3.0)),
            "p2": one(Relation("a", "b", "second", 4.0), Relation("A", "a", "self", 9)),
        }
    )
    (edge,) = graph.edges.values()
    assert (edge.a, edge.b, edge.weight) == ("a", "b", 7.0)
    assert edge.description == "first second"
    assert edge.passages == ("p1", "p2")
    assert graph.weights == {("a", "b"): 7.0}


def test_a_record_repeated_by_gleaning_counts_once_a_passage() -> None:
    again = Relation("A", "B", "linked", 3.0)
    assert merge({"p": one(again, again)}).weights == {("a", "b"): 3.0}
    assert merge({"p": one(again), "q": one(again)}).weights == {("a", "b"): 6.0}


def test_claims_merge_over_passages_and_their_subjects_are_nodes() -> None:
    claim = Claim("A", "NONE", "recall", "true", "2024-01-01", "", "A was recalled")
    graph = merge({"p": one(claim), "q": one(claim), "r": one(claim._replace(object="B", description="other"))})
    assert [(c.subject, c.object, c.status, c.passages) for c in graph.claims] == [
        ("a", "", "TRUE", ("p", "q")),
        ("a", "b", "TRUE", ("r",)),
    ]
    assert set(graph.nodes) == {"a", "b"}
    assert list(graph.claims_of) == ["a"]


def test_long_descriptions_are_summarised_only_when_a_model_is_given() -> None:
    texts = ["word " * 30 + str(i) for i in range(3)]
    extractions = {str(i): one(Entity("A", "t", text)) for i, text in enumerate(texts)}
    asked: list[str] = []

    def llm(prompt: str) -> str:
        asked.append(prompt)
        return " short "

    assert merge(extractions, max_tokens=20).nodes["a"].description == " ".join(texts)
    assert merge(extractions, llm, max_tokens=20).nodes["a"].description == "short"
    assert asked == [summary_prompt("A", texts)]
    asked.clear()
    merge(extractions, llm, max_tokens=5000)
    assert asked == []
    with pytest.raises(ValueError, match="max_tokens"):
        merge({}, max_tokens=0)


def test_nothing_gives_an_empty_graph() -> None:
    assert merge({}) == KnowledgeGraph()
    assert merge({"p": Extraction()}) == KnowledgeGraph()
    assert merge({"p": one(Entity('""', "t", "no name"), Relation("", "B", "x"))}).edges == {}


def test_networkx_form_holds_the_same_graph() -> None:
    graph = merge({"p": one(Entity("Lonely", "t", "d"), Relation("A", "B", "x", 2.0))})
    g = graph.to_networkx()
    assert set(g.nodes) == {"lonely", "a", "b"}
    assert g.nodes["lonely"] == {"name": "Lonely", "type": "t", "description": "d", "passages": ("p",)}
    assert g.edges["a", "b"]["weight"] == 2.0
    assert graph.entities_of == {"p": ["lonely", "a", "b"]}
    assert graph.adjacency["lonely"] == {}
    assert list(graph.adjacency["b"]) == ["a"]


NAME = st.sampled_from(["A", "a ", "B", '"b"', "C", "ß", "SS"])
RELATIONS = st.lists(st.builds(Relation, NAME, NAME, st.sampled_from("xy"), st.floats(0.5, 9)), max_size=6)


@given(st.dictionaries(st.sampled_from("pqr"), RELATIONS))
@settings(max_examples=50, deadline=None)
def test_every_edge_is_sorted_its_ends_exist_and_provenance_holds_each_passage_once(extractions) -> None:
    graph = merge({pid: one(*relations) for pid, relations in extractions.items()})
    for (a, b), edge in graph.edges.items():
        assert a < b
        assert {a, b} <= set(graph.nodes)
        assert len(set(edge.passages)) == len(edge.passages)
        assert set(edge.passages) <= set(graph.nodes[a].passages)
    total = sum(
        r.strength
        for rs in extractions.values()
        for r in dict.fromkeys(rs)
        if entity_key(r.source) != entity_key(r.target)
    )
    assert sum(graph.weights.values()) == pytest.approx(total)
