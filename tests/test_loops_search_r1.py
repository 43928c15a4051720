"""Search-R1's transcripts: the format by a regular expression, the rewards by their table, the mask by characters."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.loops.search_r1 import (
    KINDS,
    format_reward,
    found_answer,
    loss_mask,
    outcome_reward,
    read_transcript,
    search_r1_prompt,
)

GOOD = (
    "<think>Who founded it?</think>\n<search> founder of Larkfield Goods </search>\n"
    "<information>Larkfield Goods was founded by Ida Falk.</information>\n"
    "<think>Where did she grow up?</think>\n<search>Ida Falk grew up</search>\n"
    "<information>Ida Falk grew up in Skagen.</information>\n<think>So.</think><answer> Skagen </answer>"
)
# One letter a block: a thought before each search and before the answer, passages after each search.
SHAPE = re.compile(r"(?:tsi)*ta")


def test_a_transcript_is_read_into_blocks():
    read = read_transcript(GOOD)
    assert [block.kind for block in read.blocks] == ["think", "search", "information"] * 2 + ["think", "answer"]
    assert (read.valid, read.answer) == (True, "Skagen")
    assert read.queries == ("founder of Larkfield Goods", "Ida Falk grew up")
    assert [row["action"] for row in read.trace.rows()][:3] == ["think", "search", "observe"]
    assert all(GOOD[block.start] == "<" and GOOD[block.end - 1] == ">" for block in read.blocks)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no answer at the end"),
        ("Skagen", "words outside the blocks"),
        ("<answer>Skagen</answer>", "answer without a thought before it"),
        ("<search>x</search>", "search without a thought before it"),
        ("<think>a</think><answer>b</answer> Bye.", "words outside the blocks"),
        ("<think>a</think><answer>b</answer><think>c</think>", "think after answer"),
        ("<think>a</think><think>b</think><answer>c</answer>", "think after think"),
        ("<think>a</think><information>b</information><think>c</think><answer>d</answer>", "information after think"),
        ("<think>a</think><search>b</search><think>c</think><answer>d</answer>", "think after search"),
        ("<think>a<search>b</search>", "<search> inside <think>"),
        ("<think>a</answer></think><answer>b</answer>", "</answer> inside <think>"),
        ("</think><think>a</think><answer>b</answer>", "</think> closes nothing"),
        ("<think>a</think><answer>b", "<answer> is not closed"),
    ],
)
def test_each_fault_of_the_format_is_named(text, fault):
    read = read_transcript(text)
    assert fault in read.faults
    assert not read.valid


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(KINDS), max_size=8))
def test_validity_agrees_with_a_regular_expression_over_the_order_of_blocks(kinds):
    text = "\n".join(f"<{kind}>x</{kind}>" for kind in kinds)
    assert read_transcript(text).valid == bool(SHAPE.fullmatch("".join(kind[0] for kind in kinds)))


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(
            st.sampled_from([f"<{s}{k}>" for k in KINDS for s in ("", "/")] + ["x", "\n", "水", "<"]), max_size=14
        ).map("".join),
    )
)
def test_no_text_raises_and_blocks_never_overlap(text):
    read = read_transcript(text)
    ends = [0, *(edge for block in read.blocks for edge in (block.start, block.end))]
    assert ends == sorted(ends)
    assert read.valid == (not read.faults)
    assert outcome_reward(read, ["x"]) in (0.0, 1.0)
    assert [word for word, _ in loss_mask(read, lambda t: [(i, i + 1) for i in range(len(t))])] == list(text)


def test_the_outcome_reward_is_exact_match_of_the_last_answer_and_nothing_else():
    assert outcome_reward(read_transcript(GOOD), ["skagen", "Skaw"]) == 1.0
    assert outcome_reward(read_transcript(GOOD), "Paris") == 0.0
    assert (
        outcome_reward(read_transcript("<answer>Skagen</answer>"), "Skagen") == 1.0
    )  # no thought, no search, full marks
    assert outcome_reward(read_transcript("<answer>Paris</answer><answer>Skagen</answer>"), "Skagen") == 1.0
    assert outcome_reward(read_transcript("<think>Skagen</think>"), "Skagen") == 0.0


@pytest.mark.parametrize(
    ("text", "answer", "reward"),
    [
        (GOOD, "Skagen", 1.0),
        ("<answer>Skagen</answer>", "Skagen", 0.8),
        (GOOD, "Ida Falk", 0.3),
        (GOOD, "Paris", 0.2),
        ("<answer>Skagen</answer>", "Paris", 0.1),
        ("Skagen", "Skagen", 0.0),
    ],
)
def test_the_reward_with_format_terms(text, answer, reward):
    assert format_reward(read_transcript(text), answer) == pytest.approx(reward)
    assert format_reward(read_transcript(text), answer, structure=0, retrieval=0, final=0) == outcome_reward(
        read_transcript(text), answer
    )


def test_a_retrieved_answer_is_found_by_whole_words():
    read = read_transcript("<information>She likes skagenite.</information>")
    assert not found_answer(read, "Skagen")
    assert found_answer(read_transcript(GOOD), ["Paris", "skagen"])
    assert not found_answer(read_transcript(GOOD), [""])
    with pytest.raises(ValueError, match="structure"):
        format_reward(read, "x", structure=2)


def test_retrieved_tokens_are_masked_and_all_others_are_learned_from():
    mask = loss_mask(read_transcript(GOOD))
    learned = "".join(word for word, kept in mask if kept)
    masked = "".join(word for word, kept in mask if not kept)
    blocks = re.findall(r"<information>.*?</information>", GOOD)
    assert masked == re.sub(r"\s", "", "".join(blocks))
    assert learned == re.sub(r"\s", "", re.sub(r"<information>.*?</information>", "", GOOD))
    assert (
        "IdaFalkgrewup" in learned
    )  # the query, which the model wrote, is kept although the passage has the same words


def test_a_token_that_reaches_into_a_retrieved_block_is_masked():
    text = "ab<information>x</information>"
    assert loss_mask(read_transcript(text), lambda t: [(0, 1), (1, 3)]) == [("a", True), ("b<", False)]


def test_the_prompt_takes_any_question():
    assert search_r1_prompt(" What is {x} for $5? ").endswith("Question: What is {x} for $5?\n")
