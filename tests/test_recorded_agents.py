"""The loops of the chapter on agents: which questions, what counts as right, what is kept, and runs that replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragkit.loops.react_parser import parse_turn
from ragkit.loops.search_r1 import read_transcript
from ragkit.models import Local
from ragkit.recorded import agents as course
from ragkit.recorded.agents import Case, Filing, code_search, filing, right, silent

CASES = {case.id: case for case in course.cases()}


def test_fifty_two_questions_of_eight_kinds_and_every_third_by_hand() -> None:
    kinds = dict.fromkeys(case.kind for case in CASES.values())
    assert len(CASES) == 52
    assert set(kinds) == set(course.HOME)
    assert course.by_hand() == course.cases()[::3]
    assert {case.kind for case in course.by_hand()} == set(kinds)
    for case in CASES.values():
        assert bool(case.answers) == (case.kind not in ("nowhere", "code"))
        assert bool(case.names) == (case.kind == "code")
        assert bool(case.relevant) == (case.kind not in ("nowhere", "code", "arithmetic"))


def test_a_reply_is_right_by_the_rule_of_its_kind() -> None:
    fact = Case("f", "single_fact", "How long?", ("ten years",))
    assert right(fact, "It is ten years.")
    assert not right(fact, "Years.")
    assert not right(fact, "")
    assert not right(fact, "ten years " + "and more " * course.LONGEST)
    money = Case("a", "arithmetic", "How much?", ("1327",))
    assert right(money, "£1,327")
    assert right(money, "89 and 1238 make 1327")
    assert not right(money, "1328")
    assert not right(money, "1 2 3 4 1327")
    nowhere = Case("n", "nowhere", "Who?")
    assert right(nowhere, "The sources at hand do not say.")
    assert not right(nowhere, "Ida")
    assert not right(nowhere, " ")
    code = Case("c", "code", "Which?", names=("ragkit.search.bm25.BM25.scores", "ragkit.metrics.exact_match"))
    assert right(code, "BM25.scores")
    assert right(code, "`exact_match`")
    assert not right(code, "its scores")


@pytest.mark.parametrize(
    ("reply", "says_nothing"),
    [("No document tells.", True), ("It is not given.", True), ("Nobody knows why, but 14.", False), ("14", False)],
)
def test_silence_is_said_in_several_ways(reply: str, says_nothing: bool) -> None:
    assert silent(reply) == says_nothing


def test_the_threshold_is_the_one_that_the_development_half_gives() -> None:
    assert course.tuned_reach() == course.REACH


def test_the_router_knows_code_from_documents_on_questions_that_it_has_not_seen() -> None:
    routed = [course.router()(case.text).route == course.HOME[case.kind][0] for case in CASES.values() if case.kind in
              ("code", "single_fact", "multi_hop", "table_form", "relational")]  # fmt: skip
    assert sum(routed) >= 0.85 * len(routed)


def test_a_turn_under_the_grammar_fits_its_tokens_by_its_lengths() -> None:
    head = course.grammar().splitlines()[0]
    assert f"line{{1,{course.LENGTH}}}" in head
    assert course.grammar().count(f"char{{1,{course.ARGUMENT}}}") == len(course.toolbox())


def test_kept_searches_are_served_and_new_ones_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_search, "KEPT", tmp_path / "code.toml")
    monkeypatch.setattr(code_search, "FOLDER", tmp_path)
    code_search.kept.cache_clear()
    try:
        first = course.code("reciprocal rank fusion", keep=True)
        monkeypatch.setattr(code_search, "current", lambda: pytest.fail("a kept query was searched again"))
        assert course.code("Reciprocal  rank fusion") == first
        assert len(course.code("reciprocal rank fusion", 1)) == 1
    finally:
        code_search.kept.cache_clear()


def test_an_answer_that_is_filed_is_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    filed: list[Any] = []
    monkeypatch.setattr(filing, "file_record", filed.append)
    monkeypatch.setattr(filing, "write", lambda task, prompt, model: f"{len(prompt)}")
    asked = Filing("agent", CASES["single_fact-14"], {}, Local())
    talk = [{"role": "user", "content": "a"}]
    longer = [*talk, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
    assert [asked(talk), asked(longer), asked(talk)] == ["1", "3", "1"]
    assert [record.item for record in filed] == ["single_fact-14/135M/1", "single_fact-14/135M/2"]


def test_hand_runs_replay_without_a_fault_and_become_transcripts() -> None:
    for case in course.by_hand():
        run = course.replay("agent", case, "hand")
        assert not run.faults
        assert run.answer
        assert len(run.steps) <= course.LIMITS["max_steps"] + 1
        found = read_transcript(course.transcript(run))
        assert found.valid == (run.stopped == "answer")
        assert found.answer == run.answer


def test_what_a_loop_found_is_held_against_the_relevant_passages() -> None:
    fact = CASES["single_fact-14"]
    run = course.replay("agent", fact, "hand")
    assert set(fact.relevant) <= set(course.gathered(fact, run))
    assert course.held(fact, run) == 1.0
    loop = course.replay("agent_fixed", fact)
    assert course.gathered(fact, loop) == tuple(hit.id for hit in loop.evidence)
    assert len(course.gathered(fact, "any answer of one call")) == 3
    two = Case("two", "multi_hop", fact.text, ("x",), relevant=(fact.relevant[0], "elsewhere/1"))
    assert course.held(two, "any answer of one call") == 0.5
    with pytest.raises(ValueError, match="arithmetic-1 has none"):
        course.held(CASES["arithmetic-1"], run)


def test_a_verdict_is_paired_with_what_was_before_the_check() -> None:
    fact, sums = CASES["single_fact-14"], CASES["arithmetic-1"]
    loop = course.replay("agent_fixed", fact)
    checks = [step for step in loop.trace if step.action == "check"]
    assert list(course.verdicts({fact: loop})) == [(True, True)]
    assert len(checks) == 1
    assert list(course.verdicts({sums: course.replay("agent_fixed", sums)})) == []
    late = Case("late", "single_fact", fact.text, ("x",), relevant=("elsewhere/1",))
    assert list(course.verdicts({late: loop})) == [(False, True)]


def test_every_turn_under_the_grammar_is_read() -> None:
    for case in CASES.values():
        run = course.replay("agent_grammar", case)
        turns = [step for step in run.steps if step.kind != "closing"]
        assert all(not parse_turn(step.reply).error for step in turns)
