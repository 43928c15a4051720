"""Labelled pairs for a semantic cache: what counts as one token, and that the labels mean what they say."""

from __future__ import annotations

import difflib
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit import corpus
from ragkit.corpus import Question
from ragkit.systems import labelled_pairs, one_token_variant, zipf_sample


@pytest.mark.parametrize(
    ("question", "variant"),
    [
        ("What is happening with ORD-482913?", "What is happening with ORD-482914?"),
        ("How did ORD-517209 end?", "How did ORD-517200 end?"),
        ("Is the red kettle covered?", "Is the blue kettle covered?"),
        ("Who ran Riverhead in 2024?", "Who ran Riverside in 2024?"),  # the name goes before the number
        ("What did it cost in 2023?", "What did it cost in 2024?"),
        ("Is it covered?", None),
        ("", None),
        ("A redder kettle", None),  # a word of the list inside another word is not that word
    ],
)
def test_one_token_is_changed_or_none(question: str, variant: str | None) -> None:
    assert one_token_variant(question) == variant


def test_a_variant_of_a_course_question_differs_in_one_word_only() -> None:
    seen = 0
    for question in corpus.load().questions:
        variant = one_token_variant(question.text)
        if variant is None:
            continue
        seen += 1
        changes = difflib.SequenceMatcher(a=question.text.split(), b=variant.split(), autojunk=False).get_opcodes()
        replaced = [(op, a2 - a1, b2 - b1) for op, a1, a2, b1, b2 in changes if op != "equal"]
        assert replaced == [("replace", 1, 1)], (question.text, variant)
    assert seen > 40


def test_pairs_carry_their_label_and_blank_wordings_are_left_out() -> None:
    questions = [
        Question("q1", "single_fact", "dev", "Is the red one dearer?"),
        Question("q2", "single_fact", "dev", "Is it covered?"),
    ]
    pairs = labelled_pairs(questions, {"q1": ["Does the red one cost more?", " "]})
    assert pairs == [
        ("Is the red one dearer?", "Does the red one cost more?", True),
        ("Is the red one dearer?", "Is the blue one dearer?", False),
    ]
    assert labelled_pairs([], {}) == []


def test_zipf_sample_has_the_weights_of_its_ranks() -> None:
    counts = Counter(zipf_sample(["a", "b", "c", "d"], 100_000, seed=1))
    total = 1 + 1 / 2 + 1 / 3 + 1 / 4
    for place, item in enumerate("abcd", start=1):
        # six standard deviations of a binomial share at n = 100,000
        assert counts[item] / 100_000 == pytest.approx(1 / place / total, abs=0.01)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(), max_size=5), st.integers(0, 20), st.integers(0, 5))
def test_zipf_sample_is_seeded_and_draws_only_from_its_items(items: list[str], n: int, seed: int) -> None:
    drawn = zipf_sample(items, n, seed)
    assert drawn == zipf_sample(items, n, seed)
    assert len(drawn) == (n if items else 0)
    assert set(drawn) <= set(items)


def test_zipf_sample_refuses_a_negative_n() -> None:
    with pytest.raises(ValueError, match="n must be at least 0"):
        zipf_sample(["a"], -1)
