"""Reading JSON and numbers out of what models write."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.graph.replies import cut_to_tokens, json_objects, read_number, read_score
from ragkit.text import count_tokens

SHORT = st.text(max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | SHORT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SHORT, inner, max_size=3),
    max_leaves=6,
)


def test_two_objects_stay_two_where_a_greedy_pattern_spans_both() -> None:
    assert json_objects('First {"a": "}"} and then {"b": {"c": 1}}.') == [{"a": "}"}, {"b": {"c": 1}}]


def test_nesting_deeper_than_three_levels_is_read() -> None:
    value: dict[str, object] = {"leaf": 1}
    for _ in range(30):
        value = {"in": value}
    assert json_objects(f"```json\n{json.dumps(value)}\n```") == [value]


def test_hopeless_nesting_neither_raises_nor_hangs() -> None:
    assert json_objects('{"a":' * 3000) == []
    assert json_objects("{" * 20000) == []


def test_a_reply_that_was_cut_off_keeps_its_whole_inner_objects() -> None:
    assert json_objects('{"points": [{"score": 1}, {"score": 2}, {"sco') == [{"score": 1}, {"score": 2}]


def test_trailing_commas_and_raw_newlines_are_forgiven() -> None:
    assert json_objects('{"a": [1, 2,], "b": "x\ny",}') == [{"a": [1, 2], "b": "x\ny"}]


@given(st.dictionaries(SHORT, JSON, max_size=3))
@settings(max_examples=50, deadline=None)
def test_what_json_writes_is_read_back_from_the_middle_of_prose(value: dict[str, object]) -> None:
    assert json_objects(f"Of course. {json.dumps(value)} Anything else?") == [value]


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (85, 85.0), ("85.5", 85.5), ("85%", 85.0), ("Score: 85", 85.0), ("85/100", 85.0), ("8/10", 80.0),
        ("0.85/1", 85.0), ("4 out of 5", 80.0), (0.85, 0.85), (130, 100.0), (-3, 0.0), ("very high", None),
        ("Relevance: 0.85/1", 85.0), ("85 %", 85.0), (7, 7.0),
        (None, None), (True, None), (float("nan"), None), ([], None), ("1/0", 1.0), ("1e400", None),
    ],
)  # fmt: skip
def test_scores(value: object, score: float | None) -> None:
    assert read_score(value) == score


@pytest.mark.parametrize(
    ("value", "score"), [("85%", 8.5), ("85 %", 8.5), ("0.85/1", 8.5), ("8/10", 8.0), ("7", 7.0), (85, 10.0)]
)
def test_a_percentage_and_a_fraction_bring_their_scale_and_a_bare_number_has_the_one_asked_for(value, score) -> None:
    assert read_score(value, scale=10.0) == score


def test_numbers_inside_words_are_no_numbers() -> None:
    assert read_number("B12") is None
    assert read_number("<|> -2.5)") == -2.5


@given(st.text(alphabet="ab c\n.-", max_size=80), st.integers(0, 30))
@settings(max_examples=50, deadline=None)
def test_cut_text_is_a_prefix_that_fits_and_cannot_take_another_word(text: str, budget: int) -> None:
    cut = cut_to_tokens(text, budget)
    assert text.startswith(cut)
    assert count_tokens(cut) <= budget
    rest = text[len(cut) :].split()
    if rest:
        assert count_tokens(text[: text.index(rest[0], len(cut)) + len(rest[0])]) > budget
