"""Stored orders of rerankers: made for the corpus of today, thinned rightly, and what a run of the reranker gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragkit import corpus
from ragkit.models import token_embedder
from ragkit.recorded import reranking
from ragkit.search import LateInteraction, cross_encoder_head


def test_every_labelled_test_question_has_candidates_and_orders_of_them() -> None:
    asked = [question.id for question in reranking.asked()]
    assert asked == [q.id for q in corpus.load().select(split="test") if q.relevant]
    known = {passage.id for passage in corpus.load().index}
    kept = reranking.stored("candidates")["questions"]
    assert list(kept) == asked
    assert all(len(set(ids)) == reranking.DEPTH and set(ids) <= known for ids in kept.values())
    for method, questions in (("maxsim", asked), ("head", asked), ("likelihood", [q.id for q in reranking.sample()])):
        orders = reranking.stored(method)["questions"]
        assert sorted(orders) == sorted(questions)
        assert all(sorted(order) == list(range(len(order))) for order in orders.values())
        assert reranking.deepest(method) >= 30


def test_the_sample_has_as_many_questions_of_every_class_and_begins_with_one_of_each() -> None:
    sample = reranking.sample()
    classes = dict.fromkeys(question.cls for question in reranking.asked())
    assert [question.cls for question in sample] == [*classes, *classes]
    first = {cls: next(q.id for q in reranking.asked() if q.cls == cls) for cls in classes}
    assert [question.id for question in sample[: len(classes)]] == list(first.values())


def test_the_order_of_fewer_candidates_is_that_of_more_without_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    question = reranking.asked()[0]
    files: dict[str, Any] = {
        "candidates": {"questions": {question.id: ["a", "b", "c", "d"]}},
        "maxsim": {"questions": {question.id: [3, 1, 0, 2]}},
    }
    monkeypatch.setattr(reranking, "stored", files.__getitem__)
    assert reranking.run("maxsim", 4, [question]) == {question.id: ["d", "b", "a", "c"]}
    assert reranking.run("maxsim", 2, [question]) == {question.id: ["b", "a"]}
    assert reranking.run("first", 3, [question]) == {question.id: ["a", "b", "c"]}
    files["maxsim"] = {"questions": {question.id: [1, 0]}}
    with pytest.raises(ValueError, match="depth 3 is more than the 2 candidates"):
        reranking.run("maxsim", 3, [question])


def test_stored_orders_are_those_of_a_run() -> None:
    """One question, ten candidates: a near tie may fall the other way on another processor, so one swap is let pass."""
    question = next(q for q in reranking.asked() if q.cls == "single_fact")
    for method, reranker in (("maxsim", LateInteraction(token_embedder())), ("head", cross_encoder_head())):
        ran = [hit.id for hit in reranker(question.text, reranking.candidates(question, 10))]
        kept = reranking.run(method, 10, [question])[question.id]
        assert sum(a != b for a, b in zip(ran, kept, strict=True)) <= 2, method


def test_what_is_saved_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reranking, "FOLDER", tmp_path)
    reranking.save(tmp_path / "made.toml", {"vague-02": [1, 0], "x-1": []}, "a machine", 12.34)
    reranking.save(tmp_path / "names.toml", {"vague-02": ["a/b", "ticket-1"]}, "a machine")
    found = reranking.stored("made")
    assert (found["questions"], found["milliseconds"]) == ({"vague-02": [1, 0], "x-1": []}, 12.3)
    assert found["command"] == "python -m ragkit.recorded.reranking made"
    assert reranking.stored("names")["questions"] == {"vague-02": ["a/b", "ticket-1"]}
