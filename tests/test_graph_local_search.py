"""Local search: matching, neighbourhood, budget, and use as a retriever."""

from __future__ import annotations

import numpy as np
import pytest

from ragkit.base import Passage
from ragkit.graph.communities import Community
from ragkit.graph.extract import Entity, Extraction, Relation
from ragkit.graph.local_search import NO_ANSWER, LocalSearch, Match, local_prompt
from ragkit.graph.merge import merge
from ragkit.graph.reports import Report
from ragkit.text import count_tokens

PASSAGES = [
    Passage("p0", "The Aster kettle is red."),
    Passage("p1", "Riverside sells the Aster kettle.", title="Stores"),
    Passage("p2", "Maren Oakes opened Riverside."),
    Passage("p3", "Nothing of note."),
]
GRAPH = merge(
    {
        "p0": Extraction(
            (Entity("Aster kettle", "product", "a red kettle"), Entity("Aster", "product", "a brand")), ()
        ),
        "p1": Extraction((), (Relation("Riverside", "Aster kettle", "sells it", 5.0),)),
        "p2": Extraction(
            (Entity("Maren Oakes", "person", "founder"),), (Relation("Maren Oakes", "Riverside", "opened it", 8.0),)
        ),
        "gone": Extraction((Entity("Riverside", "place", "a store"),), ()),
    }
)
COMMUNITIES = [
    Community(0, 0, -1, ("aster", "aster kettle", "maren oakes", "riverside")),
    Community(1, 1, 0, ("maren oakes", "riverside")),
]
REPORTS = [Report(0, 0, "All", "s", 1.0, "About all."), Report(1, 1, "Store", "s", 1.0, "About the store.")]


def embed(texts: list[str]) -> np.ndarray:
    """Toward x for whatever speaks of founders, toward y otherwise."""
    return np.array([[0.8, 0.6] if "founder" in t.lower() else [0.0, 1.0] for t in texts], dtype=np.float32)


SEARCH = LocalSearch(GRAPH, PASSAGES, embed, COMMUNITIES, REPORTS)


def test_names_in_the_question_match_first_and_the_longest_wins_its_place() -> None:
    names_only = LocalSearch(GRAPH, PASSAGES)
    assert names_only.matches("Where is the ASTER KETTLE sold?") == [Match("aster kettle", 1.0)]
    assert names_only.matches("Aster, or the Aster kettle?") == [Match("aster kettle", 1.0), Match("aster", 1.0)]
    assert names_only.matches("disasters") == []


def test_vectors_fill_up_what_names_leave() -> None:
    found = SEARCH.matches("founder of Riverside", k=2)
    assert found[0] == Match("riverside", 1.0)
    assert found[1].key == "maren oakes"
    assert len(SEARCH.matches("founder", k=99)) == 4
    assert SEARCH.matches("founder", k=0) == []
    assert SEARCH.matches("  ") == []


def test_relations_inside_the_matches_come_first_then_by_weight() -> None:
    matches = [Match("riverside", 1.0), Match("aster kettle", 1.0)]
    assert [(e.a, e.b) for e in SEARCH.relations(matches)] == [
        ("aster kettle", "riverside"),
        ("maren oakes", "riverside"),
    ]
    assert [(e.a, e.b) for e in SEARCH.relations(matches[:1])] == [
        ("maren oakes", "riverside"),
        ("aster kettle", "riverside"),
    ]


def test_as_a_retriever_it_returns_the_passages_of_the_best_entity_first() -> None:
    search = LocalSearch(GRAPH, PASSAGES)
    assert [hit.id for hit in search("the Aster kettle", 5)] == ["p1", "p0"]  # p1 holds a relation too
    assert [hit.id for hit in search("Riverside", 5)] == ["p1", "p2"]  # "gone" is no passage of this index
    assert search("Riverside", 1)[0].text == PASSAGES[1].text
    assert search("Riverside", 0) == []
    assert search("elephants", 5) == []
    hits = SEARCH("founder of Riverside", 10)
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    with pytest.raises(ValueError, match="k must"):
        search("x", -1)


def test_the_context_holds_reports_entities_relations_and_passages_in_order() -> None:
    search = LocalSearch(GRAPH, PASSAGES, communities=COMMUNITIES, reports=REPORTS)
    context = search.context("Riverside", budget=500)
    assert context.text.splitlines() == [
        "report: About the store.",  # the deepest community of the entity
        "entity: Riverside (place): a store",
        "relation: Maren Oakes -- Riverside: opened it",
        "relation: Aster kettle -- Riverside: sells it",
        "passage p1: Stores",
        "Riverside sells the Aster kettle.",
        "passage p2: Maren Oakes opened Riverside.",
    ]
    assert context.communities == (1,)
    assert context.relations == (("maren oakes", "riverside"), ("aster kettle", "riverside"))
    assert context.passages == ("p1", "p2")


@pytest.mark.parametrize("budget", [0, 1, 10, 25, 40, 80])
def test_the_context_keeps_to_its_budget(budget: int) -> None:
    context = SEARCH.context("founder of Riverside", budget)
    assert count_tokens(context.text) <= budget


def test_a_report_missing_at_the_deepest_level_falls_back_to_the_parent() -> None:
    search = LocalSearch(GRAPH, PASSAGES, communities=COMMUNITIES, reports=REPORTS[:1])
    assert search.context("Riverside").communities == (0,)


def test_answering_takes_one_call_and_none_where_nothing_matches() -> None:
    prompts: list[str] = []

    def llm(prompt: str) -> str:
        prompts.append(prompt)
        return " Oakes "

    search = LocalSearch(GRAPH, PASSAGES)
    assert search.answer("Who opened Riverside?", llm) == "Oakes"
    assert prompts == [local_prompt("Who opened Riverside?", search.context("Who opened Riverside?").text)]
    assert search.answer("elephants?", llm) == NO_ANSWER
    assert len(prompts) == 1


def test_an_empty_graph_and_bad_arguments() -> None:
    empty = LocalSearch(merge({}), [], embed)
    assert empty("anything", 3) == []
    assert empty.context("anything").text == ""
    with pytest.raises(ValueError, match="shares"):
        LocalSearch(GRAPH, PASSAGES, shares=(0.5, 0.5, 0.5))
    with pytest.raises(ValueError, match="budget"):
        SEARCH.context("x", -1)
    with pytest.raises(ValueError, match="passages"):
        LocalSearch(GRAPH, [PASSAGES[0], PASSAGES[0]])
