"""The command line of the grader.

    python -m grading grade                       the bundled sample class, against its expected marks
    python -m grading grade --course DIR          a class of any nbgrader course
    python -m grading check EXERCISE FILE         one answer: a notebook or a Python file
    python -m grading export --format canvas      the marks of the gradebook, for another system
    python -m grading tidy --course DIR           files renamed to what nbgrader's own commands look for
    python -m grading generate [--check]          the released exercises, from the solutions
    python -m grading jobs --course DIR           what there is to grade, a line each, for workers elsewhere
    python -m grading worker --course DIR         a worker: reads such lines and writes a record for each

`options.py` has the options, and the exit statuses that `--help` prints.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator, Sized
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grading.course import Course, open_course
from grading.options import DONE, LOCKED, NOT_AS_IT_SHOULD, STOPPED, WRONG, limits_of, parser

if TYPE_CHECKING:
    from grading.classroom import Outcome

ROOT = Path(__file__).resolve().parent.parent
MOST_SHOWN = 100  # students in the table on the terminal


def main(arguments: list[str] | None = None) -> int:
    """Run one command; gives the exit status."""
    command = parser()
    options = command.parse_args(arguments)
    if options.course is not None and not options.course.is_dir():
        command.error(f"--course: {options.course} is no folder")
    run = {
        "grade": run_grade,
        "check": run_check,
        "export": run_export,
        "generate": run_generate,
        "tidy": run_tidy,
        "jobs": run_jobs,
        "worker": run_worker,
    }[options.command]
    try:
        return run(open_course((options.course or ROOT).resolve(), bundled=options.course is None), options)
    except (ValueError, OSError) as problem:
        print(f"python -m grading: {problem}", file=sys.stderr)
        return LOCKED if type(problem).__name__ == "GradebookError" else WRONG


def run_grade(course: Course, options: Namespace) -> int:
    """Grade a class; on the sample class, compare with the expected marks."""
    from grading import sample  # nbgrader takes a second to import, and `check` needs none of it
    from grading.classroom import grade_class
    from grading.engines import cluster_at, pool_of
    from grading.export import differences

    bundled = options.course is None
    if bundled and not course.source.is_dir():
        raise ValueError(f"course: the sample class is graded with hidden tests, and {course.source.name}/ is not here")
    for line in course.ignored:
        print(line, file=sys.stderr)
    pupils = sample.read_class() if bundled else []
    if bundled:
        sample.make_class(course, pupils)
    if options.scheduler:
        engine = cluster_at(options.scheduler, options.allow_unsandboxed)
    else:
        engine = pool_of(options.jobs, options.allow_unsandboxed)
    names = {pupil.id: pupil.name for pupil in pupils}
    try:
        with _terminable():
            outcome = grade_class(
                course,
                names,
                again=options.again,
                limits=limits_of(options),
                engine=engine,
                records=options.records,
                allow_unsandboxed=options.allow_unsandboxed,
            )
    except KeyboardInterrupt:
        print("Stopped. The records are kept: grading again goes on from there.", file=sys.stderr)
        return STOPPED
    expected = sample.expected_marks(pupils) if bundled else None
    _say(course, outcome, expected)
    failed = bool(outcome.broken or outcome.faults)
    if expected is None:
        return NOT_AS_IT_SHOULD if failed else DONE
    wrong = differences(outcome.marks, expected)
    for line in wrong:
        print(f"Not as expected: {line}", file=sys.stderr)
    if not wrong and not failed:
        print("Every mark is as expected.")
    return NOT_AS_IT_SHOULD if wrong or failed else DONE


def _say(course: Course, outcome: Outcome, expected: dict[tuple[str, str], float] | None) -> None:
    """What came out, for the instructor."""
    from rich.console import Console

    from grading.export import marks_table
    from grading.judge import scope

    if len(outcome.students) <= MOST_SHOWN:
        console = Console(width=None if sys.stdout.isatty() else 160)
        console.print(marks_table(outcome.exercises, outcome.students, outcome.marks, expected))
    reused = f", {outcome.reused} of them from records" if outcome.reused else ""
    scopes = {scope(exercise) for exercise in outcome.exercises if exercise.tests}
    hidden = "visible tests only" if "visible" in scopes else "with hidden tests" if "all" in scopes else "all tests"
    print(f"{_count(outcome.records, 'submission')} of {_count(outcome.students, 'student')}, {hidden}{reused}.")
    for what, path in (("Marks", outcome.csv), ("Gradebook", course.database), ("Feedback", outcome.index)):
        print(f"{what}: {path}")
    for note in outcome.notes:
        print(note, file=sys.stderr)
    for (student, exercise), fault in outcome.faults.items():
        print(f"The grader failed on {exercise} of {student}.", file=sys.stderr)
        if fault:
            print(fault, file=sys.stderr)
    for exercise, tests in outcome.broken.items():
        print(f"The instructor's own answer to {exercise} fails {', '.join(tests)}.", file=sys.stderr)


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends what is inside as an exit does, so that workers are ended and what is half done is kept."""

    def stop(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def run_check(course: Course, options: Namespace) -> int:
    """Grade one file."""
    from grading.check import print_json, print_verdict
    from grading.judge import judge
    from grading.running.runner import Runner

    exercise = course.exercise(options.exercise)
    if not options.file.is_symlink() and not options.file.exists():
        raise ValueError(f"file: {options.file} does not exist")
    limits = limits_of(options)
    with Runner(exercise.preload, limits, options.allow_unsandboxed) as runner:
        verdict = judge(exercise, options.file, limits, runner)
    if options.json:
        print_json(verdict)
    else:
        print_verdict(exercise.title, verdict)
    return DONE if verdict.full else NOT_AS_IT_SHOULD


def run_export(course: Course, options: Namespace) -> int:
    """Write the marks in the gradebook for another system."""
    from grading.export.writing import write_export

    to = options.to or course.build / "export" / (f"{options.format}.csv" if options.format != "moodle" else "moodle")
    ids = dict(pair.rsplit("=", 1) for pair in options.id if "=" in pair)
    if len(ids) < len(options.id):
        raise ValueError("--id: is given as ASSIGNMENT=NUMBER, an assignment once")
    export = write_export(options.format, course, to, options.assignment, ids, options.worksheet)
    for path in export.files:
        print(path)
    for note in export.notes:
        print(note, file=sys.stderr)
    return DONE


def run_generate(course: Course, options: Namespace) -> int:
    """Make the released exercises, or check them."""
    from grading.course.release import generate, stale

    if not course.source.is_dir():
        raise ValueError(f"course: no folder {course.source.name}/ to generate from")
    if not options.check:
        for path in generate(course):
            print(path.relative_to(course.root))
        return DONE
    old = stale(course)
    for name in old:
        print(f"{course.release.name}/{name} is not what {course.source.name}/ gives: run make exercises")
    return NOT_AS_IT_SHOULD if old else DONE


def run_tidy(course: Course, options: Namespace) -> int:
    """Rename what nbgrader would not find."""
    from grading.bridge.tidy import tidy

    for rename in tidy(course, write=not options.dry_run):
        old, new = (os.fsencode(path).decode("utf-8", "backslashreplace") for path in (rename.old, rename.new))
        print(f"{old} -> {new}")
    return DONE


def run_jobs(course: Course, options: Namespace) -> int:
    """Print what there is to grade."""
    from grading.jobs import job_line
    from grading.todo import open_jobs

    for job in open_jobs(course, options.again, limits_of(options)):
        print(job_line(job))
    return DONE


def run_worker(course: Course, options: Namespace) -> int:
    """Answer jobs until the input ends."""
    from grading.worker import serve

    if options.submitted is not None:
        course = replace(course, submitted=options.submitted.resolve())
    return serve(course, limits_of(options), options.allow_unsandboxed)


def _count(things: Sized, word: str) -> str:
    """A number of things in words: "1 student", "2 students"."""
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


if __name__ == "__main__":
    sys.exit(main())
