"""IRCoT and the beam over its chains: the rules of paper and code one by one, a small world, exhaustive search."""

import itertools
import math
import random
import re
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit, Passage
from ragkit.loops import beam_search, is_reasoning, next_query, pooled_paragraphs, read_answer, sampled, single
from ragkit.loops.beam import mean_score
from ragkit.loops.ircot import Chain, add_sentence, ircot, ircot_prompt
from ragkit.models.shapes import Completion, Token
from ragkit.search import BM25

PASSAGES = [
    Passage("founder", "Larkfield Goods was founded by Ida Falk in a garage."),
    Passage("home", "Ida Falk spent her youth in Skagen, beside the harbour."),
    Passage("kettle", "The Aster kettle of Larkfield Goods holds 1.7 litres."),
    Passage("store", "A store of Larkfield Goods is found in each town where people grow up."),
]
QUESTION = "In which town did the person grow up by whom Larkfield Goods was founded?"


def never(*_):
    pytest.fail("called")


def walker(prompt):
    """Writes what its passages say, and always two sentences too many."""
    chain = prompt.split("\nA:")[-1]
    if "Skagen" in chain:
        return "So the answer is: Skagen. Thanks for asking."
    if "Ida Falk" in chain:
        return ("Ida Falk grew up in Skagen." if "in Skagen" in prompt else "Ida Falk grew up in Paris.") + " So Paris."
    return "Larkfield Goods was founded by Ida Falk. She grew up in Paris. So the answer is: Paris."


def test_the_chain_alternates_with_retrieval_by_the_last_sentence():
    result = ircot(QUESTION, retriever=BM25(PASSAGES), llm=walker, k=2)
    assert result.answer == "Skagen"
    assert result.chain.queries == (
        QUESTION,
        "Larkfield Goods was founded by Ida Falk.",
        "Ida Falk grew up in Skagen.",
    )
    assert [step.action for step in result.trace] == ["retrieve", "generate"] * 3
    assert result.stopped == "answer"
    assert [hit.id for hit in BM25(PASSAGES)(QUESTION, 2)] == ["founder", "store"]
    assert [hit.id for hit in result.paragraphs] == ["founder", "store", "home"]


def test_only_the_first_sentence_of_each_generation_is_kept():
    result = ircot(QUESTION, retriever=BM25(PASSAGES), llm=walker, k=2)
    assert result.chain.sentences == (
        "Larkfield Goods was founded by Ida Falk.",
        "Ida Falk grew up in Skagen.",
        "So the answer is: Skagen.",
    )
    assert "Paris" not in result.chain.text


def numbered(retrieved):
    """A retriever of ever new paragraphs and a model of ever new sentences."""
    ids, facts = itertools.count(), itertools.count()

    def retriever(query, k):
        retrieved.append(query)
        return [Hit(f"p{n}", f"paragraph {n}", 1.0) for n in itertools.islice(ids, k)]

    return retriever, lambda prompt: f"Fact {next(facts)} is known."


def test_it_stops_after_ten_sentences_and_holds_at_most_fifteen_paragraphs():
    asked = []
    retriever, llm = numbered(asked)
    result = ircot(QUESTION, retriever=retriever, llm=llm, k=4)
    assert len(result.chain.sentences) == 10
    assert len(result.paragraphs) == 15
    assert (result.answer, result.stopped) == ("", "bound")
    assert len(asked) == 4  # 4 + 4 + 4 + 3: with fifteen held nothing is searched any more


def test_paragraphs_cumulate_without_repeats():
    def retriever(query, k):
        return [Hit("a", "Same text.", 1.0), Hit("b", "same  TEXT.", 1.0), Hit("a", "other", 1.0)]

    result = ircot(QUESTION, retriever=retriever, llm=walker, k=3)
    assert [hit.id for hit in result.paragraphs] == ["a"]


@pytest.mark.parametrize(
    ("sentence", "answer"),
    [
        ("So the answer is: 1.7 litres.", "1.7 litres"),
        ("So the answer is 1987.", "1987"),
        ("The answer is: Skagen", "Skagen"),
        ("Answer is: Skagen.", "Skagen"),
        ("So the answer is: Washington D.C.", "Washington D.C"),
        ("So the answer is: no..", "no."),
        ("She says the answer is: x, so the answer is: y.", "y"),
        ("So the\nanswer is:\nSkagen.", "Skagen"),
        ("The answer isn't known.", None),
        ("The answers are many.", None),
        ("", None),
    ],
)
def test_the_stop_rule_reads_the_answer_and_one_final_full_stop_goes(sentence, answer):
    assert read_answer(sentence) == answer


@pytest.mark.parametrize(
    ("sentence", "reasoning"),
    [
        ("Thus, she is Danish.", True),
        ("thus she is Danish.", True),
        ("So she is Danish.", True),
        ("Therefore she is Danish.", True),
        ("Hence the name.", True),
        ("That is, in Skagen.", True),
        ("It opened in 1990 + 5 = 1995.", True),
        ("1,200 - 3.5 = 1,196.5.", True),
        ("Sofia is a town.", False),
        ("Thusly named, it opened.", False),
        ("That is a town.", False),
        ("She lived from 1990 - 1995.", False),
        ("It is so.", False),
    ],
)
def test_reasoning_sentences_are_those_of_the_released_rule(sentence, reasoning):
    assert is_reasoning(sentence) is reasoning


def test_a_reasoning_sentence_is_no_query_and_the_last_fact_stands_in():
    facts = Chain(("Ida founded it.", "Thus, Ida is rich.", "10 + 5 = 15 years passed."))
    assert next_query("Who?", facts) == "Ida founded it."
    assert next_query(" Who? ", Chain(("So it is red.",))) == "Who?"
    assert next_query("Who?", Chain()) == "Who?"


def test_a_query_that_was_asked_is_not_asked_again():
    asked = []
    replies = iter(["Ida founded it.", "Thus, Ida is rich.", "So the answer is: Ida."])
    retriever, _ = numbered(asked)
    ircot("Who?", retriever=retriever, llm=lambda p: next(replies), k=1)
    assert asked == ["Who?", "Ida founded it."]


@pytest.mark.parametrize(
    ("replies", "stopped", "kept"),
    [
        (["", "x"], "empty", ()),
        (["  \n "], "empty", ()),
        (["It is red.", "it is  RED. And more."], "repeat", ("It is red.",)),
        (["A: It is red.", "Answer: So the answer is: red."], "answer", ("It is red.", "So the answer is: red.")),
    ],
)
def test_what_models_write_instead_of_a_sentence_ends_the_chain(replies, stopped, kept):
    told = iter(replies)
    result = ircot("Which?", retriever=lambda q, k: [], llm=lambda p: next(told))
    assert (result.stopped, result.chain.sentences) == (stopped, kept)


def test_a_blank_question_costs_nothing():
    result = ircot(" ", retriever=never, llm=never)
    assert (result.answer, result.paragraphs, result.stopped) == ("", (), "blank")


def test_a_paragraph_is_cut_at_350_words_and_examples_come_first():
    chain = Chain(("It is red.",), (Hit("p", "word " * 400, 1.0),))
    prompt = ircot_prompt("What is {x} for $5?", chain, examples="Q: a\nA: b")
    assert len(re.findall(r"\bword\b", prompt)) == 350
    assert prompt.index("Q: a\nA: b") < prompt.index("word")
    assert prompt.endswith("Q: What is {x} for $5?\nA: It is red.")
    assert ircot_prompt("Why?", Chain()).endswith("(no passage was found)\n\nQ: Why?\nA:")


def test_passages_are_shown_as_the_caller_wants():
    prompt = ircot_prompt("Why?", Chain((), (Hit("p", "text", 1.0),)), show=lambda hit: f"[{hit.id}] {hit.text}")
    assert "[p] text" in prompt


@pytest.mark.parametrize(("name", "value"), [("k", -1), ("max_sentences", 0), ("max_paragraphs", 0)])
def test_a_bad_argument_is_named(name, value):
    with pytest.raises(ValueError, match=name):
        ircot("Why?", retriever=never, llm=never, **{name: value})
    with pytest.raises(ValueError, match=name):
        beam_search("Why?", retriever=never, propose=never, **{name: value})


# --- the beam


def test_width_one_and_one_branch_is_ircot():
    alone = ircot(QUESTION, retriever=BM25(PASSAGES), llm=walker, k=2)
    beam = beam_search(QUESTION, retriever=BM25(PASSAGES), propose=single(walker), width=1, branch=1, k=2)
    assert beam.chains[0] == alone.chain
    assert beam.answer == alone.answer


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(["It is red.", "Thus it is.", "So the answer is: x.", "Ida made it.", ""]), max_size=12)
)
def test_width_one_is_ircot_whatever_the_model_writes(replies):
    def llm():
        told = iter(replies)
        return lambda prompt: next(told, "")

    alone = ircot(QUESTION, retriever=BM25(PASSAGES), llm=llm(), k=1)
    beam = beam_search(QUESTION, retriever=BM25(PASSAGES), propose=single(llm()), width=1, branch=1, k=1)
    assert beam.chains[0] == alone.chain


def tree(seed, depth):
    """Two candidates at every node, with scores drawn once; the answer is stated at ``depth``."""
    scores = {}
    rng = random.Random(seed)

    def propose(prompt, n):
        chain = prompt.split("\nA:")[-1].strip()
        level = len(re.findall(r"fact", chain))
        made = []
        for name in "LR"[:n]:
            text = (
                f"So the answer is: {name}{chain[-4:-1]}."
                if level == depth - 1
                else f"A fact {chain.count('.')}{name}."
            )
            key = f"{chain}|{text}"
            made.append((text, scores.setdefault(key, -rng.random())))
        return made

    return propose


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_wider_than_the_tree_finds_the_best_of_all_chains(seed):
    propose = tree(seed, 3)
    result = beam_search("Why?", retriever=lambda q, k: [], propose=propose, width=8, branch=2)
    assert len(result.chains) == 8

    def every(chain, total):  # the exhaustive walk of the same tree, by recursion
        if "answer" in chain:
            yield total / 3, chain
            return
        for text, score in propose(f"\nA: {chain}", 2):
            yield from every(f"{chain} {text}".strip(), total + score)

    best_score, best_chain = max(every("", 0.0))
    assert result.chains[0].text == best_chain
    assert mean_score(result.chains[0]) == pytest.approx(best_score)
    narrow = beam_search("Why?", retriever=lambda q, k: [], propose=propose, width=1, branch=2)
    assert mean_score(narrow.chains[0]) <= best_score + 1e-12


def test_a_beam_survives_a_first_sentence_that_leads_astray():
    def propose(prompt, n):
        chain = prompt.split("\nA:")[-1]
        if "Skagen" in chain or "Paris" in chain:
            return [("So the answer is: " + ("Skagen." if "Skagen" in chain else "Paris."), -0.1)]
        if "Ida" in chain:
            return [("Ida Falk grew up in Skagen.", -0.1)]
        if "Bo" in chain:
            return [("Bo Holm grew up in Paris.", -3.0)]
        return [("The founder is Bo Holm.", -0.2), ("Larkfield Goods was founded by Ida Falk.", -0.3)][:n]

    search = partial(beam_search, QUESTION, retriever=BM25(PASSAGES), propose=propose, k=2)
    assert search(width=1).answer == "Paris"
    both = search(width=2)
    assert both.answer == "Skagen"
    assert [chain.answer for chain in both.chains] == ["Skagen", "Paris"]
    pooled = [hit.id for hit in pooled_paragraphs(both.chains)]
    assert pooled[:3] == ["founder", "store", "home"]  # those of the best chain come first
    assert len(pooled) == len(set(pooled))


def test_equal_candidates_count_once_with_their_best_score():
    result = beam_search(
        "Why?",
        retriever=lambda q, k: [],
        propose=lambda p, n: [("The answer is: x.", -2.0), ("the answer is:  X.", -1.0)][:n],
        branch=2,
    )
    assert [chain.score for chain in result.chains] == [-1.0]


def test_a_beam_is_bounded_and_prefers_a_chain_with_an_answer():
    count = itertools.count()
    calls = []

    def propose(prompt, n):
        calls.append(prompt)
        return [(f"Fact {next(count)} holds.", 0.0) for _ in range(n)]

    result = beam_search("Why?", retriever=lambda q, k: [], propose=propose, width=2, branch=3, max_sentences=4)
    assert len(calls) == 1 + 2 * 3
    assert all(len(chain.sentences) == 4 for chain in result.chains)
    assert result.answer == ""


def test_a_beam_without_candidates_and_one_without_a_question():
    assert beam_search("Why?", retriever=lambda q, k: [], propose=lambda p, n: []).chains == ()
    assert beam_search(" ", retriever=never, propose=never).answer == ""


def test_sampling_scores_the_first_sentence_only_and_the_first_sample_is_greedy():
    seen = []

    class Model:
        def generate(self, prompt, **options):
            seen.append((options["temperature"], options["seed"]))
            return Completion("", (Token("It", 0.5), Token(" boils.", 0.5), Token(" Rarely", 1e-9)))

    assert sampled(Model())("Why?", 3) == [("It boils.", pytest.approx(math.log(0.5)))] * 3
    assert seen == [(0.0, 0), (0.8, 1), (0.8, 2)]


def test_add_sentence_leaves_the_chain_it_was_given_alone():
    chain = Chain()
    add_sentence(chain, "It is red.")
    assert chain == Chain()
