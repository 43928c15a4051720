"""From a file and an exercise to a verdict: reads, rebuilds, runs, and puts together what came out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import monotonic

from grading.course import Exercise
from grading.running.plan import CellRun, Limits, Plan, PlanCell, Run, Status
from grading.running.runner import Runner, run
from grading.submission import Paper, Submission, forbidden_imports, read, rebuild
from grading.submission.rebuilding import EMPTY
from grading.syntax import holds_code
from grading.verdict import ManualPart, Scope, TestVerdict, Verdict


def judge(exercise: Exercise, path: Path, limits: Limits | None = None, runner: Runner | None = None) -> Verdict:
    """Grade one file. Raises nothing for anything a student can hand in.

    Without a `runner` it makes one, which takes longer, and raises `SandboxError` where no sandbox can be had.
    """
    began = monotonic()
    verdict = judge_submission(exercise, read(path), limits or Limits(), runner)
    return replace(verdict, seconds=round(monotonic() - began, 4))


def judge_submission(
    exercise: Exercise, submission: Submission, limits: Limits, runner: Runner | None = None
) -> Verdict:
    """Grade what was read."""
    began = monotonic()
    verdict = _judge(exercise, submission, limits, runner)
    return replace(verdict, seconds=round(monotonic() - began, 4))


def _judge(exercise: Exercise, submission: Submission, limits: Limits, runner: Runner | None) -> Verdict:
    paper = Paper((), submission.notes, {})

    def refused(status: Status, message: str) -> Verdict:
        return without_run(exercise, status, message, submission.sha256, paper)

    if submission.problem:
        return refused("unreadable", submission.problem)
    if submission.suspicion:
        return refused("suspicious", submission.suspicion)
    paper = rebuild(exercise, submission)
    if exercise.answers and not any(holds_code(cell.source) for cell in paper.own):
        where = "The file holds" if submission.plain else "The answer cells hold"
        return refused("not_attempted", f"{where} no code, only comments or blank lines.")
    taken = forbidden_imports([cell.source for cell in paper.own], exercise.forbidden)
    if taken:
        names = ", ".join(sorted(taken))
        text = f"The answer imports {names}, which this exercise asks you to write yourself. It gets no points."
        return refused("forbidden_import", text)
    return _verdict(exercise, submission, paper, _run(exercise, paper.cells, limits, runner))


def _run(exercise: Exercise, cells: tuple[PlanCell, ...], limits: Limits, runner: Runner | None) -> Run:
    plan = Plan(cells, exercise.names, exercise.files, limits, exercise.preload, exercise.forbidden)
    return run(plan) if runner is None else runner.run(plan)


def without_run(
    exercise: Exercise,
    status: Status,
    message: str,
    sha256: str = "",
    paper: Paper = EMPTY,
    fault: str = "",
) -> Verdict:
    """No points for anything, with the reason at every test: nothing was run."""
    return Verdict(
        exercise=exercise.key,
        status=status,
        message=message,
        score=0.0,
        max_score=exercise.max_score,
        tests=tuple(TestVerdict(cell.id, 0.0, cell.points, status, message, ran=False) for cell in exercise.tests),
        notes=paper.notes,
        cells=(),
        manual=_manual(exercise, paper),
        scope=scope(exercise),
        submission_sha256=sha256,
        fault=fault,
    )


def check_source(exercise: Exercise, limits: Limits | None = None, runner: Runner | None = None) -> list[str]:
    """Tests that the instructor's own answer fails; a student's failure there would be the grader's fault."""
    if not exercise.from_source:
        return []
    paper = rebuild(exercise, Submission((), ""))
    solutions = {cell.id: cell.solution for cell in exercise.answers}
    cells = tuple(replace(cell, source=solutions.get(cell.id, cell.source)) for cell in paper.cells)
    outcome = _run(exercise, cells, limits or Limits(), runner)
    return [test.id for test in outcome.tests if test.status != "ok"]


def blame_grader(verdict: Verdict, broken: list[str]) -> Verdict:
    """The verdict with the failures of broken tests marked as the grader's."""
    text = "This test fails on the instructor's own answer; it will be put right and graded again."
    tests = tuple(
        replace(test, status="grader_error", message=text, lines=())
        if test.id in broken and test.ran and test.status != "ok"
        else test
        for test in verdict.tests
    )
    status = verdict.status if verdict.message else _overall(tests, verdict.cells)
    return replace(verdict, tests=tests, status=status)


def scope(exercise: Exercise) -> Scope:
    """Which tests there are to run."""
    if not exercise.from_source:
        return "visible"
    return "all" if any(cell.hidden_lines for cell in exercise.tests) else "none hidden"


def _overall(tests: tuple[TestVerdict, ...], cells: tuple[CellRun, ...]) -> Status:
    """The worst that happened: the grader's own failure first, then what stopped the answer, then its errors."""
    seen = {test.status for test in tests}
    if any(cell.error is not None and cell.error.type == "suspicious" for cell in cells):
        seen.add("suspicious")
    order: tuple[Status, ...] = ("grader_error", "suspicious", "timeout", "crash", "student_error", "not_attempted")
    return next((status for status in order if status in seen), "ok")


def _verdict(exercise: Exercise, submission: Submission, paper: Paper, outcome: Run) -> Verdict:
    points = {cell.id: cell.points for cell in exercise.tests}
    tests = tuple(
        TestVerdict(
            test.id,
            test.points,
            points[test.id],
            test.status,
            test.message,
            test.lines,
            test.ran,
            test.failed_hidden,
            test.seconds,
        )
        for test in outcome.tests
    )
    return Verdict(
        exercise=exercise.key,
        status=_overall(tests, outcome.cells),
        message="",
        score=sum(test.points for test in tests),
        max_score=exercise.max_score,
        tests=tests,
        notes=paper.notes,
        cells=outcome.cells,
        manual=_manual(exercise, paper),
        scope=scope(exercise),
        submission_sha256=submission.sha256,
        fault=outcome.fault,
        sandbox=outcome.sandbox,
    )


def _manual(exercise: Exercise, paper: Paper) -> tuple[ManualPart, ...]:
    return tuple(ManualPart(cell.id, cell.points, paper.manual.get(cell.id, "")) for cell in exercise.manual)
