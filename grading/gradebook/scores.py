"""A verdict as the values of its rows in the gradebook, cell by cell, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grading.course import Exercise
from grading.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Score:
    """What the machine gives for a cell, None where only a person can; `open`: whether a person should look at it."""

    points: float | None
    open: bool


@dataclass(frozen=True, slots=True)
class Sheet:
    """One notebook of one student: a score for every graded cell, and what to say at the answers, by cell. `again`: it
    is about the very file that the gradebook has scores of, so marks that a person gave since are for it."""

    scores: Mapping[str, Score]
    comments: Mapping[str, str]
    again: bool = False


UNKNOWN = Score(None, True)  # as nbgrader enters a cell that nobody has judged


def sheet(exercise: Exercise, verdict: Verdict, again: bool = False) -> Sheet:
    """The rows of a verdict. A test that it lacks is an explicit zero."""
    tests = {
        test.id: Score(float(test.points), test.status in ("grader_error", "suspicious")) for test in verdict.tests
    }
    answers = {part.id: part.answer for part in verdict.manual}
    return _sheet(exercise, tests, answers, {test.id: test.message for test in verdict.tests}, again)


def absent(exercise: Exercise) -> Sheet:
    """The rows of a notebook that was not handed in with the rest of its assignment: nbgrader enters whole
    assignments, and this one must not wait for a person."""
    return _sheet(exercise, {}, {}, {test.id: "This notebook was not handed in." for test in exercise.tests})


def storable(message: str) -> str:
    """A text that a database takes: what a student's program says may hold half a surrogate pair."""
    return message.encode("utf-8", "replace").decode()


def _sheet(
    exercise: Exercise,
    tests: Mapping[str, Score],
    answers: Mapping[str, str],
    said: Mapping[str, str],
    again: bool = False,
) -> Sheet:
    scores = {cell.id: tests.get(cell.id, Score(0.0, False)) for cell in exercise.tests}
    for cell in exercise.manual:
        blank = answers.get(cell.id, "").strip() in ("", cell.source.strip())
        scores[cell.id] = Score(0.0, False) if blank and cell.solution else UNKNOWN
    return Sheet(scores, _comments(exercise, said), again)


def _comments(exercise: Exercise, said: Mapping[str, str]) -> dict[str, str]:
    """What to say at each answer cell: the messages of the tests between it and the next answer."""
    lines: dict[str, list[str]] = {}
    answer = next((cell.id for cell in exercise.answers), "")
    for cell in exercise.cells:
        if cell.kind == "answer":
            answer = cell.id
        elif cell.kind == "test" and said.get(cell.id):
            lines.setdefault(answer, []).append(f"{cell.id}: {said[cell.id]}")
    return {name: storable("\n".join(texts)) for name, texts in lines.items()}
