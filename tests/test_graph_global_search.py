"""Global search: batches, robust scores, packing, the canned answer, and that it always ends."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.graph.global_search import (
    NO_ANSWER,
    Point,
    batches,
    map_prompt,
    map_reduce,
    nearest_prompt,
    nearest_reports,
    nearest_summaries,
    pack,
    read_points,
    reduce_prompt,
)
from ragkit.graph.reports import Report
from ragkit.text import count_tokens


def report(i: int, text: str = "one two three") -> Report:
    return Report(i, 0, f"T{i}", f"S{i}", 5.0, text)


def points(*pairs: tuple[str, object]) -> str:
    return json.dumps({"points": [{"description": d, "score": s} for d, s in pairs]})


def test_a_float_a_percentage_or_prose_loses_no_point_let_alone_the_batch() -> None:
    reply = (
        "Sure.\n```json\n"
        + points(("a", "85.5"), ("b", "85%"), ("c", "high"), ("d", 0), ("e", 130), ("f", "7/10"))
        + "\n```"
    )
    found = read_points(reply, 3)
    assert found == [Point("a", 85.5, 3), Point("b", 85.0, 3), Point("e", 100.0, 3), Point("f", 70.0, 3)]


def test_a_cut_reply_keeps_its_whole_points_and_no_list_is_told_from_an_empty_one() -> None:
    assert read_points('{"points": [{"description": "a", "score": 9}, {"descr', 0) == [Point("a", 9.0, 0)]
    assert read_points('{"points": []}', 0) == []
    assert read_points("Nothing here.", 0) is None
    assert read_points('{"points": "none"}', 0) is None
    assert read_points('{"points": [3, null, {"score": 9}, {"description": " ", "score": 9}]}', 0) == []


def test_the_map_prompt_is_safe_for_braces_in_reports_and_question() -> None:
    prompt = map_prompt("What is {x} for $5?", ['{"a": 1}'])
    assert '{"points": [{"description"' in prompt
    assert "What is {x} for $5?" in prompt
    assert '{"a": 1}' in prompt


@given(st.lists(st.integers(0, 12), max_size=12), st.integers(1, 15), st.integers(0, 3))
@settings(max_examples=50, deadline=None)
def test_batches_fit_hold_every_report_once_and_repeat_with_the_seed(sizes, budget: int, seed: int) -> None:
    reports = [report(i, "word " * n) for i, n in enumerate(sizes)]
    packed = batches(reports, budget, seed)
    assert sorted(i for batch in packed for i, _ in batch) == list(range(len(sizes)))
    for batch in packed:
        assert count_tokens("\n\n---\n\n".join(text for _, text in batch)) <= budget
    assert packed == batches(reports, budget, seed)


def test_reports_are_shuffled() -> None:
    order = [i for batch in batches([report(i) for i in range(30)], 10, seed=0) for i, _ in batch]
    assert order != sorted(order)


def test_a_report_longer_than_the_budget_is_cut_and_the_search_ends() -> None:
    answer = map_reduce("q", [report(0, "word " * 500), report(1)], lambda p: points(("x", 5)), budget=10)
    assert sorted(i for batch in answer.batches for i in batch) == [0, 1]
    with pytest.raises(ValueError, match="budget"):
        batches([], 0)


def test_points_are_sorted_packed_and_cut_at_the_first_overflow() -> None:
    long, short = Point("word " * 50, 90.0, 0), Point("tiny", 10.0, 0)
    first = Point("first", 95.0, 0)
    room = count_tokens("- (95) first") + count_tokens("- (10) tiny")
    assert pack([first, long, short], room) == [first]  # the short one would fit, but comes after the overflow
    assert pack([first, short], room) == [first, short]
    assert pack([], 100) == []


def test_a_first_point_longer_than_the_budget_is_cut_not_dropped() -> None:
    (kept,) = pack([Point("word " * 50, 90.0, 0)], 20)
    assert kept.description.startswith("word word")
    assert count_tokens(f"- (90) {kept.description}") <= 20


def test_map_reduce_end_to_end_with_its_trace() -> None:
    reports = [report(i, f"report number {i}") for i in range(3)]
    scores = {0: 40, 1: 0, 2: 80}
    prompts: list[str] = []

    def llm(prompt: str) -> str:
        prompts.append(prompt)
        for i in range(3):
            if f"report number {i}" in prompt:
                return points((f"point {i}", scores[i]))
        return " final "

    answer = map_reduce("themes?", reports, llm, budget=4)
    assert answer.answer == "final"
    assert [p.description for p in answer.points] == ["point 2", "point 0"]
    assert (answer.used, answer.calls, len(answer.batches), answer.unread) == (2, 4, 3, ())
    assert prompts[-1] == reduce_prompt("themes?", answer.points)
    assert map_reduce("themes?", reports, llm, budget=4) == answer


def test_equal_scores_keep_the_order_of_the_batches() -> None:
    answer = map_reduce("q", [report(i) for i in range(4)], lambda p: points(("x", 50)), budget=3)
    assert [p.batch for p in answer.points] == [0, 1, 2, 3]


def test_nothing_left_is_answered_without_a_reduce_call() -> None:
    prompts: list[str] = []

    def llm(prompt: str) -> str:
        prompts.append(prompt)
        return points(("irrelevant", 0)) if len(prompts) == 1 else "no idea"

    answer = map_reduce("q", [report(0), report(1)], llm, budget=3)
    assert (answer.answer, answer.calls, answer.unread) == (NO_ANSWER, 2, (1,))
    assert len(prompts) == 2


def test_no_reports_or_no_question_cost_no_call() -> None:
    def refuse(prompt: str) -> str:
        raise AssertionError(prompt)

    assert map_reduce("q", [], refuse).answer == NO_ANSWER
    assert map_reduce("  ", [report(0)], refuse).calls == 0
    with pytest.raises(ValueError, match="reduce_budget"):
        map_reduce("q", [], refuse, reduce_budget=0)


def embed(texts: list[str]) -> np.ndarray:
    """A vector a text: towards x where it holds "x", else towards y."""
    return np.array([[1.0, 0.0] if "x" in text else [0.0, 1.0] for text in texts], dtype=np.float32)


def test_nearest_reports_are_read_in_order_ties_by_position() -> None:
    reports = [report(0), Report(1, 0, "x", "s", 1.0, "text x"), report(2)]
    assert [r.community for r in nearest_reports("x?", reports, embed, 2)] == [1, 0]
    assert [r.community for r in nearest_reports("x?", reports, embed, 99)] == [1, 0, 2]
    prompts: list[str] = []

    def llm(prompt: str) -> str:
        prompts.append(prompt)
        return "yes"

    answer = nearest_summaries("x?", reports, embed, llm, k=1)
    assert (answer.answer, answer.batches, answer.calls) == ("yes", ((1,),), 1)
    assert prompts == [nearest_prompt("x?", [reports[1]])]
    assert nearest_summaries("x?", [], embed, llm).answer == NO_ANSWER
    assert nearest_summaries("", reports, embed, llm).calls == 0
    with pytest.raises(ValueError, match="k must"):
        nearest_reports("x", reports, embed, -1)
