"""The grader on answers of every kind: each slip loses points where its docstring says, other right ways get all."""

from __future__ import annotations

import ast
import functools
import json
import re
from pathlib import Path

import pytest

from grading.course import Exercise, open_course
from grading.judge import check_source, judge, judge_submission
from grading.running.plan import Limits
from grading.submission import StudentCell, Submission

ROOT = Path(__file__).resolve().parent.parent
SUBMISSIONS = ROOT / "tests" / "submissions"
COURSE = open_course(ROOT, bundled=True)
NAMES = sorted(path.stem for path in COURSE.source.glob("*/*.ipynb"))
LIMITS = Limits(test_seconds=20, total_seconds=120)


@functools.cache
def exercise(name: str) -> Exercise:
    return COURSE.exercise(name)


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


@pytest.mark.parametrize("path", answers("wrong"), ids=label)
def test_wrong_answer_loses_points_where_it_says(path: Path):
    verdict = judge(exercise(path.parent.name), path, LIMITS)
    failed = {test.id for test in verdict.tests if test.status != "ok"}
    assert verdict.score < verdict.max_score
    assert must_fail(path) <= failed
    assert all(test.message for test in verdict.tests if test.status != "ok")
    assert verdict.status in ("student_error", "timeout", "crash", "not_attempted")


@pytest.mark.parametrize("path", answers("right"), ids=label)
def test_right_answer_gets_full_marks(path: Path):
    verdict = judge(exercise(path.parent.name), path, LIMITS)
    assert {test.id: test.message for test in verdict.tests if test.status != "ok"} == {}
    assert verdict.score == verdict.max_score
    assert verdict.full


@pytest.mark.parametrize("name", NAMES)
def test_solution_passes_and_the_released_notebook_earns_nothing(name: str):
    assert check_source(exercise(name), LIMITS) == []
    released = COURSE.release / name / f"{name}.ipynb"
    verdict = judge(exercise(name), released, LIMITS)
    assert verdict.score == 0
    assert {test.status for test in verdict.tests} == {"not_attempted"} or not exercise(name).tests
    assert verdict.notes == ()


@pytest.mark.parametrize("name", NAMES)
def test_points_add_up_to_what_the_exercise_says(name: str):
    about = json.loads((COURSE.source / name / f"{name}.ipynb").read_text(encoding="utf-8"))["metadata"]["exercise"]
    assert exercise(name).max_score == about["points"]


@pytest.mark.parametrize("name", [name for name in NAMES if exercise(name).forbidden])
def test_importing_the_reference_answer_earns_nothing(name: str):
    for taken in exercise(name).forbidden:
        module, _, function = taken.rpartition(".")
        for line in (
            f"from {module} import {function}",
            f"from {module} import {function} as mine",
            f"import {module} as m\nmine = m.{function}",
            f"import importlib\nmine = importlib.import_module({module!r}).{function}",
            f"from {module} import *",
        ):
            verdict = judge_submission(
                exercise(name), Submission((StudentCell("", line, True),), "", plain=True), LIMITS
            )
            assert (verdict.status, verdict.score) == ("forbidden_import", 0), line
