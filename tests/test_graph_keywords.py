"""LightRAG's two-level graph: incremental insertion against a build from scratch, ranking by hand, and budgets."""

from __future__ import annotations

import json
import math
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Passage
from ragkit.graph.extract import Extraction, Relation
from ragkit.graph.keyword_extract import (
    KeyedExtraction,
    KeyedRelation,
    keyed,
    keyed_extract,
    keyed_prompt,
    read_keyed,
)
from ragkit.graph.keyword_graph import KeyedEdge, KeywordGraph, Update
from ragkit.graph.keyword_query import Keywords, keywords_prompt, query_keywords, read_keywords
from ragkit.graph.keyword_search import NO_ANSWER, KeywordSearch, answer_prompt, in_turns
from ragkit.graph.records import Entity
from ragkit.text import count_tokens, tokenize


def bag_of_words(texts):
    counts = np.zeros((len(texts), 4093), dtype=np.float32)
    for row, text in zip(counts, texts, strict=True):
        for word in tokenize(text):
            row[crc32(word.encode()) % 4093] += 1
    return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1)


def rel(a, b, *keywords, strength=1.0, text=""):
    return KeyedRelation(a, b, keywords, text, strength)


def never(prompt):
    pytest.fail("the model was called")


# --- extraction


def test_no_prompt_leaves_a_placeholder_for_the_model_to_read():
    for prompt in (keyed_prompt("text"), keywords_prompt("text"), answer_prompt("text", "notes")):
        assert "$" not in prompt
        assert "delimiter" not in prompt
    nasty = 'Costs $5, {x}, "${passage}".'
    assert nasty in keyed_prompt(nasty)
    assert nasty in keywords_prompt(nasty)
    assert answer_prompt(nasty, nasty).count(nasty) == 2


def test_records_are_read_out_of_what_models_write():
    body = {
        "entities": [{"name": "Aster", "type": "product", "description": "a\nkettle"}, {"type": "x"}, "noise"],
        "relations": [
            {"source": "Aster", "target": "Riverside", "keywords": ["sales", "Sales ", ""], "strength": "8"},
            {"source": "Aster", "target": "Oakes", "keywords": "design, history", "strength": -1},
            {"source": "Aster"},
        ],
    }
    expected = KeyedExtraction(
        (Entity("Aster", "product", "a kettle"),),
        (rel("Aster", "Riverside", "sales", strength=8.0), rel("Aster", "Oakes", "design", "history")),
    )
    assert read_keyed(json.dumps(body)) == expected
    assert read_keyed(f"Sure:\n```json\n{json.dumps(body)}\n```") == expected
    cut = json.dumps(body)[: json.dumps(body).index('{"source": "Aster", "target": "Oakes"') + 20]
    assert read_keyed(cut).entities == expected.entities
    assert read_keyed(cut).relations == expected.relations[:1]
    for nothing in ("", "no json", "[]", '{"entities": null, "relations": 3}'):
        assert read_keyed(nothing) == KeyedExtraction()


def test_extraction_takes_one_call_a_passage_and_none_for_a_blank_one():
    passages = [Passage("p", "Aster.", "T"), Passage("blank", " ")]
    seen = []

    def llm(prompt):
        seen.append(prompt)
        return '{"entities": [{"name": "Aster"}]}'

    found = keyed_extract(passages, llm)
    assert seen == [keyed_prompt("T\nAster.")]
    assert found == {"p": KeyedExtraction((Entity("Aster", "", ""),)), "blank": KeyedExtraction()}
    graphrag = Extraction((), (Relation("a", "b", "text", 2.0),))
    assert keyed(graphrag).relations == (rel("a", "b", strength=2.0, text="text"),)


# --- the graph


def graph_of(sources):
    graph = KeywordGraph(bag_of_words)
    graph.insert_all(sources)
    return graph


def test_the_same_text_again_changes_no_weight():
    once = KeyedExtraction((), (rel("Aster", "Riverside"),))
    graph = graph_of({"p1": once})
    for _ in range(3):
        assert graph.insert("p1", once) == Update()
        assert graph.edges["aster", "riverside"].weight == 1.0  # elsewhere it grew 1, 2, 3
    graph.insert("p2", once)
    assert graph.edges["aster", "riverside"].weight == 2.0
    assert graph.edges["aster", "riverside"].sources == ("p1", "p2")
    # a record that one extraction repeats word for word counts once
    assert graph_of({"p": KeyedExtraction((), (rel("a", "b"), rel("a", "b")))}).edges["a", "b"].weight == 1.0


def test_other_records_under_a_known_source_replace_the_old_ones():
    graph = graph_of({"p": KeyedExtraction((Entity("x", "t", "old"),), (rel("x", "y", strength=5.0),))})
    update = graph.insert("p", KeyedExtraction((Entity("x", "t", "new"),), (rel("x", "z", strength=2.0),)))
    assert graph.entities["x"].description == "new"
    assert set(graph.edges) == {("x", "z")}
    assert update == Update((("x", "z"), "z"), ("x",), (("x", "y"), "y"))


def test_an_edge_has_one_key_the_sorted_pair():
    graph = graph_of(
        {"p": KeyedExtraction((), (rel("b", "a", "one", strength=2.0), rel("a", "b", "two", strength=3.0)))}
    )
    assert list(graph.edges) == [("a", "b")]
    assert graph.edges["a", "b"] == KeyedEdge("a", "b", 5.0, ("one", "two"), "", ("p",))
    assert graph.degree("a") == graph.degree("b") == 1


def test_names_that_differ_in_case_space_or_quotes_are_one_node():
    spelled = ["Aster Kettle", "aster  kettle", '"Aster Kettle"', "ASTER KETTLE", "Aster Kettle"]
    graph = graph_of({f"p{i}": KeyedExtraction((Entity(name, "", ""),)) for i, name in enumerate(spelled)})
    assert list(graph.entities) == ["aster kettle"]
    assert graph.entities["aster kettle"].name == "Aster Kettle"  # the commonest spelling, quotes off
    assert set(graph_of({"p": KeyedExtraction((Entity("МОСКВА", "", ""), Entity("東京", "", "")))}).entities) == {
        "москва",
        "東京",
    }


def test_ends_without_a_record_are_nodes_and_a_thing_is_not_related_to_itself():
    graph = graph_of({"p": KeyedExtraction((), (rel("a", "b"), rel("a", "A"), rel('""', "a"), rel("a", " ")))})
    assert set(graph.entities) == {"a", "b"}
    assert graph.entities["b"].type == "unknown"
    assert set(graph.edges) == {("a", "b")}


def test_deleting_a_source_takes_its_share_and_leaves_what_others_hold():
    shared = rel("a", "b", "theme", strength=2.0)
    graph = graph_of(
        {
            "p1": KeyedExtraction((Entity("a", "t", "first"),), (shared,)),
            "p2": KeyedExtraction((Entity("a", "t", "second"),), (shared, rel("a", "c"))),
        }
    )
    graph.entity_vectors()
    assert graph.delete("p2") == Update((), (("a", "b"), "a", "b"), (("a", "c"), "c"))
    assert graph.entities["a"].description == "first"
    assert graph.edges["a", "b"].weight == 2.0
    assert graph.degree("a") == 1
    assert graph.delete("p2") == graph.delete("never seen") == Update()
    graph.delete("p1")
    assert [graph.entities, graph.edges, graph.neighbours, graph.sources, graph._vectors] == [{}] * 5


def test_only_what_reads_differently_is_embedded_again():
    graph = graph_of({"p1": KeyedExtraction((Entity("a", "", "x"), Entity("b", "", "y")), (rel("a", "b"),))})
    graph.entity_vectors(), graph.edge_vectors()
    assert graph.embedded == 3
    graph.insert("p2", KeyedExtraction((Entity("a", "", "new"),)))
    keys, vectors = graph.entity_vectors()
    graph.edge_vectors()
    assert graph.embedded == 4
    np.testing.assert_array_equal(vectors[keys.index("a")], bag_of_words(["a\nx new"])[0])
    graph.insert("p3", KeyedExtraction((Entity("a", "", ""),)))  # another source, the same words
    graph.entity_vectors()
    assert graph.embedded == 4


def test_vectors_are_put_together_once_until_a_source_changes():
    one, other = KeyedExtraction((), (rel("a", "b"),)), KeyedExtraction((), (rel("a", "c"),))
    graph = graph_of({"p1": one})
    kept = graph.entity_vectors(), graph.edge_vectors()
    graph.insert("p1", one)  # nothing new
    assert all(now is then for now, then in zip((graph.entity_vectors(), graph.edge_vectors()), kept, strict=True))
    graph.insert("p2", other)
    assert graph.entity_vectors()[0] == ["a", "b", "c"]
    assert graph.edge_vectors()[0] == [("a", "b"), ("a", "c")]
    graph.delete("p1")
    assert graph.entity_vectors()[0] == ["a", "c"]
    assert graph.edge_vectors()[1].shape[0] == len(graph.edge_vectors()[0]) == 1


def test_the_order_of_arrival_leaves_no_trace_in_descriptions_keywords_names_or_types():
    sources = {
        "p1": KeyedExtraction((Entity("A", "person", "one"),), (rel("a", "b", "t", "u", strength=0.1, text="first"),)),
        "p2": KeyedExtraction((Entity("a", "place", "two"),), (rel("b", "a", "v", "T", strength=0.2, text="second"),)),
        "p3": KeyedExtraction((), (rel("a", "b", strength=0.3, text="third"),)),
    }
    for order in (["p1", "p2", "p3"], ["p3", "p2", "p1"], ["p2", "p3", "p1"]):
        graph = graph_of({source: sources[source] for source in order})
        edge, node = graph.edges["a", "b"], graph.entities["a"]
        assert (edge.keywords, edge.description) == (("t", "u", "v"), "first second third")
        assert edge.weight == math.fsum([0.1, 0.2, 0.3])
        assert (node.name, node.type, node.description) == ("a", "person", "one two")


NAMES = st.sampled_from(["a", "A", "b", "c", " c "])
ENTITIES = st.builds(Entity, NAMES, st.sampled_from(["", "person", "place"]), st.sampled_from(["", "x", "y"]))
RELATIONS = st.builds(
    KeyedRelation,
    NAMES,
    NAMES,
    st.lists(st.sampled_from(["t", "T", "u"]), max_size=2).map(tuple),
    st.sampled_from(["", "text", "more"]),
    st.sampled_from([0.1, 0.2, 0.3, 1.0, 7.0]),
)
EXTRACTIONS = st.builds(
    KeyedExtraction, st.lists(ENTITIES, max_size=3).map(tuple), st.lists(RELATIONS, max_size=3).map(tuple)
)
STEPS = st.lists(st.tuples(st.sampled_from(["p1", "p2", "p3", "p4"]), st.none() | EXTRACTIONS), max_size=12)


def brute_weights(sources):
    """Edge weights and sources, by going over every record."""
    held = {}
    for source, extraction in sources.items():
        for r in set(extraction.relations):
            a, b = sorted((r.source.strip().lower(), r.target.strip().lower()))
            if a != b:
                held.setdefault((a, b), []).append((source, r.strength))
    return {
        pair: (math.fsum(s for _, s in rows), tuple(sorted({source for source, _ in rows})))
        for pair, rows in held.items()
    }


@given(STEPS, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_any_insertions_and_deletions_give_the_graph_built_from_scratch(steps, chance):
    graph, now = KeywordGraph(bag_of_words), {}
    for source, extraction in steps:
        before = ({**graph.entities}, {**graph.edges})
        if extraction is None:
            now.pop(source, None)
            update = graph.delete(source)
        else:
            now[source] = extraction
            update = graph.insert(source, extraction)
        old, new = before[0] | before[1], graph.entities | graph.edges
        assert set(update.added) == set(new) - set(old)
        assert set(update.removed) == set(old) - set(new)
        assert set(update.changed) == {item for item in set(old) & set(new) if old[item] != new[item]}
        if chance.random() < 0.3:  # vectors may be asked for at any time
            graph.entity_vectors()
    order = list(now)
    chance.shuffle(order)
    fresh = graph_of({source: now[source] for source in order})
    assert graph.entities == fresh.entities
    assert graph.edges == fresh.edges
    assert graph.neighbours == fresh.neighbours
    assert {p: (e.weight, e.sources) for p, e in graph.edges.items()} == brute_weights(now)
    for mine, theirs in (
        (graph.entity_vectors(), fresh.entity_vectors()),
        (graph.edge_vectors(), fresh.edge_vectors()),
    ):
        assert mine[0] == theirs[0]
        np.testing.assert_array_equal(mine[1], theirs[1])


# --- keywords of a question


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ('{"low_level_keywords": ["Aster"], "high_level_keywords": ["warranty"]}', (("Aster",), ("warranty",))),
        ('```json\n{"high_level_keywords": ["a", "A", "b"]}\n```', ((), ("a", "b"))),
        ('{"low_level_keywords": ["t", "u", "T"]}', (("t", "u"), ())),
        ('{"low_level_keywords": "x, y", "high_level_keywords": null}', (("x", "y"), ())),
        ('{"a": 1} {"low_level_keywords": ["чайник"]}', (("чайник",), ())),
        ("Aster, warranty", ((), ())),
        ("", ((), ())),
    ],
)
def test_keywords_are_read_out_of_what_models_write(text, keywords):
    assert read_keywords(text) == Keywords(*keywords)


def test_without_keywords_a_short_question_stands_for_itself_and_a_long_one_finds_nothing():
    for reply in ('{"low_level_keywords": [], "high_level_keywords": []}', "sorry"):
        assert query_keywords("x" * 49, lambda prompt, r=reply: r) == Keywords(low=("x" * 49,))
        assert query_keywords("x" * 50, lambda prompt, r=reply: r) == Keywords()
    one_level = '{"high_level_keywords": ["t"]}'
    assert query_keywords("short", lambda prompt: one_level) == Keywords(high=("t",))  # one level is enough
    assert query_keywords(" ", never) == Keywords()


# --- search

PASSAGES = [
    Passage("p1", "Riverside sells the Aster kettle."),
    Passage("p2", "Oakes designed the Aster kettle."),
    Passage("p3", "Oakes opened Riverside."),
    Passage("p4", "Lids leak and come back under warranty."),
]
SOURCES = {
    "p1": KeyedExtraction(
        (Entity("Aster", "product", "kettle"), Entity("Riverside", "store", "")),
        (rel("Riverside", "Aster", "sales", strength=2.0, text="sells"),),
    ),
    "p2": KeyedExtraction((), (rel("Oakes", "Aster", "design", strength=9.0, text="designed"),)),
    "p3": KeyedExtraction((), (rel("Oakes", "Riverside", "founding", strength=3.0, text="opened"),)),
    "p4": KeyedExtraction((Entity("Lid", "part", "leaks"),), (rel("Lid", "Warranty", "returns", text="come back"),)),
    "gone": KeyedExtraction((), (rel("Oakes", "Fund", "money", strength=4.0, text="holds"),)),
}
GRAPH = graph_of(SOURCES)


def asking(low=(), high=()):
    return lambda prompt: json.dumps({"low_level_keywords": list(low), "high_level_keywords": list(high)})


def search(low=(), high=(), **options):
    return KeywordSearch(GRAPH, PASSAGES, asking(low, high), **options)


def test_low_level_keywords_find_entities_then_their_edges_by_degree_then_weight():
    entities, edges = search().low(["Aster kettle"])
    assert entities == ["aster"]
    # degrees: oakes 3, riverside 2, aster 2
    assert edges == [("aster", "oakes"), ("aster", "riverside")]
    entities, edges = search().low(["Oakes", "Riverside"])
    assert set(entities) == {"oakes", "riverside"}
    # degrees 5: (aster, oakes) weighs 9, (oakes, riverside) 3; degrees 4: (fund, oakes) 4, (aster, riverside) 2
    assert edges == [("aster", "oakes"), ("oakes", "riverside"), ("fund", "oakes"), ("aster", "riverside")]


def test_high_level_keywords_find_relations_then_their_ends():
    entities, edges = search().high(["returns"])
    assert (entities, edges) == (["lid", "warranty"], [("lid", "warranty")])
    entities, edges = search().high(["sales", "design"])
    assert set(edges) == {("aster", "riverside"), ("aster", "oakes")}
    assert entities == list(dict.fromkeys(end for pair in edges for end in pair))


def test_hybrid_merges_in_turns_without_repeats_and_each_mode_reads_its_own_keywords():
    keywords = Keywords(("Aster",), ("returns",))
    assert search().find(keywords) == (
        ["aster", "lid", "warranty"],
        [("aster", "oakes"), ("lid", "warranty"), ("aster", "riverside")],
    )
    assert search().find(keywords, "low") == search().low(["Aster"])
    assert search().find(keywords, "high") == search().high(["returns"])
    assert search().find(Keywords(high=("returns",)), "low") == ([], [])
    assert search().find(Keywords()) == ([], [])
    with pytest.raises(ValueError, match="mode"):
        search().find(keywords, "mix")


def test_the_merge_goes_by_turns_and_is_no_rank_fusion():
    assert in_turns(["a", "b", "c"], ["b", "d"]) == ["a", "b", "d", "c"]  # RRF would put b first
    assert in_turns([], []) == []


def test_as_a_retriever_it_returns_passages_once_and_skips_unknown_sources():
    hits = search(low=["Aster"], high=["returns"])("the Aster", 9)
    # of aster: p2 and p1 hold one chosen relation each, so by position; of the relations: p2, p4, p1
    assert [hit.id for hit in hits] == ["p1", "p2", "p4"]
    assert [hit.score for hit in hits] == [1.0, 0.5, 1 / 3]
    assert hits[0].text == PASSAGES[0].text
    assert [hit.id for hit in search(low=["Oakes"])("Oakes", 9)] == ["p2", "p3"]
    assert search(low=["Aster"])("the Aster", 1)[0].id == "p1"
    assert KeywordSearch(GRAPH, PASSAGES, never)("the Aster", 0) == []


def test_what_resembles_nothing_is_no_match():
    assert search(low=["elephants"], high=["zoology"])("elephants", 5) == []
    assert search(low=["elephants"], min_score=-1.0)("elephants", 5) != []


@pytest.mark.parametrize("count", [count_tokens, len], ids=["tokens", "characters"])
def test_the_budget_counts_what_stands_between_the_lines(count):
    found = search(low=["Aster", "Oakes"], high=["returns"], count=count)
    sizes = set()
    for budget in [*range(0, 700, 3), 10_000]:
        context = found.context("Aster", budget)
        assert count(context.text) <= budget  # with characters every line break counts
        lines = context.text.splitlines()
        assert len(lines) == len(context.entities) + len(context.edges) + len(context.passages)
        sizes.add(len(lines))
    assert len(sizes) > 5


def test_the_context_holds_entities_relations_and_passages_in_order():
    context = search(low=["Aster"]).context("the Aster")
    assert context.text.splitlines() == [
        "entity: Aster (product): kettle",
        "relation: Aster -- Oakes [design]: designed",
        "relation: Aster -- Riverside [sales]: sells",
        "passage p1: Riverside sells the Aster kettle.",
        "passage p2: Oakes designed the Aster kettle.",
    ]
    assert context.keywords == Keywords(("Aster",))


def test_answering_takes_two_calls_and_one_where_nothing_matches():
    prompts = []

    def llm(prompt):
        prompts.append(prompt)
        return asking(["Aster"])("") if prompt == keywords_prompt("What is the Aster?") else " A kettle. "

    found = KeywordSearch(GRAPH, PASSAGES, llm)
    assert found.answer("What is the Aster?") == "A kettle."
    assert prompts[1] == answer_prompt("What is the Aster?", search(low=["Aster"]).context("What is the Aster?").text)
    long = "Is there anything at all that speaks of elephants here?"
    assert len(long) >= 50
    assert search().answer(long) == NO_ANSWER
    assert KeywordSearch(GRAPH, PASSAGES, never).answer("  ") == NO_ANSWER


def test_an_empty_graph_a_graph_of_one_node_and_duplicate_passages():
    empty = KeywordSearch(KeywordGraph(bag_of_words), [], asking(["a"], ["b"]))
    assert empty("a", 3) == []
    assert empty.context("a").text == ""
    assert empty.answer("a") == NO_ANSWER
    one = graph_of({"p": KeyedExtraction((Entity("a", "", ""),)), "q": KeyedExtraction((Entity("a", "", ""),))})
    same = [Passage("p", "a"), Passage("q", "a")]
    assert [hit.id for hit in KeywordSearch(one, same, asking(["a"], ["b"]))("a", 9)] == ["p", "q"]


def test_bad_arguments_are_named():
    cases = [
        (lambda: search(top=0), "top"),
        (lambda: KeywordSearch(GRAPH, [PASSAGES[0]] * 2, never), "passages"),
        (lambda: search().context("x", -1), "budget"),
        (lambda: search().context("x", shares=(1.0, 1.0, 1.0)), "shares"),
        (lambda: search()("x", -1), "k must"),
        (lambda: KeywordGraph(bag_of_words).insert("", KeyedExtraction()), "source"),
    ]
    for call, name in cases:
        with pytest.raises(ValueError, match=f"^{name}"):
            call()
