"""HippoRAG: linking, node specificity, synonym edges, passage scores, and the ways in which ports go wrong."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from ragkit.base import Hit, Passage
from ragkit.graph.extract import Extraction, Relation
from ragkit.graph.hipporag import HippoRAG, Link, phrase_key, synonym_pairs, triples_from
from ragkit.graph.query_entities import capitalised_spans
from ragkit.search import BM25

PASSAGES = [Passage(f"p{i}", f"text {i}") for i in range(5)]
TRIPLES = {
    "p0": [["Maren Oakes", "founded", "Larkfield Goods"], ["Larkfield Goods", "makes", "Aster"]],
    "p1": [["Maren Oakes", "grew up in", "Tarnmouth"]],
    "p2": [["Larkfield Goods", "runs", "Riverside"], ["Larkfield Goods", "runs", "Hill Store"]],
    "p3": [["Tarnmouth", "lies in", "Norshire"]],
}


def trigrams(texts: list[str]) -> np.ndarray:
    """Unit vectors of hashed letter triples: near spellings are near, everything else is far."""
    rows = np.zeros((len(texts), 4096), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        padded = f"##{text.lower()}#"
        for i in range(len(padded) - 2):
            row[sum(ord(c) * 31**j for j, c in enumerate(padded[i : i + 3])) % 4096] += 1
        row /= np.linalg.norm(row)
    return rows


def build(entities: list[str], **options) -> HippoRAG:
    return HippoRAG(PASSAGES, TRIPLES, trigrams, lambda query: entities, **options)


def scored(index: HippoRAG, query: str = "q") -> dict[str, float]:
    return {hit.id: hit.score for hit in index(query, 99)}


def test_two_hops_are_reached_in_one_walk() -> None:
    index = build(["Larkfield Goods"])
    assert [hit.id for hit in index("Where did its founder grow up?", 4)] == ["p0", "p2", "p1", "p3"]


def test_the_whole_computation_against_networkx_and_explicit_counts() -> None:
    index = build(["Maren Oakes", "Riverside"], synonym_threshold=None)
    graph = nx.Graph()
    for triples in TRIPLES.values():
        for s, _, o in triples:
            graph.add_edge(phrase_key(s), phrase_key(o), weight=1.0)
    # Specificity: Maren Oakes is in two passages, Riverside in one.
    ppr = nx.pagerank(graph, alpha=0.5, personalization={"maren oakes": 0.5, "riverside": 1.0}, tol=1e-13)
    for pid, score in scored(index).items():
        by_hand = sum(ppr[phrase_key(s)] + ppr[phrase_key(o)] for s, _, o in TRIPLES[pid])
        assert score == pytest.approx(by_hand, abs=1e-8)


def test_passages_are_scored_by_counts_not_by_a_binary_matrix() -> None:
    index = build(["Aster"])
    ones = np.ones(len(index.phrases))
    assert index.passage_scores(ones) == pytest.approx([4, 2, 4, 2, 0])  # "larkfield goods" counts twice in p0 and p2


def test_node_specificity_is_one_over_the_passages_that_hold_the_phrase() -> None:
    assert build(["Larkfield Goods", "Maren Oakes", "Aster"]).link("q") == [
        Link("larkfield goods", "larkfield goods", pytest.approx(1.0), 0.5),
        Link("maren oakes", "maren oakes", pytest.approx(1.0), 0.5),
        Link("aster", "aster", pytest.approx(1.0), 1.0),
    ]
    assert [link.weight for link in build(["Maren Oakes", "Aster"], node_specificity=False).link("q")] == [1.0, 1.0]


def test_an_entity_is_linked_however_far_by_default_and_not_below_min_similarity() -> None:
    index = build(["2019", "Aster"])
    far, near = index.link("q")  # no phrase is a year, and the paper takes the nearest all the same
    assert far.cosine < 0.2
    assert near == Link("aster", "aster", pytest.approx(1.0), 1.0)
    assert [link.entity for link in build(["2019", "Aster"], min_similarity=0.8).link("q")] == ["aster"]
    assert len(build(["2019", "Aster"], min_similarity=far.cosine).link("q")) == 2  # the bound itself is kept
    assert scored(build(["2019", "Aster"], min_similarity=0.8)) == pytest.approx(scored(build(["Aster"])))


def test_a_question_that_loses_all_its_links_goes_to_the_fallback() -> None:
    careful = build(["2019"], min_similarity=0.8)
    assert careful.link("q") == []
    assert [hit.id for hit in careful("text 3", 1)] == ["p3"]


def test_an_edge_weighs_as_many_triples_as_name_its_pair_in_whichever_direction() -> None:
    triples = {
        "p0": [("hub", "makes", "often"), ("often", "comes from", "hub"), ("hub", "knows", "once")],
        "p1": [("hub", "makes", "often")],
    }
    index = HippoRAG(PASSAGES, triples, trigrams, lambda q: ["hub"], synonym_threshold=None)
    row = dict(zip(index.phrases, index.graph.matrix.toarray()[:, index.phrases.index("hub")], strict=True))
    assert row == {"hub": 0.0, "often": pytest.approx(3 / 4), "once": pytest.approx(1 / 4)}


def test_the_synonym_threshold_is_reached_by_equality_and_is_0_8_with_100_a_phrase_unless_given() -> None:
    vectors = np.array([[1.0, 0.0], [0.75, np.sqrt(1 - 0.75**2)]], dtype=np.float32)
    assert len(synonym_pairs(["abc", "def"], vectors, 0.75, 5)) == 2
    assert synonym_pairs(["abc", "def"], vectors, 0.7501, 5) == []
    cosines = [1.0, 0.81, 0.79, 0.1]
    table = {name: [c, np.sqrt(1 - c * c)] for name, c in zip(["aaa", "bbb", "ccc", "ddd"], cosines, strict=True)}
    table |= {f"far{i}": [0.0, -1.0] for i in range(130)}
    triples = {"p0": [("aaa", "r", "ddd"), ("bbb", "r", "ddd"), ("ccc", "r", "ddd")]}
    triples["p1"] = [(f"far{i}", "r", "ddd") for i in range(130)]
    index = HippoRAG(PASSAGES, triples, lambda texts: np.float32([table[t] for t in texts]), lambda q: ["aaa"])
    reached = np.flatnonzero(index.graph.matrix.toarray()[:, index.phrases.index("aaa")])
    assert {index.phrases[i] for i in reached} == {"bbb", "ddd"}  # ccc is 0.79 away; ddd is linked by its fact
    # Of 130 phrases at one place each has its 100 first ones: the last has an edge with none of the 29 before it.
    last = index.graph.matrix.toarray()[:, index.phrases.index("far99")]
    assert np.count_nonzero(last) == 101


def test_two_entities_that_link_to_one_phrase_seed_it_once() -> None:
    twice = build(["Maren Oakes", "Maren Oake", "Aster"])
    assert [link.phrase for link in twice.link("q")] == ["maren oakes", "maren oakes", "aster"]
    assert scored(twice) == pytest.approx(scored(build(["Maren Oakes", "Aster"])))


def test_synonym_edges_join_spellings_that_the_facts_keep_apart() -> None:
    passages = [Passage("a", "x"), Passage("b", "y")]
    triples = {"a": [("Tikhaya Sosna river", "is", "river")], "b": [("Tikhaya Sosna rivers", "flows to", "Don")]}
    with_edges = HippoRAG(passages, triples, trigrams, lambda q: ["Tikhaya Sosna river"])
    without = HippoRAG(passages, triples, trigrams, lambda q: ["Tikhaya Sosna river"], synonym_threshold=None)
    assert [hit.id for hit in with_edges("q", 5)] == ["a", "b"]
    assert [hit.id for hit in without("q", 5)] == ["a"]


def test_a_synonym_edge_replaces_the_fact_edge_of_its_pair() -> None:
    triples = {
        "p0": [("kettles", "are", "kettles red")] * 1 + [("kettles", "like", "kettles red"), ("kettles", "cost", "x")]
    }
    options = {"synonym_threshold": 0.5}
    index = HippoRAG(PASSAGES, triples, trigrams, lambda q: ["kettles"], **options)
    cosine = float(trigrams(["kettles"])[0] @ trigrams(["kettles red"])[0])
    assert cosine > 0.5
    row = dict(zip(index.phrases, index.graph.matrix.toarray()[:, index.phrases.index("kettles")], strict=True))
    assert row["kettles red"] == pytest.approx(2 * cosine / (2 * cosine + 2), abs=1e-6)  # two facts would weigh 4


def test_synonyms_are_capped_and_very_short_phrases_have_none() -> None:
    phrases = ["ab", "abc", "abd", "abe"]
    vectors = np.ones((4, 1), dtype=np.float32)
    pairs = synonym_pairs(phrases, vectors, 0.8, limit=2)
    assert [(a, b) for a, b, _ in pairs] == [
        *(("abc", "ab"), ("abc", "abd")),
        *(("abd", "ab"), ("abd", "abc")),
        *(("abe", "ab"), ("abe", "abc")),
    ]
    assert synonym_pairs([], np.zeros((0, 0), dtype=np.float32), 0.8, 5) == []


def test_self_loops_are_dropped_from_the_graph_but_the_fact_still_scores() -> None:
    index = HippoRAG(PASSAGES, {"p0": [("Aster", "is", "ASTER")]}, trigrams, lambda q: ["aster"])
    assert index.graph.matrix.nnz == 0
    assert scored(index) == {"p0": pytest.approx(1.0)}


def test_non_latin_phrases_stay_apart_where_the_official_code_merges_them_all() -> None:
    triples = {"p0": [("東京", "首都", "日本")], "p1": [("Москва", "столица", "Россия")]}
    index = HippoRAG(PASSAGES, triples, trigrams, lambda q: ["Москва"])
    assert len(index.phrases) == 4
    assert [hit.id for hit in index("q", 5)] == ["p1"]


def test_a_question_without_entities_goes_to_the_fallback() -> None:
    assert [hit.id for hit in build([])("text 3", 1)] == ["p3"]  # dense search by default
    assert build(["?!"], fallback=lambda query, k: [Hit("x", query, 1.0)])("q", 1) == [Hit("x", "q", 1.0)]


def test_no_triples_at_all_is_dense_search_and_no_passages_find_nothing() -> None:
    assert [hit.id for hit in HippoRAG(PASSAGES, {}, trigrams, lambda q: ["a"])("text 2", 1)] == ["p2"]
    assert HippoRAG([], {}, trigrams, lambda q: ["a"])("anything", 3) == []


def test_malformed_triples_are_dropped() -> None:
    index = HippoRAG(
        PASSAGES,
        {"p0": [["a"], ["a", "b"], ["", "is", "b"], ["?", "is", "b"], ["abc", "is", "bcd", "now"]]},
        trigrams,
        lambda q: ["abc"],
    )
    assert index.phrases == []


def test_ties_go_by_position_and_k_may_exceed_the_corpus() -> None:
    triples = {pid: [("Aster", "is", f"thing {pid[1]}")] for pid in ("p3", "p1", "p2")}
    index = HippoRAG(PASSAGES, triples, trigrams, lambda q: ["Aster"], synonym_threshold=None)
    assert [hit.id for hit in index("q", 99)] == ["p1", "p2", "p3"]
    assert index("q", 0) == []


def test_the_walk_sums_to_one_and_restart_decides_how_far_it_goes() -> None:
    near, far = build(["Aster"], restart=0.9), build(["Aster"], restart=0.15)
    for index in (near, far):
        assert index.walk(index.link("q")).scores.sum() == pytest.approx(1.0)
    assert scored(far)["p3"] > scored(near)["p3"]


def test_triples_come_from_extracted_relations() -> None:
    found = {"p": Extraction((), (Relation("A", "B", "knows", 3.0),)), "q": Extraction()}
    assert triples_from(found) == {"p": [("A", "knows", "B")], "q": []}


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="triples"):
        HippoRAG(PASSAGES, {"nope": []}, trigrams, lambda q: [])
    with pytest.raises(ValueError, match="restart"):
        build([], restart=0.0)
    for bad in (1.1, -1.1, float("nan")):
        with pytest.raises(ValueError, match="min_similarity"):
            build([], min_similarity=bad)
    with pytest.raises(ValueError, match="passages"):
        HippoRAG([PASSAGES[0]] * 2, {}, trigrams, lambda q: [])
    with pytest.raises(ValueError, match="k must"):
        build(["Aster"])("q", -1)


DATA = Path(os.environ.get("RAGKIT_DATA") or Path(__file__).resolve().parents[1] / "../shared/data") / "hipporag"
STORED = DATA / "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json"


@pytest.mark.skipif(not STORED.is_file(), reason="the stored triples are not there")
def test_on_stored_musique_triples_the_graph_beats_bm25_from_exact_names_alone() -> None:
    docs = json.loads(STORED.read_text(encoding="utf-8"))["docs"]
    records = json.loads((DATA / "musique_train.json").read_text(encoding="utf-8"))[:50]
    passages = [Passage(str(i), doc["text"], doc["title"]) for i, doc in enumerate(docs)]
    content = {(p.title, p.text): p.id for p in passages}

    table = np.random.default_rng(0).standard_normal((1 << 16, 32)).astype(np.float32)

    def exact(texts: list[str]) -> np.ndarray:
        """Equal texts have cosine 1, others about 0: no model, so this links exact names only."""
        rows = (
            table[[zlib.crc32(t.encode()) & 0xFFFF for t in texts]]
            + table[[zlib.adler32(t.encode()) & 0xFFFF for t in texts]]
        )
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    triples = {p.id: doc["extracted_triples"] for p, doc in zip(passages, docs, strict=True)}
    bm25 = BM25(passages, k1=1.2, b=0.75)
    index = HippoRAG(passages, triples, exact, capitalised_spans, synonym_threshold=None, fallback=bm25)
    known = set(index.phrases)
    index.query_entities = lambda question: [s for s in capitalised_spans(question) if phrase_key(s) in known]

    def recall(search, k: int = 5) -> float:
        total = 0.0
        for record in records:
            paragraphs = [p for p in record["paragraphs"] if p["is_supporting"]]
            gold = {content[p["title"], p["paragraph_text"]] for p in paragraphs}
            total += len(gold & {hit.id for hit in search(record["question"], k)}) / len(gold)
        return total / len(records)

    assert len(passages) == 1890
    assert recall(index) > recall(bm25) + 0.05
