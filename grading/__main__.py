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
import sys
from pathlib import Path

from rich.console import Console

from grading.check import print_json, print_verdict
from grading.course import Course, open_course
from grading.judge import judge, scope
from grading.running.plan import Limits

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Run one command; gives the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.course is not None and not options.course.is_dir():
        parser.error(f"--course: {options.course} is no folder")
    try:
        course = open_course((options.course or ROOT).resolve(), bundled=options.course is None)
        return {"grade": run_grade, "check": run_check, "generate": run_generate}[options.command](course, options)
    except (ValueError, OSError) as problem:
        print(f"python -m grading: {problem}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
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
    check.add_argument(
        "--json", action="store_true", help="print the result as JSON, and to the error output what is said besides"
    )
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
    return parser


def run_grade(course: Course, options: argparse.Namespace) -> int:
    """Grade a class; on the sample class, compare with the expected marks."""
    from grading import sample  # nbgrader takes a second to import, and `check` needs none of it
    from grading.classroom import grade_class
    from grading.export import differences, marks_table

    limits = _limits(options)
    bundled = options.course is None
    if bundled and not course.source.is_dir():
        raise ValueError(f"course: the sample class is graded with hidden tests, and {course.source.name}/ is not here")
    pupils = sample.read_class() if bundled else []
    if bundled:
        sample.make_class(course, pupils)
    outcome = grade_class(course, {pupil.id: pupil.name for pupil in pupils}, options.jobs, options.again, limits)
    expected = sample.expected_marks(pupils) if bundled else None
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(marks_table(outcome.exercises, outcome.students, outcome.marks, expected))
    reused = f", {outcome.reused} of them from records" if outcome.reused else ""
    scopes = {scope(exercise) for exercise in outcome.exercises if exercise.tests}
    hidden = "visible tests only" if "visible" in scopes else "with hidden tests" if "all" in scopes else "all tests"
    print(f"{_count(outcome.records, 'submission')} of {_count(outcome.students, 'student')}, {hidden}{reused}.")
    for what, path in (("Marks", outcome.csv), ("Gradebook", course.database), ("Feedback", outcome.index)):
        print(f"{what}: {path}")
    for record in outcome.records:
        if record.verdict.fault:
            print(f"The grader failed on {record.verdict.exercise} of {record.student}:", file=sys.stderr)
            print(record.verdict.fault, file=sys.stderr)
    for exercise, tests in outcome.broken.items():
        print(f"The instructor's own answer to {exercise} fails {', '.join(tests)}.", file=sys.stderr)
    failed = bool(outcome.broken) or any(record.verdict.status == "grader_error" for record in outcome.records)
    if expected is None:
        return int(failed)
    wrong = differences(outcome.marks, expected)
    for line in wrong:
        print(f"Not as expected: {line}", file=sys.stderr)
    if not wrong and not failed:
        print("Every mark is as expected.")
    return int(bool(wrong) or failed)


def run_check(course: Course, options: argparse.Namespace) -> int:
    """Grade one file."""
    exercise = course.exercise(options.exercise)
    if not options.file.is_symlink() and not options.file.exists():
        raise ValueError(f"file: {options.file} does not exist")
    verdict = judge(exercise, options.file, _limits(options))
    if options.json:
        print_json(verdict)
    else:
        print_verdict(exercise.title, verdict)
    return 0 if verdict.full else 1


def run_generate(course: Course, options: argparse.Namespace) -> int:
    """Make the released exercises, or check them."""
    from grading.course.release import generate, stale

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


def _limits(options: argparse.Namespace) -> Limits:
    return Limits(test_seconds=options.test_seconds, total_seconds=options.total_seconds)


def _count(things: tuple[object, ...], word: str) -> str:
    """A number of things in words: "1 student", "2 students"."""
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


if __name__ == "__main__":
    sys.exit(main())
