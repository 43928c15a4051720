"""What is handed in to try an exercise's tests: right answers, wrong ones, mutants, hard-coded ones, broken ones.

Right and wrong answers are files, `right_*.py` and `wrong_*.py`, each a whole answer to the exercise. The others stand
in the place of one of the instructor's answers.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from grading.course import Exercise, SourceCell
from grading.proof.hardcoded import hard_coded
from grading.proof.mutants import mutants
from grading.proof.order import reseeded, shuffled
from grading.proof.waivers import read_waivers
from grading.submission import StudentCell, Submission
from grading.syntax import parse, used_names

Kind = Literal["right", "wrong", "mutant", "hard-coded", "broken"]
BROKEN = {
    "is no Python": "def",
    "raises": "1 / 0",
    "ends the process": "import os\nos._exit(3)",
    "never ends": "while True:\n    pass",
}


@dataclass(frozen=True)
class Attempt:
    """Something to hand in. `exercise` is what it is judged by, `variant` what is unusual about that: other seeds, say;
    `answer` is the grade_id of the one answer that is not the instructor's, "" for a whole file; `change`: what a
    mutant changes; `waived`: the reason why it may have full marks."""

    kind: Kind
    name: str
    exercise: Exercise = field(repr=False)
    submission: Submission = field(repr=False)
    answer: str = ""
    change: str = ""
    variant: str = ""
    waived: str = ""


def graded_answers(exercise: Exercise) -> dict[str, frozenset[str]]:
    """The tests that look at each answer, by grade_id; answers that no test looks at are left out."""
    used = {test.id: used_names(parse(test.source)) for test in exercise.tests}
    found = {a.id: frozenset(test for test, names in used.items() if names & set(a.binds)) for a in exercise.answers}
    return {answer: tests for answer, tests in found.items() if tests}


def attempts(exercise: Exercise, folder: Path, orders: int, seed: int) -> list[Attempt]:
    """Everything to try on an exercise; a right answer also under `orders` other seeds and orders of tests."""
    rng = random.Random(f"{seed} {exercise.key}")
    variants = {"": exercise}
    for number in range(1, orders + 1):
        other = rng.randrange(1, 10**6)
        variants[f"order {number}, seed {other}"] = shuffled(reseeded(exercise, other), other)
    right = {"reference": _hand_in(exercise, {})} | _files(folder, "right")
    made = [
        Attempt("right", name, judged, work, variant=variant)
        for name, work in right.items()
        for variant, judged in variants.items()
    ]
    made += [Attempt("wrong", name, exercise, work) for name, work in _files(folder, "wrong").items()]
    waivers = read_waivers(folder)
    for answer in exercise.answers:
        if answer.id in graded_answers(exercise):
            made += _of_one(exercise, answer, waivers.get(answer.id, {}))
    return made


def draw(made: Sequence[Attempt], most: int, seed: int) -> list[Attempt]:
    """At most so many of each kind for each answer, drawn by a seed."""
    groups: dict[tuple[str, str, str], list[Attempt]] = defaultdict(list)
    for attempt in made:
        groups[attempt.exercise.key, attempt.kind, attempt.answer].append(attempt)
    drawn: list[Attempt] = []
    for key, group in groups.items():
        drawn += random.Random(f"{seed} {key}").sample(group, min(most, len(group)))
    return drawn


def _of_one(exercise: Exercise, answer: SourceCell, waivers: Mapping[str, str]) -> list[Attempt]:
    """What is tried in the place of one answer."""
    made = []
    for own in mutants(answer.solution):
        work, waived = _hand_in(exercise, {answer.id: own.source}), waivers.get(own.name, "")
        made.append(Attempt("mutant", own.name, exercise, work, answer.id, own.change, waived=waived))
    for fallback, text in hard_coded(exercise, answer).items():
        made.append(Attempt("hard-coded", fallback, exercise, _hand_in(exercise, {answer.id: text}), answer.id))
    if len(graded_answers(exercise)) > 1:
        for how, text in {"is a stub": answer.source, **BROKEN}.items():
            made.append(Attempt("broken", how, exercise, _hand_in(exercise, {answer.id: text}), answer.id))
    return made


def _hand_in(exercise: Exercise, instead: dict[str, str]) -> Submission:
    """The instructor's answers, with some others in their place."""
    cells = (StudentCell(cell.id, instead.get(cell.id, cell.solution), True) for cell in exercise.answers)
    return Submission(tuple(cells), "")


def _files(folder: Path, kind: str) -> dict[str, Submission]:
    """The whole answers of a kind, by the name of their file."""
    return {
        path.stem: Submission((StudentCell("", path.read_text(encoding="utf-8"), True),), "", plain=True)
        for path in sorted(folder.glob(f"{kind}_*.py"))
    }
