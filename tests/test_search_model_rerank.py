"""Pointwise and listwise reranking: what models really write is read, bounded and repaired."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit
from ragkit.models import StandIn
from ragkit.search import listwise, permutation_prompt, pointwise, rank_windows, read_permutation, read_score
from ragkit.search.listwise import sliding_windows
from ragkit.search.pointwise import judge, relevance_prompt

HITS = [Hit(f"h{i}", f"passage {i}", 1.0 - i / 100) for i in range(1, 6)]

READ = [
    ("Relevance: 0.85/1", 0.85),
    ("85%", 0.85),
    ("85 per cent", 0.85),
    ("7 out of 10", 0.7),
    ("I would give it 7/10, since 2 of 3 parts fit.", 0.7),
    ("3 stars out of 5", 0.6),
    ("7", 0.7),
    ("**9**", 0.9),
    ('{"score": 9}', 0.9),
    ("score of 8.5", 0.85),
    ("0,85", 0.85),
    ("0.85", 0.85),
    ("0", 0.0),
    ("10", 1.0),
    ("85", 0.85),
    ("150", 1.0),
    ("12/10", 1.0),
    ("-3", 0.0),
    ("From 2019 on, 3 kettles. Relevance: 6.", 0.6),
    ("On a scale of 0 to 10, I rate this 7.", 0.7),
    ("Relevance (0-10): 6", 0.6),
    ("I cannot rate this passage.", None),
    ("As GPT-4 I see order ORD-482913.", None),
    ("12/05/2024", None),
    ("Seven", None),
    ("", None),
]


@pytest.mark.parametrize(("reply", "score"), READ)
def test_trap_a_model_asked_for_a_number_answers_in_many_ways(reply: str, score: float | None) -> None:
    assert read_score(reply) == (None if score is None else pytest.approx(score))


def test_a_number_beyond_the_scale_is_one_out_of_10_or_100() -> None:
    assert [read_score(reply, scale=1) for reply in ("0.4", "1", "7", "85", "101")] == [0.4, 1.0, 0.7, 0.85, 1.0]
    assert [read_score(reply, scale=3) for reply in ("2", "2/3", "3")] == [
        pytest.approx(2 / 3),
        pytest.approx(2 / 3),
        1,
    ]


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_any_reply_gives_a_score_in_0_1_or_none(reply: str) -> None:
    score = read_score(reply)
    assert score is None or 0 <= score <= 1


def test_a_refusal_goes_to_the_end_and_refusing_all_keeps_the_order() -> None:
    model = StandIn([("passage 2", "I'd rather not."), ("passage 4", "9"), ("passage", "3")])
    assert [hit.id for hit in pointwise(model)("q", HITS)] == ["h4", "h1", "h3", "h5", "h2"]
    assert len(model.prompts) == 5
    assert [hit.id for hit in pointwise(StandIn([("", "No.")]))("q", HITS)] == [hit.id for hit in HITS]
    assert pointwise(StandIn([("", "No.")]), unread=0.5)("q", HITS[:1])[0].score == 0.5


def test_the_trace_shows_reply_and_reading() -> None:
    hits = [HITS[0], Hit("blank", " ", 0.0)]
    assert [(j.id, j.reply, j.score) for j in judge("q", hits, StandIn([("", "2")]))] == [
        ("h1", "2", 0.2),
        ("blank", "0", 0),
    ]
    assert judge(" ", hits, StandIn({})) == []
    assert pointwise(StandIn({}))(" ", hits) == hits
    assert pointwise(StandIn({}))("q", []) == []


def test_braces_and_dollars_in_question_and_passage_are_safe() -> None:
    prompt = relevance_prompt('{"a": $5}', "{x} $name")
    assert '{"a": $5}' in prompt
    assert "{x} $name" in prompt
    assert "{x} $y" in permutation_prompt("{q}", ["{x} $y"])


def test_bad_settings_of_a_pointwise_reranker_are_named() -> None:
    with pytest.raises(ValueError, match="scale"):
        pointwise(StandIn({}), scale=0)
    with pytest.raises(ValueError, match="unread"):
        pointwise(StandIn({}), unread=2)


@pytest.mark.parametrize(
    ("reply", "order"),
    [
        ("[3] > [1] > [2]", "312"),
        ("[3] > [3] > [1]", "312"),
        ("[2]", "213"),
        ("[9] > [0] > [2]", "213"),
        ("[2, 3, 1]", "231"),
        ("1. [3]\n2. [1]\n3. [2]", "312"),
        ("1. Passage 3\n2. Passage 1\n3. Passage 2", "312"),
        ("3 > 1 > 2", "312"),
        ("3\n1\n2", "312"),
        ("I cannot order them.", "123"),
        ("", "123"),
    ],
)
def test_trap_repeats_inventions_and_omissions_of_a_listwise_reply_are_repaired(reply: str, order: str) -> None:
    assert read_permutation(reply, 3) == [int(i) - 1 for i in order]


@settings(max_examples=50, deadline=None)
@given(st.text(st.sampled_from("[]0123456789 >,.\nab-")), st.integers(0, 6))
def test_any_reply_gives_a_permutation(reply: str, n: int) -> None:
    assert sorted(read_permutation(reply, n)) == list(range(n))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 60), st.integers(1, 20), st.data())
def test_windows_run_from_the_back_overlap_and_reach_the_front(n: int, window: int, data: st.DataObject) -> None:
    step = data.draw(st.integers(1, window))
    found = list(sliding_windows(n, window, step))
    assert len(found) <= 1 + math.ceil(max(0, n - window) / step)
    if n:
        assert found[0][1] == n
        assert found[-1][0] == 0
        assert all(later[1] == earlier[1] - step >= earlier[0] for earlier, later in pairwise(found))


class Perfect:
    """A model that knows the true value of each passage (its number) and orders what it sees by it, largest first."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, prompt: str) -> str:
        self.calls += 1
        shown = re.findall(r"^\[(\d+)\] value (\d+)", prompt, re.M)
        return " > ".join(f"[{i}]" for i, _ in sorted(shown, key=lambda pair: -int(pair[1])))


def valued(values: list[int]) -> list[Hit]:
    return [Hit(str(v), f"value {v}", 0.0) for v in values]


@settings(max_examples=50, deadline=None)
@given(st.permutations(range(13)))
def test_a_window_from_the_back_carries_the_best_to_the_front_with_a_perfect_model(values: list[int]) -> None:
    """As in the paper: after one pass the best ``window - step`` are in place, whatever the order was."""
    ranked, steps = rank_windows("q", valued(values), Perfect(), window=6, step=3)
    assert [hit.id for hit in ranked[:3]] == ["12", "11", "10"]
    assert sorted(int(hit.id) for hit in ranked) == list(range(13))
    assert len(steps) == 1 + math.ceil((13 - 6) / 3)


def test_a_list_shorter_than_the_window_and_a_front_off_the_step_are_ranked_too() -> None:
    """The released loop stops before a window that would begin ahead of the first hit."""
    model = Perfect()
    assert [hit.id for hit in listwise(model, window=20, step=10)("q", valued([1, 3, 2]))] == ["3", "2", "1"]
    assert model.calls == 1
    ranked = listwise(Perfect(), window=4, step=2)("q", valued([0, 1, 2, 3, 9]))
    assert ranked[0].id == "9"


def test_the_steps_can_be_replayed() -> None:
    hits = valued([0, 1, 2, 3, 4])
    ranked, steps = rank_windows("q", hits, Perfect(), window=3, step=2)
    assert [(s.start, s.end) for s in steps] == [(2, 5), (0, 3)]
    order = [hit.id for hit in hits]
    for step in steps:
        assert tuple(order[step.start : step.end]) == step.before
        order[step.start : step.end] = step.after
    assert [hit.id for hit in ranked] == order
    assert [hit.score for hit in ranked] == [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]


def test_unreadable_replies_keep_the_order_and_one_hit_or_none_costs_no_call() -> None:
    assert [hit.id for hit in listwise(StandIn([("", "Sorry.")]))("q", HITS)] == [hit.id for hit in HITS]
    assert [hit.id for hit in listwise(StandIn({}))("q", HITS[:1])] == ["h1"]
    assert listwise(StandIn({}))("q", []) == []
    assert listwise(StandIn({}))("  ", HITS) == HITS


def test_passages_are_cut_by_words_and_stay_on_one_line() -> None:
    prompt = permutation_prompt("q", ["one two\nthree four", "five"], words=3)
    assert "[1] one two three\n[2] five\n" in prompt


@pytest.mark.parametrize("options", [{"step": 0}, {"step": 21}, {"window": 5}, {"words": 0}])
def test_bad_settings_of_a_listwise_reranker_are_named(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"step|words"):
        listwise(StandIn({}), **options)
