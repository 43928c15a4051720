"""The grader on answers of every kind: each slip loses points where its docstring says, other right ways get all."""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grading.course import Exercise, open_course
from grading.judge import check_source, judge, judge_submission
from grading.proof.attempts import BROKEN, graded_answers
from grading.running.plan import Limits
from grading.running.runner import Runner
from grading.submission import StudentCell, Submission
from grading.verdict import Verdict

ROOT = Path(__file__).resolve().parent.parent
SUBMISSIONS = ROOT / "tests" / "submissions"
COURSE = open_course(ROOT, bundled=True)
NAMES = sorted(path.stem for path in COURSE.source.glob("*/*.ipynb"))
LIMITS = Limits(test_seconds=20, total_seconds=120)


@functools.cache
def exercise(name: str) -> Exercise:
    return COURSE.exercise(name)


APART = [
    (name, answer) for name in NAMES for answer in graded_answers(exercise(name)) if len(exercise(name).answers) > 1
]


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """One sandbox for all: the answers are ours, so that where none can be had they run all the same."""
    preload = sorted({module for name in NAMES for module in exercise(name).preload})
    with Runner(preload, LIMITS, allow_unsandboxed=True) as made:
        yield made


def failed_tests(verdict: Verdict) -> set[str]:
    return {test.id for test in verdict.tests if test.status != "ok" or test.points < test.max_points}


def answers(kind: str) -> list[Path]:
    return sorted(SUBMISSIONS.glob(f"*/{kind}_*.py"))


def must_fail(path: Path) -> set[str]:
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    found = re.search(r"^Fails: (.+)\Z", doc, re.MULTILINE | re.DOTALL)
    assert found, f"{path.name}: the docstring has no line that begins with Fails:"
    return set(re.split(r"[\s,]+", found.group(1).strip()))


def label(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def test_there_are_answers_for_every_machine_graded_exercise():
    graded = {name for name in NAMES if exercise(name).tests}
    assert {path.parent.name for path in answers("right")} == {path.parent.name for path in answers("wrong")} == graded


@pytest.mark.parametrize("name", [name for name in NAMES if exercise(name).tests])
def test_every_graded_answer_has_two_right_ones_and_eight_wrong_ones(name: str):
    assert len([path for path in answers("right") if path.parent.name == name]) >= 2
    fails = [must_fail(path) for path in answers("wrong") if path.parent.name == name]
    for answer, tests in graded_answers(exercise(name)).items():
        assert sum(named <= tests for named in fails) >= 8, f"too few wrong answers to {answer}"


@pytest.mark.parametrize("path", answers("wrong"), ids=label)
def test_wrong_answer_loses_points_where_it_says_and_nowhere_else(path: Path, runner: Runner):
    verdict = judge(exercise(path.parent.name), path, LIMITS, runner)
    failed = failed_tests(verdict)
    assert verdict.score < verdict.max_score
    assert must_fail(path) <= failed
    spoiled = [answer for answer, tests in graded_answers(exercise(path.parent.name)).items() if tests & failed]
    assert len(spoiled) == 1, "wrong in one answer, it costs points in several"
    assert all(test.message for test in verdict.tests if test.status != "ok")
    assert verdict.status in ("student_error", "timeout", "crash", "not_attempted")


@pytest.mark.parametrize("path", answers("right"), ids=label)
def test_right_answer_gets_full_marks(path: Path, runner: Runner):
    verdict = judge(exercise(path.parent.name), path, LIMITS, runner)
    assert {test.id: test.message for test in verdict.tests if test.status != "ok"} == {}
    assert verdict.score == verdict.max_score
    assert verdict.full


@pytest.mark.parametrize(("name", "answer"), APART)
@pytest.mark.parametrize("how", ["is a stub", *BROKEN])
def test_a_wrong_answer_to_one_question_costs_nothing_in_another(name: str, answer: str, how: str, runner: Runner):
    """The other answers are the instructor's; what stands in the place of this one stops, ends or holds up its cell."""
    texts = {cell.id: cell.solution for cell in exercise(name).answers}
    stub = next(cell.source for cell in exercise(name).answers if cell.id == answer)
    texts[answer] = {"is a stub": stub, **BROKEN}[how]
    cells = tuple(StudentCell(mark, text, True) for mark, text in texts.items())
    limits = Limits(cell_seconds=3, test_seconds=20, total_seconds=120)
    verdict = judge_submission(exercise(name), Submission(cells, ""), limits, runner)
    assert failed_tests(verdict) == graded_answers(exercise(name))[answer]
    own = sum(test.points for test in exercise(name).tests if test.id in graded_answers(exercise(name))[answer])
    assert verdict.score == verdict.max_score - own


@pytest.mark.parametrize("name", NAMES)
def test_solution_passes_and_the_released_notebook_earns_nothing(name: str, runner: Runner):
    assert check_source(exercise(name), LIMITS, runner) == []
    released = COURSE.release / name / f"{name}.ipynb"
    verdict = judge(exercise(name), released, LIMITS, runner)
    assert verdict.score == 0
    assert {test.status for test in verdict.tests} == {"not_attempted"} or not exercise(name).tests
    assert verdict.notes == ()


@pytest.mark.parametrize("name", NAMES)
def test_points_add_up_to_what_the_exercise_says(name: str):
    about = json.loads((COURSE.source / name / f"{name}.ipynb").read_text(encoding="utf-8"))["metadata"]["exercise"]
    assert exercise(name).max_score == about["points"]


@pytest.mark.parametrize("name", [name for name in NAMES if exercise(name).forbidden])
def test_importing_the_reference_answer_earns_nothing(name: str, runner: Runner):
    for taken in exercise(name).forbidden:
        module, _, function = taken.rpartition(".")
        for line in (
            f"from {module} import {function}",
            f"from {module} import {function} as mine",
            f"import {module} as m\nmine = m.{function}",
            f"import importlib\nmine = importlib.import_module({module!r}).{function}",
            f"from {module} import *",
        ):
            submission = Submission((StudentCell("", line, True),), "", plain=True)
            verdict = judge_submission(exercise(name), submission, LIMITS, runner)
            assert (verdict.status, verdict.score) == ("forbidden_import", 0), line
