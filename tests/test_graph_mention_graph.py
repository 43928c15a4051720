"""Passages linked by the titles they mention: names, links, seeds, the walk, and two collections of real questions."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit import datasets
from ragkit.base import Hit, Passage
from ragkit.graph import MentionGraph, title_names
from ragkit.metrics import all_recall_at_k, recall_at_k
from ragkit.search import BM25
from ragkit.text import LUCENE_STOP_WORDS, tokenize

PASSAGES = [
    Passage("film", "A film of 1931, directed by Vera Falk and set in Tarnmouth.", "The Lantern (film)"),
    Passage("song", "A song by Vera Falk.", "The Lantern (song)"),
    Passage("falk", "Born in Norshire, she made films in Tarnmouth.", "Vera Falk (director)"),
    Passage("town", "A harbour town. The fishing lantern is its emblem.", "Tarnmouth"),
    Passage("shire", "A county in the north.", "Norshire"),
    Passage("note", "Norshire is large, Vera Falk said."),
]


def nothing(query: str, k: int) -> list[Hit]:
    return []


def fixed(*ids: str):
    """A first search that finds ``ids`` whatever is asked; its scores mean nothing."""
    return lambda query, k: [Hit(an_id, f"text of {an_id}", -1.0) for an_id in ids][:k]


def scored(graph: MentionGraph, query: str) -> dict[str, float]:
    return {hit.id: hit.score for hit in graph(query, 99)}


def test_names_and_links_of_a_small_collection_by_hand() -> None:
    graph = MentionGraph(PASSAGES, nothing)
    assert graph.names == {
        "the lantern film": ["film"],
        "the lantern": ["film", "song"],
        "the lantern song": ["song"],
        "vera falk director": ["falk"],
        "vera falk": ["falk"],
        "tarnmouth": ["town"],
        "norshire": ["shire"],
    }
    # "The fishing lantern" is no mention of "The Lantern": other words stand between.
    assert graph.links == {
        ("film", "falk"): 1.0,
        ("film", "town"): 1.0,
        ("song", "falk"): 1.0,
        ("falk", "shire"): 1.0,
        ("falk", "town"): 1.0,
        ("note", "shire"): 1.0,
        ("note", "falk"): 1.0,
    }
    assert graph.mentioned == {"vera falk": 3, "tarnmouth": 2, "norshire": 2}


def test_seeds_are_half_names_by_specificity_and_half_hits_by_reciprocal_rank() -> None:
    graph = MentionGraph(PASSAGES, nothing, depth=2)
    hits = [Hit(an_id, "", 0.0) for an_id in ("shire", "falk", "song")]
    # Names: Tarnmouth is mentioned by 2 passages -> 1/2; The Lantern by none (taken as 1), shared by two pages -> 1/2
    # each. Together 3/2, so a third each. Hits: 1 and 1/2 of the first two, so 2/3 and 1/3; the third is beyond depth.
    seeds = graph.seeds("Is The Lantern set in Tarnmouth?", hits)
    expected = {"film": 1 / 6, "song": 1 / 6, "town": 1 / 6, "shire": 1 / 3, "falk": 1 / 6}
    assert seeds == pytest.approx(expected)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("restart", [0.15, 0.5])
def test_scores_are_those_of_networkx_on_the_links_spelled_out(directed: bool, restart: float) -> None:
    found = MentionGraph(PASSAGES, fixed("note", "song"), restart=restart, directed=directed)
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(passage.id for passage in PASSAGES)
    graph.add_edges_from([("film", "falk"), ("film", "town"), ("song", "falk"), ("falk", "shire"), ("falk", "town")])
    graph.add_edges_from([("note", "shire"), ("note", "falk")])
    # The question names one page (half of the restarts); the hits share the other half as 1 to 1/2.
    seeds = {"film": 1 / 2, "note": 1 / 3, "song": 1 / 6}
    ranks = nx.pagerank(graph, alpha=1 - restart, personalization=seeds, tol=1e-13, max_iter=1000)
    assert scored(found, "Who made The Lantern (film)?") == pytest.approx({i: s for i, s in ranks.items() if s > 0})


def test_the_second_hop_is_found_that_no_word_of_the_question_points_to() -> None:
    graph = MentionGraph(PASSAGES, fixed("film"))
    # The town is mentioned by the film and by its director, the county by the director alone: two hops away.
    found = [hit.id for hit in graph("Where was the director of The Lantern (film) born?", 9)]
    assert found == ["film", "town", "falk", "shire"]


def test_a_mention_begins_with_a_capital_unless_told_otherwise() -> None:
    pages = [Passage("a", "the green hills"), Passage("b", "a film by Green"), Passage("g", "A painter.", "Green")]
    assert set(MentionGraph(pages, nothing).links) == {("b", "g")}
    assert set(MentionGraph(pages, nothing, capitals=False).links) == {("a", "g"), ("b", "g")}
    assert MentionGraph(pages, nothing)("what is green?", 3) == []
    assert [hit.id for hit in MentionGraph(pages, nothing, capitals=False)("what is green?", 3)] == ["g"]


def test_the_longest_name_is_read_and_names_do_not_overlap() -> None:
    titles = ["New York", "New York City", "City Hall", "York"]
    graph = MentionGraph([Passage(title, "", title) for title in titles], nothing)
    assert graph.find("From New York City Hall to York, then New York.") == ["new york city", "york", "new york"]
    assert graph.find("New") == []


def test_accents_possessives_and_case_do_not_hide_a_name() -> None:
    graph = MentionGraph([Passage("a", "", "Kenji Akinoshū"), Passage("b", "", "God's Gift")], nothing)
    assert graph.find("KENJI AKINOSHU's town; God'S Gift") == ["kenji akinoshu", "god gift"]


def test_scripts_without_capitals_or_spaces_have_names_too() -> None:
    graph = MentionGraph([Passage("a", "東京は大きい。"), Passage("b", "", "東京"), Passage("c", "", "हिन्दी")], nothing)
    assert set(graph.links) == {("a", "b")}
    assert graph.find("हिन्दी") == graph.find("यह हिन्दी है")
    assert graph.find("हिन्दू") == []


def test_names_of_stop_words_alone_are_no_names() -> None:
    assert title_names("It (film)") == ["it film"]
    graph = MentionGraph(
        [Passage("a", "It was late. They left."), Passage("b", "", "It"), Passage("c", "", "They")], nothing
    )
    assert graph.links == {}
    assert graph.names == {}


def test_a_title_of_several_passages_shares_its_links_and_has_none_inside() -> None:
    pages = [
        Passage("a1", "Aster is a kettle.", "Aster"),
        Passage("a2", "Aster, red.", "Aster"),
        Passage("b", "An Aster."),
    ]
    graph = MentionGraph(pages, nothing)
    assert graph.links == {("b", "a1"): 0.5, ("b", "a2"): 0.5}
    assert [hit.id for hit in graph("Is Aster red?", 5)] == ["a1", "a2"], "a tie goes by position"


def test_a_question_that_names_nothing_starts_from_the_first_search_alone() -> None:
    graph = MentionGraph(PASSAGES, fixed("film"))
    assert graph.seeds("who was it?", fixed("film")("", 9)) == {"film": 1.0}
    assert [hit.id for hit in graph("who was it?", 3)] == ["film", "town", "falk"]


def test_one_side_may_be_left_out() -> None:
    question, hits = "Who is Vera Falk?", fixed("film")("", 9)
    assert MentionGraph(PASSAGES, nothing, name_share=1.0).seeds(question, hits) == {"falk": 1.0}
    assert MentionGraph(PASSAGES, nothing, name_share=0.0).seeds(question, hits) == {"film": 1.0}
    assert MentionGraph(PASSAGES, nothing, depth=0).seeds(question, hits) == {"falk": 1.0}
    assert MentionGraph(PASSAGES, nothing, name_share=1.0).seeds("who?", hits) == {}


def test_what_the_walk_does_not_reach_follows_in_the_order_of_the_first_search() -> None:
    graph = MentionGraph(PASSAGES, fixed("shire", "note", "song", "town"), depth=1)
    hits = graph("who?", 9)
    assert [hit.id for hit in hits] == ["shire", "note", "song", "town"]
    assert [hit.score for hit in hits][1:] == [0.0, 0.0, 0.0]
    assert hits[1].text == "Norshire is large, Vera Falk said.", "texts are those of the index"


def test_ordinary_odd_cases_have_documented_results() -> None:
    assert MentionGraph([], nothing)("Who is Vera Falk?", 3) == []
    assert MentionGraph(PASSAGES, nothing)("", 3) == []
    assert MentionGraph(PASSAGES, nothing)("who was it?", 3) == []
    assert MentionGraph(PASSAGES, fixed("film"))("Vera Falk", 0) == []
    assert len(MentionGraph(PASSAGES, fixed("film"))("Vera Falk", 1000)) <= len(PASSAGES)
    alone = MentionGraph([Passage("a", "Aster is Aster.", "Aster")], nothing)
    assert scored(alone, "Aster?") == pytest.approx({"a": 1.0})
    twins = MentionGraph(
        [Passage("a", "By Aster."), Passage("b", "By Aster."), Passage("c", "", "Aster")], fixed("a", "b")
    )
    # a : b = 2 : 1, c = (a + b) / 2, and the sum is 1.
    assert scored(twins, "who?") == pytest.approx({"a": 4 / 9, "c": 1 / 3, "b": 2 / 9})


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"restart": 0.0}, "restart"),
        ({"restart": float("nan")}, "restart"),
        ({"name_share": 1.5}, "name_share"),
        ({"name_share": -0.1}, "name_share"),
        ({"depth": -1}, "k must be at least 0"),
        ({"passages": [PASSAGES[0], PASSAGES[0]]}, "passages"),
    ],
)
def test_bad_arguments_are_named(options, named) -> None:
    with pytest.raises(ValueError, match=named):
        MentionGraph(**{"passages": PASSAGES, "first": nothing, **options})


def test_a_first_search_over_other_passages_is_refused() -> None:
    with pytest.raises(ValueError, match="hits holds 'other', which is no passage's id"):
        MentionGraph(PASSAGES, fixed("film", "other"), depth=1)("Vera Falk", 5)
    with pytest.raises(ValueError, match="k must be"):
        MentionGraph(PASSAGES, nothing)("Vera Falk", -1)


WORDS = st.sampled_from(["Aster", "Falk", "Vera", "Norshire", "and", "in", "kettle"])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)


@given(
    st.lists(st.tuples(TEXTS, TEXTS), max_size=6),
    TEXTS,
    st.integers(0, 8),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.booleans(),
)
@settings(max_examples=50, deadline=None)
def test_properties_of_any_collection(pages, query, k, share, directed) -> None:
    passages = [Passage(str(i), text, title) for i, (title, text) in enumerate(pages)]
    graph = MentionGraph(passages, BM25(passages), name_share=share, directed=directed)
    hits = graph(query, k)
    assert len({hit.id for hit in hits}) == len(hits) <= k
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits == graph(query, 8)[:k], "a longer list begins with the shorter one"
    assert sum(hit.score for hit in graph(query, 8)) == pytest.approx(
        1.0 if graph.seeds(query, graph.first(query, 10)) else 0.0
    )
    assert all(weight > 0 and a != b for (a, b), weight in graph.links.items())
    assert all(name in graph.names for passage in passages for name in graph.find(passage.text))


# Porter stems and Lucene's stop words: the analysis of the published BM25 rows.
lucene = partial(tokenize, stem=True, stop=LUCENE_STOP_WORDS)


@pytest.fixture(scope="module")
def two_wiki(data: Path):
    lines = (data / "two_wiki_101" / "2wiki101.jsonl").read_text(encoding="utf-8").splitlines()
    return datasets.read_passages(data / "hipporag" / "2wikimultihopqa_corpus.json"), [
        json.loads(line) for line in lines
    ]


def test_on_two_wiki_all_gold_is_found_more_often_than_by_fast_graphrag(two_wiki) -> None:
    """The stored systems searched the first 780 passages. No model, and no setting of its own."""
    passages, rows = two_wiki[0][:780], two_wiki[1]
    graph = MentionGraph(passages, BM25(passages, k1=0.9, b=0.4, tokenize=lucene))
    gold = [{two_wiki[0][i].id for i in row["gold_idx"]} for row in rows]
    assert set().union(*gold) <= {passage.id for passage in passages}
    ours = np.mean(
        [all_recall_at_k([h.id for h in graph(r["question"], 8)], g, 8) for r, g in zip(rows, gold, strict=True)]
    )
    theirs = np.mean([all_recall_at_k(row["systems"]["fast_graphrag"], row["gold_titles"], 8) for row in rows])
    assert theirs == pytest.approx(0.931, abs=0.0005)
    assert ours > theirs + 0.02


@pytest.mark.slow
def test_on_the_whole_two_wiki_collection_it_still_is(two_wiki) -> None:
    passages, rows = two_wiki
    graph = MentionGraph(passages, BM25(passages, k1=0.9, b=0.4, tokenize=lucene))
    gold = [{passages[i].id for i in row["gold_idx"]} for row in rows]
    found = [all_recall_at_k([h.id for h in graph(r["question"], 8)], g, 8) for r, g in zip(rows, gold, strict=True)]
    assert np.mean(found) > 0.95


def test_on_hotpotqa_links_lift_bm25_with_the_same_settings(data: Path) -> None:
    passages = datasets.read_passages(data / "hipporag" / "hotpotqa_train_corpus.json")
    rows = json.loads((data / "hipporag" / "hotpotqa_train.json").read_text(encoding="utf-8"))
    gold = [{title for title, _ in row["supporting_facts"]} for row in rows]
    bm25 = BM25(passages)
    plain, linked = (
        np.mean([recall_at_k([h.id for h in search(r["question"], 5)], g, 5) for r, g in zip(rows, gold, strict=True)])
        for search in (bm25, MentionGraph(passages, bm25))
    )
    assert linked > plain + 0.15
