"""From a file and an exercise to a verdict: reads, rebuilds, runs, and words what came out.

Everything a verdict holds is plain data. It says nothing of hidden tests beyond their authors' messages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from grading.course import Exercise
from grading.imports import forbidden_imports
from grading.proxy import Limits
from grading.runner import CellRun, Line, Plan, PlanCell, Run, Status, TestRun, run
from grading.submission import Paper, Submission, read, rebuild


@dataclass(frozen=True)
class TestVerdict:
    """One test: its mark and, for the student, what is wrong and the lines of their own code it passed through."""

    id: str
    points: float
    max_points: float
    status: Status
    message: str
    lines: tuple[Line, ...] = ()
    hidden: bool = False

    __test__ = False


@dataclass(frozen=True)
class ManualPart:
    """A part that a person grades."""

    id: str
    max_points: float
    answer: str


@dataclass(frozen=True)
class Verdict:
    """What one submission earned."""

    exercise: str
    status: Status
    message: str
    score: float
    max_score: float
    tests: tuple[TestVerdict, ...]
    notes: tuple[str, ...]
    cells: tuple[CellRun, ...]
    manual: tuple[ManualPart, ...]
    hidden_ran: bool
    submission_sha256: str

    @property
    def full(self) -> bool:
        return self.status == "ok" and all(
            test.status == "ok" and test.points == test.max_points for test in self.tests
        )


def judge(exercise: Exercise, path: Path, limits: Limits | None = None) -> Verdict:
    """Grade one file. Raises nothing for anything a student can hand in."""
    return judge_submission(exercise, read(path), limits or Limits())


def judge_submission(exercise: Exercise, submission: Submission, limits: Limits) -> Verdict:
    """Grade what was read."""
    if submission.problem:
        return _refused(exercise, submission, Paper((), (), {}), "unreadable", submission.problem)
    paper = rebuild(exercise, submission)
    own = [cell.source for cell in paper.cells if cell.kind in ("answer", "extra")]
    taken = sorted({name for source in own for name in forbidden_imports(source, exercise.forbidden)})
    if taken:
        text = (
            f"The answer imports {', '.join(taken)}, which this exercise asks you to write yourself. It gets no points."
        )
        return _refused(exercise, submission, paper, "forbidden_import", text)
    outcome = run(Plan(paper.cells, exercise.names, exercise.files, limits))
    return _verdict(exercise, submission, paper, outcome)


def check_source(exercise: Exercise, limits: Limits | None = None) -> list[str]:
    """Tests that the instructor's own answer fails; a student's failure there would be the grader's fault."""
    if not exercise.hidden:
        return []
    paper = rebuild(exercise, Submission((), ""))
    solutions = {cell.id: cell.solution for cell in exercise.answers}
    cells = tuple(replace(cell, source=solutions.get(cell.id, cell.source)) for cell in paper.cells)
    outcome = run(Plan(cells, exercise.names, exercise.files, limits or Limits()))
    return [test.id for test in outcome.tests if test.status != "ok"]


def blame_grader(verdict: Verdict, broken: list[str]) -> Verdict:
    """The verdict with the failures of broken tests marked as the grader's."""
    text = "This test fails on the instructor's own answer; it will be put right and graded again."
    tests = tuple(
        replace(test, status="grader_error", message=text, lines=())
        if test.id in broken and test.status != "ok"
        else test
        for test in verdict.tests
    )
    return replace(verdict, tests=tests, status=_overall(tests) if verdict.status != "unreadable" else verdict.status)


def _overall(tests: tuple[TestVerdict, ...]) -> Status:
    """The worst that happened: the grader's own failure first, then what stopped the answer, then its errors."""
    seen = {test.status for test in tests}
    order: tuple[Status, ...] = ("grader_error", "timeout", "crash", "student_error", "not_attempted")
    return next((status for status in order if status in seen), "ok")


def _verdict(exercise: Exercise, submission: Submission, paper: Paper, outcome: Run) -> Verdict:
    points = {cell.id: cell.points for cell in exercise.tests}
    tests = tuple(_worded(test, points[test.id]) for test in outcome.tests)
    return Verdict(
        exercise=exercise.key,
        status=_overall(tests),
        message="",
        score=sum(test.points for test in tests),
        max_score=exercise.max_score,
        tests=tests,
        notes=(*paper.notes, *_cell_notes(paper.cells, outcome.cells)),
        cells=outcome.cells,
        manual=_manual(exercise, paper),
        hidden_ran=exercise.hidden,
        submission_sha256=submission.sha256,
    )


def _worded(test: TestRun, max_points: float) -> TestVerdict:
    return TestVerdict(test.id, test.points, max_points, test.status, test.message, test.lines, test.hidden)


def _cell_notes(cells: tuple[PlanCell, ...], runs: tuple[CellRun, ...]) -> list[str]:
    own = {cell.id for cell in cells if cell.kind in ("answer", "extra")}
    return [
        f"{ran.id}: this cell stopped: {ran.error}"
        for ran in runs
        if ran.error and ran.id in own and not ran.error.startswith("NotImplementedError")
    ]


def _manual(exercise: Exercise, paper: Paper) -> tuple[ManualPart, ...]:
    return tuple(ManualPart(cell.id, cell.points, paper.manual.get(cell.id, "")) for cell in exercise.manual)


def _refused(exercise: Exercise, submission: Submission, paper: Paper, status: Status, message: str) -> Verdict:
    """No points for anything, with the reason at every test."""
    return Verdict(
        exercise=exercise.key,
        status=status,
        message=message,
        score=0.0,
        max_score=exercise.max_score,
        tests=tuple(TestVerdict(cell.id, 0.0, cell.points, status, message) for cell in exercise.tests),
        notes=paper.notes,
        cells=(),
        manual=_manual(exercise, paper),
        hidden_ran=False,
        submission_sha256=submission.sha256,
    )
