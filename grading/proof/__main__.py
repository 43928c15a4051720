"""Tries the tests of exercises on answers of every kind, and prints what they let through.

    python -m grading.proof                       every exercise: minutes
    python -m grading.proof hyde_vector           one of them
    python -m grading.proof --sample 3            three of each kind for each answer, drawn by --seed

Exit status: 0 when nothing is amiss, 1 when something is, 2 for a wrong command.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from rich.console import Console

from grading.course import open_course
from grading.proof.proving import prove
from grading.proof.table import figures, waived, wrong_answers
from grading.proof.waivers import read_waivers

ROOT = Path(__file__).resolve().parents[2]
ANSWERS = ROOT / "tests" / "submissions"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    options = _parser().parse_args(arguments)
    try:
        course = open_course((options.course or ROOT).resolve(), bundled=options.course is None)
        exercises = [course.exercise(name) for name in options.exercise] or course.exercises()
        exercises = [exercise for exercise in exercises if exercise.tests]
        began = time.monotonic()
        proofs = prove(
            exercises,
            options.answers,
            options.sample,
            options.seed,
            options.jobs,
            allow_unsandboxed=options.allow_unsandboxed,
        )
        reasons = {exercise.key: read_waivers(options.answers / exercise.name) for exercise in exercises}
    except (ValueError, OSError) as problem:
        print(f"python -m grading.proof: {problem}", file=sys.stderr)
        return 2
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(wrong_answers(proofs))
    console.print(waived(reasons))
    console.print(figures(proofs))
    problems = [text for one in proofs for text in one.problems]
    for text in problems:
        print(text)
    print(f"{len(problems) or 'Nothing'} amiss, in {time.monotonic() - began:.0f} seconds.")
    return int(bool(problems))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m grading.proof", description="Try the tests of exercises on right, wrong and mutated answers."
    )
    parser.add_argument("exercise", nargs="*", metavar="EXERCISE", help="default: every exercise of the course")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="at most N of each kind for each answer")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the sample, and of the orders and seeds")
    parser.add_argument("--jobs", type=int, default=0, metavar="N", help="judged at once (default: processors)")
    parser.add_argument("--course", type=Path, metavar="DIR", help="a course other than the bundled one")
    parser.add_argument(
        "--answers", type=Path, default=ANSWERS, metavar="DIR", help="right and wrong answers, a folder an exercise"
    )
    parser.add_argument(
        "--allow-unsandboxed", action="store_true", help="run the answers unprotected where no sandbox can be had"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
