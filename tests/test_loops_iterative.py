"""Iterative decomposition over a small world that needs two hops, and over replies that models really give."""

import re

import pytest

from ragkit.base import Hit, Passage
from ragkit.loops.iterative import (
    Hop,
    evidence_text,
    final_prompt,
    hop_answer_prompt,
    iterative,
    iterative_search,
    next_question_prompt,
)
from ragkit.models.standin import StandIn
from ragkit.search import BM25
from ragkit.text import count_tokens

PASSAGES = [
    Passage("founder", "Larkfield Goods was founded by Ida Falk in a garage."),
    Passage("home", "Ida Falk grew up in Skagen, beside the harbour."),
    Passage("kettle", "The Aster kettle of Larkfield Goods holds 1.7 litres."),
    Passage("other", "Larkfield Goods opened a store in Riverside, where many people grew up."),
]
QUESTION = "Where did the person who founded Larkfield Goods grow up?"


def asking(prompt):
    return prompt.rstrip().endswith("New question:")


def two_hops(prompt):
    """A model that does what it is told: it asks who, then where, then says that it is done."""
    known = prompt.split("Known:")[-1]
    if asking(prompt):
        if "Skagen" in known:
            return "DONE"
        return "New question: Where did Ida Falk grow up?" if "Ida Falk" in known else "1. Who founded Larkfield Goods?"
    if "Known:" in prompt:
        return "Skagen" if "Skagen" in known else "unknown"
    asked = re.search(r"Question: (.*)", prompt)[1]
    if asked.startswith("Who"):
        return "Ida Falk" if "founded by Ida Falk" in prompt else "unknown"
    return "Skagen" if "Ida Falk grew up in Skagen" in prompt else "unknown"


def never(*_):
    pytest.fail("called")


def test_the_second_hop_is_searched_with_the_answer_of_the_first():
    result = iterative(QUESTION, retriever=BM25(PASSAGES), llm=two_hops, k=1)
    assert result.answer == "Skagen"
    assert [hop.question for hop in result.hops] == ["Who founded Larkfield Goods?", "Where did Ida Falk grow up?"]
    assert [hit.id for hit in result.evidence] == ["founder", "home"]
    assert result.stopped == "done"
    assert [step.action for step in result.trace] == ["retrieve", "answer", "retrieve", "answer", "final"]
    # one search with the question alone does not see the second hop
    assert "home" not in [hit.id for hit in BM25(PASSAGES)(QUESTION, 2)]


def test_hops_take_turns_in_the_list_so_that_the_second_is_not_crowded_out():
    found = iterative_search(QUESTION, 2, retriever=BM25(PASSAGES), llm=two_hops)
    assert [hit.id for hit in found] == ["founder", "home"]


def test_the_number_of_hops_is_bounded():
    count = iter(range(1000))

    def restless(prompt):
        return f"What is fact {next(count)}?" if asking(prompt) else "unknown"

    result = iterative("Why?", retriever=lambda q, k: [], llm=restless, max_hops=3)
    assert len(result.hops) == 3
    assert result.stopped == "bound"
    assert next(count) == 3
    assert result.evidence == ()


def test_the_same_sub_question_again_stops_the_loop():
    def llm(prompt):
        return "who founded  IT?" if "Who founded it?" in prompt else "Who founded it?"

    result = iterative("Where is it?", retriever=lambda q, k: [], llm=llm)
    assert [hop.question for hop in result.hops] == ["Who founded it?"]
    assert result.stopped == "repeat"
    assert result.trace.count("stop") == 1


@pytest.mark.parametrize("reply", ["DONE", "Done.", "**DONE**", "", "none", "No further questions needed."])
def test_a_model_that_is_done_at_once_searches_with_the_question(reply):
    asked = []

    def retriever(query, k):
        asked.append(query)
        return [Hit("p", "It is red.", 1.0)]

    result = iterative(" Is it red? ", retriever=retriever, llm=lambda p: reply if asking(p) else "red")
    assert asked == ["Is it red?"]
    assert (result.answer, result.stopped, len(result.hops)) == ("red", "done", 1)


def test_a_question_that_begins_with_none_is_no_sign_of_being_done():
    llm = StandIn(lambda p: "None of the stores sells what?" if asking(p) else "unknown")
    assert iterative("Why?", retriever=lambda q, k: [], llm=llm, max_hops=1).hops[0].question.startswith("None of")


def test_a_blank_question_costs_nothing():
    result = iterative("  ", retriever=never, llm=never)
    assert (result.answer, result.hops, result.evidence, result.stopped) == ("", (), (), "blank")


def test_duplicate_passages_are_held_once():
    def retriever(query, k):
        return [Hit("a", "It is red.", 1.0), Hit("b", "it is  RED.", 0.9)]

    result = iterative(QUESTION, retriever=retriever, llm=lambda p: "DONE" if asking(p) else "red")
    assert [hit.id for hit in result.evidence] == ["a"]


def hop(n, words=40):
    return Hop(f"What is fact {n}?", f"answer{n}", (Hit(f"p{n}", f"newest{n} " + "word " * words, 1.0),))


def test_the_oldest_hop_is_cut_first_and_the_newest_survives_in_every_prompt():
    hops = [hop(n) for n in range(6)]
    text = evidence_text(hops, 100)
    assert "newest5" in text
    assert "newest0" not in text
    assert count_tokens(text) <= 100
    known = next_question_prompt("Why?", hops, budget=20)
    assert "answer5" in known
    assert "answer0" not in known
    assert "answer5" in final_prompt("Why?", hops, 60)


def test_a_passage_that_two_hops_found_is_shown_once_with_the_newer():
    shared = Hit("s", "shared fact", 1.0)
    hops = [Hop("a?", "x", (shared, Hit("o", "old fact", 0.5))), Hop("b?", "y", (shared,))]
    assert evidence_text(hops, 100) == "old fact\n\nshared fact"


def test_the_best_passage_of_a_hop_stands_next_to_the_question_and_is_never_the_one_cut():
    hits = [Hit("1", "best passage", 2.0), Hit("2", "second " * 50, 1.0)]
    whole, cut = hop_answer_prompt("Which?", hits), hop_answer_prompt("Which?", hits, budget=20)
    assert whole.index("second") < whole.index("best passage") < whole.index("Which?")
    assert "best passage" in cut
    assert "second" not in cut


def test_braces_and_dollars_are_ordinary_text():
    nasty = 'What is {x} for $5, "$question"?'
    for prompt in (next_question_prompt(nasty, []), hop_answer_prompt(nasty, []), final_prompt(nasty, [])):
        assert nasty in prompt


@pytest.mark.parametrize(("name", "value"), [("k", -1), ("max_hops", 0), ("max_hops", 1000)])
def test_a_bad_argument_is_named(name, value):
    with pytest.raises(ValueError, match=name):
        iterative("Why?", retriever=never, llm=never, **{name: value})
