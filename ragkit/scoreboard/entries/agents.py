"""Chapter 16: an agent with five tools, one call without it, and the loop as a program, judged by their answers."""

from __future__ import annotations

from functools import partial

from ragkit import corpus
from ragkit.corpus import Question
from ragkit.recorded import agents as loops
from ragkit.scoreboard.technique import Find, Stage, Technique

CHAPTER = "16-agents"
MEASURE = "right answers"


def questions(hand: bool) -> list[Question]:
    """Those of the chapter's questions that the corpus labels: the ones about code and the sums are its own."""
    chosen = {case.id for case in (loops.by_hand() if hand else loops.cases())}
    return [question for question in corpus.load().questions if question.id in chosen]


def judge(question: Question, answer: str) -> float:
    """1 for a right answer, or for saying that there is none where nothing at hand knows it."""
    return float(loops.right(_case(question), answer))


def _case(question: Question) -> loops.Case:
    return next(case for case in loops.cases() if case.id == question.id)


def _make(task: str, stage: Stage) -> Find:
    llm = stage.ask(task)
    return lambda question: loops.outcome(loops.replay(task, _case(question), llm=llm))


HAND = {"one call": "agent_plain", "agent": "agent"}
SMALL = {
    "one call, all": "agent_plain",
    "agent, free": "agent_shown",
    "agent, grammar": "agent_grammar",
    "fixed loop": "agent_fixed",
    "fixed loop, checks in code": "agent_mixed",
}
"""Technique -> task. By hand every third question is answered, so the small model's rows have names of their own."""


def _row(name: str, task: str, answerer: str) -> Technique:
    asked = partial(questions, answerer == "hand")
    return Technique(
        name, CHAPTER, partial(_make, task), (answerer,), questions=asked, judge=judge, measure=MEASURE, timed=False
    )


TECHNIQUES = (
    *(_row(name, task, "hand") for name, task in HAND.items()),
    *(_row(name, task, "135M") for name, task in SMALL.items()),
)
