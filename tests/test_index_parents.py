"""Parents and children, and every other representation: each parent once, as many as asked for, best child first."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit, Passage
from ragkit.index import (
    ParentChild,
    doc2query_index,
    expanded,
    hypothetical_questions,
    parents_for,
    question_representations,
    questions_prompt,
    representation,
    representations_index,
    summaries,
    summary_prompt,
)
from ragkit.search import BM25, Dense, fuse_retrievers


def child(name, text="x"):
    return Passage(name, text, meta={"parent": name[0]})


def fixed(order):
    """An index that ranks by a given list of ids, whatever is asked."""

    def index(passages):
        text = {p.id: p.text for p in passages}
        return lambda query, k: [Hit(i, text[i], 1 - n / 100) for n, i in enumerate(order)][:k]

    return index


PARENTS = [Passage(name, f"the whole of {name}") for name in "ABC"]


# --- parents_for


def test_parents_for_skips_what_does_not_fit_and_goes_on_to_smaller_ones():
    parent_of = {"c1": "A", "c2": "B", "c3": "C"}
    scores = {"c1": 0.9, "c2": 0.8, "c3": 0.7}
    assert parents_for(scores, parent_of, {"A": 60, "B": 50, "C": 40}, 100) == ["A", "C"]
    assert parents_for(scores, parent_of, {"A": 60, "B": 50, "C": 40}, 0) == []
    assert parents_for({}, parent_of, {}, 100) == []


def test_parents_for_ties_go_by_id_and_negative_scores_are_scores():
    parent_of = {"1": "B", "2": "A", "3": "C"}
    assert parents_for({"1": -2, "2": -2, "3": -1}, parent_of, dict.fromkeys("ABC", 1), 9) == ["C", "A", "B"]


def naive_parents(child_scores, parent_of, parent_tokens, budget):
    chosen, left = [], budget
    rest = {parent_of[c] for c in child_scores}
    while rest:
        best = min(rest, key=lambda p: (-max(s for c, s in child_scores.items() if parent_of[c] == p), p))
        rest.remove(best)
        if parent_tokens[best] <= left:
            chosen.append(best)
            left -= parent_tokens[best]
    return chosen


@settings(max_examples=50, deadline=None)
@given(
    scores=st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-3, 3).map(float)),
    parents=st.lists(st.sampled_from("PQRS"), min_size=8, max_size=8),
    tokens=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    budget=st.integers(-2, 25),
)
def test_parents_for_equals_its_contract(scores, parents, tokens, budget):
    parent_of, parent_tokens = dict(zip("abcdefgh", parents, strict=True)), dict(zip("PQRS", tokens, strict=True))
    before = dict(scores), dict(parent_of), dict(parent_tokens)
    chosen = parents_for(scores, parent_of, parent_tokens, budget)
    assert chosen == naive_parents(scores, parent_of, parent_tokens, budget)
    assert sum(parent_tokens[p] for p in chosen) <= max(budget, 0)
    assert (scores, parent_of, parent_tokens) == before


def test_parents_for_names_what_is_missing():
    with pytest.raises(ValueError, match="parent_of has no entry for the scored child 'c'"):
        parents_for({"c": 1.0}, {}, {}, 9)
    with pytest.raises(ValueError, match="parent_tokens has no entry for the parent 'P'"):
        parents_for({"c": 1.0}, {"c": "P"}, {}, 9)


# --- ParentChild


def test_k_counts_parents_so_several_children_of_one_do_not_leave_fewer_than_k():
    children = [child(f"A{i}") for i in range(30)] + [child("B0"), child("C0")]
    search = ParentChild(PARENTS, children, fixed([c.id for c in children]), over_fetch=1)
    assert [hit.id for hit in search("q", 3)] == ["A", "B", "C"]


def test_children_are_collapsed_before_the_cut_and_parents_ordered_by_their_best_child():
    children = [child(name) for name in ("A1", "A2", "B1", "B2", "C1")]
    search = ParentChild(PARENTS, children, fixed(["B2", "A1", "B1", "A2", "C1"]))
    assert search("q", 2) == [Hit("B", "the whole of B", 1.0), Hit("A", "the whole of A", 0.99)]
    assert [[c.id for c in found] for found in search.children_of_best("q", 2).values()] == [["B2", "B1"], ["A1", "A2"]]


def test_fewer_parents_come_back_only_if_the_search_has_no_more():
    children = [child("A0"), child("B0"), child("C0")]
    assert [hit.id for hit in ParentChild(PARENTS, children, fixed(["C0"]))("q", 3)] == ["C"]
    assert ParentChild(PARENTS, children, fixed([]))("q", 3) == []
    assert ParentChild(PARENTS, [], fixed([]))("q", 3) == []
    assert ParentChild(PARENTS, children, fixed(["C0"]))("q", 0) == []


@settings(max_examples=50, deadline=None)
@given(order=st.permutations([f"{p}{i}" for p in "ABC" for i in range(4)]), k=st.integers(0, 5), over=st.integers(1, 3))
def test_parents_equal_the_full_ranking_collapsed_whatever_is_over_fetched(order, k, over):
    search = ParentChild(PARENTS, [child(name) for name in sorted(order)], fixed(order), over_fetch=over)
    assert [hit.id for hit in search("q", k)] == list(dict.fromkeys(name[0] for name in order))[:k]


def test_with_bm25_a_small_child_finds_its_large_parent():
    parents = [Passage("A", "Long talk. The kettle boils fast. More talk."), Passage("B", "The lamp dims.")]
    children = [child("A0", "The kettle boils fast."), child("A1", "Long talk."), child("B0", "The lamp dims.")]
    assert [hit.text for hit in ParentChild(parents, children, BM25)("kettle", 5)] == [parents[0].text]


def test_parents_come_under_their_own_ids_so_that_fusion_with_another_search_meets_them():
    parents = [Passage("A", "The kettle boils fast."), Passage("B", "The lamp dims.")]
    children = [child("A0", "The kettle boils fast."), child("B0", "The lamp dims.")]
    fused = fuse_retrievers([ParentChild(parents, children, BM25), BM25(parents)])("kettle", 5)
    assert [(hit.id, hit.score) for hit in fused] == [("A", 2 / 61)]


def test_orphans_and_repeated_ids_are_refused():
    with pytest.raises(ValueError, match="'Z1' names the parent 'Z'"):
        ParentChild(PARENTS, [child("Z1")], BM25)
    with pytest.raises(ValueError, match="names the parent None"):
        ParentChild(PARENTS, [Passage("A1", "x")], BM25)
    with pytest.raises(ValueError, match="children holds the id 'A1'"):
        ParentChild(PARENTS, [child("A1"), child("A1")], BM25)
    with pytest.raises(ValueError, match="parents holds the id"):
        ParentChild([*PARENTS, PARENTS[0]], [], BM25)
    with pytest.raises(ValueError, match="over_fetch"):
        ParentChild(PARENTS, [], BM25, over_fetch=0)


# --- representations, summaries, questions


SHOP = [
    Passage("tips", "Silicone tips in three sizes.", title="EARBUDS-AIR2"),
    Passage("lamp", "Turn the wheel to dim the light."),
    Passage("blank", "  "),
]


def scripted(table):
    """A stand-in that answers by what the prompt quotes."""
    return lambda prompt: next(reply for key, reply in table.items() if key in prompt)


MODEL = scripted({"Silicone": "1. Which rubber bits fit my ears?\n2. Which sizes?", "wheel": "Question: How to dim?"})


def test_a_passage_is_found_by_any_representation_and_returned_once_with_its_own_text():
    extra = [representation(SHOP[0], "rubber bits", "summary"), representation(SHOP[0], "rubber ears", "question", 1)]
    search = representations_index(SHOP, extra, BM25)
    assert [(hit.id, hit.text) for hit in search("rubber bits for ears", 5)] == [
        ("tips", "Silicone tips in three sizes.")
    ]
    assert [hit.id for hit in search("EARBUDS-AIR2", 5)] == ["tips"]


def test_without_its_own_text_a_passage_is_found_by_its_representations_only():
    search = representations_index(SHOP, [representation(SHOP[0], "rubber", "summary")], BM25, keep_text=False)
    assert search("silicone", 5) == []
    assert [hit.id for hit in search("rubber", 5)] == ["tips"]


def test_doc2query_expansions_are_searched_and_never_returned():
    questions = hypothetical_questions(SHOP, MODEL, n=2)
    assert questions == {
        "tips": ["Which rubber bits fit my ears?", "Which sizes?"],
        "lamp": ["How to dim?"],
        "blank": [],
    }
    search = doc2query_index(SHOP, questions, BM25)
    assert [(hit.id, hit.text) for hit in search("rubber ears", 5)] == [("tips", "Silicone tips in three sizes.")]
    assert expanded(SHOP, questions)[0].full_text.startswith("EARBUDS-AIR2\nSilicone")
    assert expanded(SHOP, {}) == SHOP


def test_question_vectors_lead_to_the_parent_once():
    def embed(texts):
        return np.array([[t.count(c) + 0.01 for c in "abcdefghijklmnopqrstuvwxyz"] for t in texts], dtype=np.float32)

    questions = {"tips": ["Which rubber bits fit?", "Which rubber bits fit my ears?"]}
    found = question_representations(SHOP, questions)
    assert [(p.id, p.meta["parent"]) for p in found] == [("tips#question-0", "tips"), ("tips#question-1", "tips")]
    hits = representations_index(SHOP, found, lambda ps: Dense(ps, embed))("Which rubber bits fit?", 3)
    assert [hit.id for hit in hits].count("tips") == 1
    assert hits[0].id == "tips"
    assert hits[0].score == pytest.approx(1, abs=1e-6)


def test_summaries_stand_for_their_passages_and_blank_passages_cost_no_call():
    made = summaries(SHOP, scripted({"Silicone": " Ear tips:\n sizes. ", "wheel": ""}))
    assert [(p.id, p.text, p.meta["parent"]) for p in made] == [("tips#summary-0", "Ear tips: sizes.", "tips")]


def test_braces_and_dollars_in_a_passage_reach_the_prompt_as_they_are():
    passage = Passage("p", '{"price": "$5"} ${title}', title="$text {x}")
    for prompt in (summary_prompt(passage), questions_prompt(passage)):
        assert passage.text in prompt
        assert passage.title in prompt
    with pytest.raises(ValueError, match="n must"):
        questions_prompt(passage, 0)
