"""FLARE on scripted token probabilities, and once on the local model."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit, Passage
from ragkit.loops import masked, unsure_spans
from ragkit.loops.flare import flare, flare_prompt
from ragkit.loops.flare_queries import queries_for, span_question_prompt, words_of
from ragkit.loops.sentence import cut_to_first_sentence
from ragkit.models.shapes import Completion, Token
from ragkit.search import BM25

QUESTION = "When did the Riverside store open?"
PASSAGES = [
    Passage("open", "The Riverside store opened in May 2014."),
    Passage("kettle", "The Aster kettle holds 1.7 litres."),
]
SURE = [("The", 0.95), (" store", 0.9), (" sells", 0.85), (" kettles", 0.9), (".", 0.99), ("", 0.2)]
GUESS = [
    ("The", 0.95),
    (" Riverside", 0.9),
    (" store", 0.9),
    (" opened", 0.9),
    (" in", 0.9),
    (" 19", 0.3),
    ("87.", 0.6),
]
TRUE = [("The", 0.9), (" Riverside", 0.9), (" store", 0.9), (" opened", 0.9), (" in", 0.9), (" 2014.", 0.95), ("", 0.9)]


def completion(pairs, finish="stop"):
    return Completion("".join(text for text, _ in pairs), tuple(Token(t, p) for t, p in pairs), finish=finish)


def never(*_):
    pytest.fail("called")


def guesser(prompt):
    """Guesses a year unless a passage says it."""
    return completion(TRUE if "May 2014" in prompt else GUESS)


# --- when


def test_a_sure_sentence_is_kept_without_retrieval():
    result = flare(QUESTION, retriever=never, generate=lambda p: completion(SURE), threshold=0.8)
    assert result.answer == "The store sells kettles."
    assert result.stopped == "end"
    assert [step.action for step in result.trace] == ["look ahead", "keep"]


def test_an_unsure_sentence_is_searched_and_written_again_with_what_was_found():
    result = flare(QUESTION, retriever=BM25(PASSAGES), generate=guesser, k=1)
    assert result.answer == "The Riverside store opened in 2014."
    only = result.sentences[0]
    assert only.ahead == "The Riverside store opened in 1987."
    assert only.lowest == 0.3
    assert only.queries == ("The Riverside store opened in",)
    assert [hit.id for hit in only.hits] == ["open"]
    assert [step.action for step in result.trace] == ["look ahead", "retrieve", "keep"]


def test_confidence_is_the_lowest_token_probability_and_not_the_mean():
    mean = sum(p for _, p in GUESS) / len(GUESS)
    assert mean > 0.7 > min(p for _, p in GUESS)
    asked = []

    def retriever(query, k):
        asked.append(query)
        return []

    flare(QUESTION, retriever=retriever, generate=lambda p: completion(GUESS), threshold=0.7)
    assert len(asked) == 1


def test_the_end_of_text_token_decides_nothing():
    assert SURE[-1] == ("", 0.2)
    flare(QUESTION, retriever=never, generate=lambda p: completion(SURE), threshold=0.8)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=6), st.floats(0, 1.1))
def test_retrieval_happens_exactly_where_the_lowest_is_under_the_threshold(probabilities, threshold):
    asked = []
    pairs = [(f" w{i}", p) for i, p in enumerate(probabilities)]

    def retriever(query, k):
        asked.append(query)
        return []

    flare("Why?", retriever=retriever, generate=lambda p: completion(pairs), threshold=threshold)
    assert bool(asked) == (min(probabilities) < threshold)


def test_threshold_0_never_retrieves_and_above_1_always():
    zero = [("No", 0.0), (".", 0.0)]
    flare(QUESTION, retriever=never, generate=lambda p: completion(zero), threshold=0.0)
    sure = [("Yes", 1.0), (".", 1.0)]
    asked = []
    flare(QUESTION, retriever=lambda q, k: asked.append(q) or [], generate=lambda p: completion(sure), threshold=1.1)
    assert asked == ["Yes."]


# --- what


def test_words_carry_the_lowest_probability_of_their_tokens():
    tokens = completion(GUESS).tokens
    assert words_of(tokens)[-1] == ("1987.", 0.3)
    assert masked(tokens, 0.4) == "The Riverside store opened in"
    assert masked(tokens, 0.0) == "The Riverside store opened in 1987."
    assert unsure_spans(tokens, 0.4) == ["1987"]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["a", " b", "c ", " ", "", " d e", "水"]), st.floats(0, 1)), max_size=10),
    st.floats(0, 1),
)
def test_masking_drops_exactly_the_words_under_beta(pairs, beta):
    tokens = completion(pairs).tokens
    words = words_of(tokens)
    assert [word for word, _ in words] == "".join(text for text, _ in pairs).split()
    assert masked(tokens, beta).split() == [word for word, p in words if p >= beta]
    inside = " ".join(unsure_spans(tokens, beta)).split()
    assert set(inside) <= {word for word, p in words if p < beta}


def test_neighbouring_unsure_words_are_one_span():
    pairs = [
        ("Ida", 0.1),
        (" Falk", 0.2),
        (" founded", 0.9),
        (' "Aster"', 0.1),
        (" in", 0.9),
        (" Ida", 0.1),
        (" Falk", 0.1),
    ]
    assert unsure_spans(completion(pairs).tokens, 0.4) == ["Ida Falk", "Aster"]


def test_a_sentence_masked_to_nothing_is_searched_by_the_question():
    ahead = cut_to_first_sentence(completion([("Nineteen", 0.1), (".", 0.9)]))
    assert queries_for(ahead, QUESTION, "", "masked", 0.4, never) == [QUESTION]
    assert queries_for(ahead, QUESTION, "", "sentence", 0.4, never) == ["Nineteen."]


def test_each_unsure_span_becomes_a_question_and_their_hits_take_turns():
    pairs = [("Ida", 0.1), (" opened", 0.9), (" it", 0.9), (" in", 0.9), (" 1987.", 0.1)]
    prompts = []

    def generate(prompt):
        prompts.append(prompt)
        if "Write one question" in prompt:
            return Completion("Who opened it?" if '"Ida"' in prompt else "1. When was it opened?")
        return completion(TRUE if "second" in prompt else pairs)

    found = {"Who opened it?": ["a", "b"], "When was it opened?": ["second", "c"]}

    def retriever(query, k):
        return [Hit(i, i, 1.0) for i in found[query]]

    result = flare(QUESTION, retriever=retriever, generate=generate, form="question", k=2)
    assert result.sentences[0].queries == ("Who opened it?", "When was it opened?")
    assert [hit.id for hit in result.sentences[0].hits] == ["a", "second"]
    assert span_question_prompt("Ida opened it in 1987.", "1987") in prompts


@pytest.mark.parametrize("reply", ["", "  \n"])
def test_without_a_question_the_whole_sentence_is_the_query(reply):
    ahead = cut_to_first_sentence(completion(GUESS))
    whole = ["The Riverside store opened in 1987."]
    assert queries_for(ahead, QUESTION, "", "question", 0.4, lambda p: reply) == whole
    assert queries_for(ahead, QUESTION, "", "question", 0.1, never) == whole  # unsure by theta, no word below beta


# --- how long


def test_the_number_of_sentences_is_bounded_and_only_the_first_of_each_is_kept():
    count = iter(range(100))

    def generate(prompt):
        return completion([(f"Fact {next(count)} holds.", 0.9), (" And more follows.", 0.01)], "length")

    result = flare(QUESTION, retriever=never, generate=generate, max_sentences=3)
    assert result.answer == "Fact 0 holds. Fact 1 holds. Fact 2 holds."
    assert result.stopped == "bound"
    assert next(count) == 3


def test_a_repeated_sentence_and_an_empty_one_end_the_answer():
    again = completion([("It is red.", 0.9), (" It", 0.9)], "length")
    result = flare(QUESTION, retriever=never, generate=lambda p: again)
    assert (result.answer, result.stopped) == ("It is red.", "repeat")
    result = flare(QUESTION, retriever=never, generate=lambda p: Completion(""))
    assert (result.answer, result.stopped, result.sentences) == ("", "empty", ())


def test_the_passages_of_an_earlier_step_are_dropped():
    prompts = []
    script = iter([GUESS, [*TRUE[:-1], (" More", 0.9)], SURE])

    def generate(prompt):
        prompts.append(prompt)
        return completion(next(script))

    result = flare(QUESTION, retriever=BM25(PASSAGES), generate=generate, k=1)
    assert ["May 2014" in prompt for prompt in prompts] == [False, True, False]
    assert prompts[2].endswith("Answer: The Riverside store opened in 2014.")
    assert result.answer == "The Riverside store opened in 2014. The store sells kettles."


def test_the_first_look_ahead_may_have_the_passages_of_the_question():
    result = flare(QUESTION, retriever=BM25(PASSAGES), generate=guesser, k=1, start_with_question=True)
    assert result.answer == "The Riverside store opened in 2014."
    assert result.sentences[0].queries == ()


def test_the_passages_of_the_question_are_shown_to_the_first_look_ahead_only():
    prompts = []
    script = iter([[*TRUE[:-1], (" More", 0.9)], SURE])

    def generate(prompt):
        prompts.append(prompt)
        return completion(next(script))

    flare(QUESTION, retriever=BM25(PASSAGES), generate=generate, k=1, start_with_question=True)
    assert ["May 2014" in prompt for prompt in prompts] == [True, False]


@pytest.mark.parametrize("found", [[], [Hit("p", "mute", 1.0)]])
def test_where_nothing_is_found_or_written_again_the_first_sentence_stays(found):
    result = flare(
        QUESTION,
        retriever=lambda q, k: found,
        generate=lambda p: Completion("") if "mute" in p else completion(GUESS),
    )
    assert result.answer == "The Riverside store opened in 1987."


def test_a_model_without_token_probabilities_is_refused():
    with pytest.raises(ValueError, match="generate must give token probabilities"):
        flare(QUESTION, retriever=never, generate=lambda p: Completion("It is red."))


def test_a_blank_question_costs_nothing():
    assert flare(" ", retriever=never, generate=never).stopped == "blank"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("k", -1),
        ("max_sentences", 0),
        ("form", "mask"),
        ("threshold", -0.1),
        ("mask_below", 2.0),
        ("threshold", float("nan")),
    ],
)
def test_a_bad_argument_is_named(name, value):
    with pytest.raises(ValueError, match=name):
        flare("Why?", retriever=never, generate=never, **{name: value})


def test_braces_and_dollars_are_ordinary_text():
    nasty = 'What is {x} for $5, "$question"?'
    prompt = flare_prompt(nasty, "It is $3.", [Hit("p", "{t} $written", 1.0)])
    assert prompt.startswith("{t} $written\n\n")
    assert prompt.endswith(f"Question: {nasty}\nAnswer: It is $3.")


@pytest.mark.model
def test_the_local_model_goes_through_the_loop_with_its_own_probabilities():
    from ragkit.models import Local

    generate = partial(Local(max_tokens=24).generate, raw=True)
    result = flare(QUESTION, retriever=BM25(PASSAGES), generate=generate, k=1, max_sentences=2)
    assert 1 <= len(result.sentences) <= 2
    assert all(0.0 < sentence.lowest <= 1.0 for sentence in result.sentences)
    for sentence in result.sentences:
        assert bool(sentence.queries) == (sentence.lowest < 0.8)


def test_a_space_that_is_a_token_of_its_own_keeps_two_words_apart():
    tokens = tuple(
        Token(text, p) for text, p in (("It", 0.9), (" opened", 0.9), (" in", 0.9), (" ", 0.9), ("1987", 0.1))
    )
    sentence = cut_to_first_sentence(Completion("It opened in 1987", tokens))
    assert "".join(token.text for token in sentence.tokens) == "It opened in 1987"
    assert masked(sentence.tokens, 0.4) == "It opened in"
