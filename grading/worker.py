"""A grading worker: reads jobs, a line each, and writes a record for each, a line each, until its input ends.

    python -m grading worker --course DIR < jobs > records

It reads an exercise once and grades its jobs one after another, so its records come in the order of the jobs. Its
output holds records and nothing else: whatever prints goes to the error output. A job that makes the grader fail costs
itself and gets a record that says so. SIGTERM ends it, and what it has started, at once.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, NoReturn

from grading.course import Course, Exercise
from grading.jobs import Job, read_job, record_line
from grading.judge import check_source, judge_submission, without_run
from grading.record import Record, grader_sha256, pins, pins_sha256
from grading.running.plan import Limits
from grading.running.runner import Runner
from grading.sandbox import Sandbox, SandboxError, self_test
from grading.submission import files_of, read
from grading.verdict import TestVerdict, Verdict


@dataclass(frozen=True)
class Known:
    """An exercise, and the hashes of its source, of the grader and of the packages that its answers run with."""

    exercise: Exercise
    source: str
    grader: str
    pins: str


def known(exercise: Exercise, limits: Limits) -> Known:
    """What a record of this exercise depends on besides the file; a budget of 4 seconds is one of 4.0."""
    plain = Limits(**{name: type(default)(getattr(limits, name)) for name, default in vars(Limits()).items()})
    return Known(exercise, exercise.sha256, grader_sha256(plain), pins_sha256(pins(exercise.preload)))


class Grader:
    """Grades the jobs of one course in this process (a context manager). One sandbox serves all exercises, with the
    modules of all of them loaded."""

    def __init__(self, course: Course, limits: Limits, allow_unsandboxed: bool = False) -> None:
        """Raises `ValueError` when there is no sandbox, or one that does not hold what it should, unless that is
        allowed."""
        self.course, self.limits = course, limits
        self._known: dict[tuple[str, str], Known] = {}
        self._instructors = files_of(course.source)
        names = {name for exercise in course.exercises() for name in exercise.preload}
        self._runner = Runner(sorted(names), limits, allow_unsandboxed)
        try:
            _try_out(self._runner.sandbox, course, allow_unsandboxed)
        except BaseException:
            self._runner.close()
            raise

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.close()

    def record(self, job: Job) -> Record:
        """The record of one job, also when the grader fails on it."""
        key = job.assignment, job.notebook
        try:
            if key not in self._known:
                self._known[key] = known(self.course.exercise(*key), self.limits)
            exercise = self._known[key].exercise
            verdict = self._judge(exercise, job) if job.path else self._check(exercise)
        except Exception as problem:
            fault = "".join(traceback.format_exception(problem))
            return failed(job, self._known.get(key), type(problem).__name__, fault)
        return record_of(job, self._known[key], verdict)

    def _judge(self, exercise: Exercise, job: Job) -> Verdict:
        submission = read(Path(job.path), exercise, self.course.submitted, self._instructors, job.notes)
        return judge_submission(exercise, submission, self.limits, self._runner)

    def _check(self, exercise: Exercise) -> Verdict:
        """What the instructor's own answer gets: points for nothing, the tests it fails as the grader's errors."""
        failing = check_source(exercise, self.limits, self._runner)
        verdict = without_run(exercise, "grader_error" if failing else "ok", "")
        tests = tuple(
            TestVerdict(test.id, 0.0, test.max_points, "grader_error" if test.id in failing else "ok", "")
            for test in verdict.tests
        )
        return replace(verdict, tests=tests)


def _try_out(sandbox: Sandbox, course: Course, allow_unsandboxed: bool) -> None:
    """Try to break out of the sandbox, before anything of a student's is in it.

    Raises `SandboxError` that names what was not prevented; where that is allowed, says so on the error output.
    """
    found = self_test(sandbox, sorted(course.source.glob("*/*.ipynb")))
    if found and not allow_unsandboxed:
        text = f"the sandbox ({sandbox.level}) does not prevent: {', '.join(found)}"
        raise SandboxError(f"{text}; --allow-unsandboxed grades all the same, and every result says so")
    if found:
        print(f"Sandbox: {sandbox.level}. Not prevented: {', '.join(found)}.", file=sys.stderr)


def failing(record: Record) -> list[str]:
    """The tests that failed in the record of an instructor's own answer."""
    return [test.id for test in record.verdict.tests if test.status != "ok"]


def failed(job: Job, about: Known | None, what: str, fault: str) -> Record:
    """The record of a job on which the grader failed; `about` None when the exercise could not be read."""
    text = f"The grader failed on this file ({what}); tell your instructor."
    if about is not None:
        return record_of(job, about, without_run(about.exercise, "grader_error", text, fault=fault))
    verdict = Verdict(job.exercise, "grader_error", text, 0.0, 0.0, (), (), (), (), "visible", "", fault)
    return Record(job.student, job.assignment, job.notebook, "", "", verdict)


def record_of(job: Job, about: Known, verdict: Verdict) -> Record:
    """The record of a job."""
    return Record(job.student, job.assignment, job.notebook, about.source, about.grader, verdict, about.pins)


def serve(course: Course, limits: Limits, allow_unsandboxed: bool = False) -> int:
    """Answer the jobs of the standard input; gives the exit status, which is 1 when a line was no job."""
    with _records_only() as out, Grader(course, limits, allow_unsandboxed) as grader:
        return answer_lines(grader, sys.stdin.buffer, out)


def answer_lines(grader: Grader, lines: Iterable[bytes], out: BinaryIO) -> int:
    """Write a record for every line that holds a job; a line that does not is named on the error output."""
    status = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            job = read_job(line)
        except ValueError as problem:
            print(f"line {number}: {problem}", file=sys.stderr)
            status = 1
            continue
        out.write(f"{record_line(grader.record(job))}\n".encode())
        out.flush()
    return status


@contextlib.contextmanager
def _records_only() -> Iterator[BinaryIO]:
    """What was the standard output, with the error output in its place."""
    sys.stdout.flush()
    kept = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    signal.signal(signal.SIGTERM, _stop)
    with os.fdopen(kept, "wb") as out:
        yield out


def _stop(*_: object) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)
