"""The command line of the grader.

    python -m grading grade                       the bundled sample class, against its expected marks
    python -m grading grade --course DIR          a class of any nbgrader course
    python -m grading check EXERCISE FILE         one answer: a notebook or a Python file
    python -m grading generate [--check]          the released exercises, from the solutions

Exit status of `check`: 0 full marks, 1 less, 2 a wrong command. Of `grade` on the sample: 1 when a mark is not as
expected.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from grading.course import Course, Exercise, open_course
from grading.feedback import WORDS, number
from grading.judge import Verdict, judge
from grading.proxy import Limits

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Run one command; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m grading", description="Grade answers to the course's exercises.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    grade = commands.add_parser("grade", help="grade a class (without --course: the bundled sample class)")
    grade.add_argument(
        "--course", type=Path, metavar="DIR", help="an nbgrader course: a folder with source/ and submitted/"
    )
    grade.add_argument(
        "--jobs", type=int, default=0, metavar="N", help="submissions judged at once (default: processors)"
    )
    grade.add_argument("--again", action="store_true", help="run also what has been graded before")
    check = commands.add_parser("check", help="grade one answer and say what each test found")
    check.add_argument("exercise", metavar="EXERCISE")
    check.add_argument("file", type=Path, metavar="FILE", help="a notebook or a Python file")
    check.add_argument("--json", action="store_true", help="print the result as JSON")
    generate = commands.add_parser("generate", help="make the released exercises from the solutions")
    generate.add_argument("--check", action="store_true", help="write nothing; status 1 when they are not current")
    for command in (check, generate):
        command.add_argument("--course", type=Path, metavar="DIR", help="a course other than the bundled one")
    for command in (grade, check):
        command.add_argument(
            "--test-seconds", type=float, default=Limits.test_seconds, metavar="S", help="time for a test"
        )
        command.add_argument(
            "--total-seconds", type=float, default=Limits.total_seconds, metavar="S", help="for all tests"
        )
    options = parser.parse_args(arguments)
    if options.course is not None and not options.course.is_dir():
        parser.error(f"--course: {options.course} is no folder")
    course = open_course((options.course or ROOT).resolve(), bundled=options.course is None)
    try:
        return {"grade": run_grade, "check": run_check, "generate": run_generate}[options.command](course, options)
    except ValueError as problem:
        print(f"python -m grading: {problem}", file=sys.stderr)
        return 2


def run_grade(course: Course, options: argparse.Namespace) -> int:
    """Grade a class; on the sample class, compare with the expected marks."""
    from grading import sample
    from grading.classroom import grade_class
    from grading.export import differences, marks_table

    bundled = options.course is None
    pupils = sample.read_class() if bundled else []
    if bundled and not course.source.is_dir():
        raise ValueError(f"course: the sample class is graded with hidden tests, and {course.source.name}/ is not here")
    if bundled:
        sample.make_class(course, pupils)
    names = {pupil.id: pupil.name for pupil in pupils}
    outcome = grade_class(course, names, options.jobs, options.again, _limits(options))
    expected = sample.expected_marks(pupils) if bundled else None
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(marks_table(outcome.exercises, outcome.students, outcome.marks, expected))
    reused = f", {outcome.reused} of them from records" if outcome.reused else ""
    hidden = "with hidden tests" if all(exercise.hidden for exercise in outcome.exercises) else "visible tests only"
    print(f"{len(outcome.records)} submissions of {len(outcome.students)} students, {hidden}{reused}.")
    for what, path in (("Marks", outcome.csv), ("Gradebook", course.database), ("Feedback", outcome.index)):
        print(f"{what}: {path}")
    for record in outcome.records:
        if record.verdict.status == "grader_error":
            print(f"The grader failed on {record.verdict.exercise} of {record.student}.", file=sys.stderr)
    if expected is None:
        return 1 if outcome.broken else 0
    wrong = differences(outcome.marks, expected)
    for line in wrong:
        print(f"Not as expected: {line}", file=sys.stderr)
    if not wrong and not outcome.broken:
        print("Every mark is as expected.")
    return 1 if wrong or outcome.broken else 0


def run_check(course: Course, options: argparse.Namespace) -> int:
    """Grade one file."""
    exercise = course.exercise(options.exercise)
    if not options.file.is_symlink() and not options.file.exists():
        raise ValueError(f"file: {options.file} does not exist")
    verdict = judge(exercise, options.file, _limits(options))
    which = _which(exercise)
    if options.json:
        print(json.dumps(as_json(verdict), ensure_ascii=True, indent=2))
        print(which, file=sys.stderr)
    else:
        _print_verdict(exercise, verdict, which)
    return 0 if verdict.full else 1


def run_generate(course: Course, options: argparse.Namespace) -> int:
    """Make the released exercises, or check them."""
    from grading.release import generate, stale

    if not course.source.is_dir():
        raise ValueError(f"course: no folder {course.source.name}/ to generate from")
    if not options.check:
        for path in generate(course):
            print(path.relative_to(course.root))
        return 0
    old = stale(course)
    for name in old:
        print(f"{course.release.name}/{name} is not what {course.source.name}/ gives: run make exercises")
    return 1 if old else 0


def as_json(verdict: Verdict) -> dict[str, Any]:
    """The result that `check --json` prints."""
    tests = [
        {"id": t.id, "points": t.points, "max_points": t.max_points, "status": t.status, "message": t.message}
        for t in verdict.tests
    ]
    return {"exercise": verdict.exercise, "score": verdict.score, "max_score": verdict.max_score, "tests": tests}


def _print_verdict(exercise: Exercise, verdict: Verdict, which: str) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(f"{exercise.title}: {number(verdict.score)} of {number(verdict.max_score)} points", style="bold")
    if verdict.message:
        console.print(verdict.message, style="red")
    for test in verdict.tests:
        good = test.status == "ok"
        console.print(f"{number(test.points):>4} / {number(test.max_points):<4} {test.id}: {WORDS[test.status]}",
                      style="green" if good else "red")  # fmt: skip
        if test.message and not verdict.message:
            console.print(f"            {test.message}")
        for line in test.lines:
            console.print(f"            {line.cell}, line {line.line}, in {line.function}: {line.code}")
    for note in verdict.notes:
        console.print(f"Note: {note}")
    console.print(which)


def _which(exercise: Exercise) -> str:
    if exercise.hidden:
        return "Hidden tests were run too."
    return "Only the tests you can see were run; the hidden ones run when the work is marked."


def _limits(options: argparse.Namespace) -> Limits:
    if options.test_seconds <= 0 or options.total_seconds <= 0:
        raise ValueError("seconds: a time limit must be above 0")
    return Limits(test_seconds=options.test_seconds, total_seconds=options.total_seconds)


if __name__ == "__main__":
    sys.exit(main())
