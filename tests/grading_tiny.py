"""A course of one small exercise, for the tests of the grader: two answers, three tests, one with a hidden part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grading.course import Course, Exercise, open_course
from grading.judge import judge
from grading.running.plan import Limits
from grading.verdict import Verdict

FAST = Limits(test_seconds=4, total_seconds=30)
TOTAL = """def total(numbers):
    ### BEGIN SOLUTION
    return sum(numbers)
    ### END SOLUTION"""
BOX = """class Box:
    ### BEGIN SOLUTION
    def __init__(self, items):
        self.items = list(items)

    def get(self):
        return self.items
    ### END SOLUTION"""
TEST_TOTAL = """assert total([1, 2]) == 3, "numbers are added up"
given = [1, 2]
total(given)
assert given == [1, 2], "the input was changed"
"""
TEST_HIDDEN = """assert total([5]) == 5, "one number is its own sum"
### BEGIN HIDDEN TESTS
secret_numbers = [7349, 11]
assert total(secret_numbers) == 7360, "larger numbers are added up too"
assert total([]) == 0
### END HIDDEN TESTS"""
TEST_BOX = """mine = ["a", "b"]
box = Box(mine)
mine.append("c")
assert box.get() == ["a", "b"], "the box keeps a copy"
"""
RIGHT = """def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result

class Box:
    def __init__(self, items):
        self.kept = tuple(items)
    def get(self):
        return list(self.kept)
"""
BOX_ONLY = """
class Box:
    def __init__(self, items):
        self.kept = tuple(items)
    def get(self):
        return list(self.kept)
"""


def cell(source: str, kind: str = "code", **mark: Any) -> dict[str, Any]:
    """A notebook cell; keywords are its nbgrader metadata."""
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source}
    if mark:
        plain = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
        made["metadata"]["nbgrader"] = {**plain, **mark}
    if kind == "code":
        made |= {"outputs": [], "execution_count": None}
    return made


def notebook(cells: list[dict[str, Any]], **exercise: Any) -> dict[str, Any]:
    metadata = {
        "exercise": {"title": "Tiny", **exercise},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
    }
    return {"nbformat": 4, "nbformat_minor": 4, "metadata": metadata, "cells": cells}


def source_cells() -> list[dict[str, Any]]:
    return [
        cell("# Tiny", "markdown", grade_id="tiny-contract", locked=True),
        cell("import math\nLIMIT = math.inf"),
        cell(TOTAL, grade_id="total", solution=True),
        cell(TEST_TOTAL, grade_id="test-total", grade=True, locked=True, points=2),
        cell(TEST_HIDDEN, grade_id="test-hidden", grade=True, locked=True, points=3),
        cell(BOX, grade_id="Box", solution=True),
        cell(TEST_BOX, grade_id="test-box", grade=True, locked=True, points=5),
    ]


def write_notebook(path: Path, book: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(book), encoding="utf-8")
    return path


def make_course(root: Path, cells: list[dict[str, Any]] | None = None, **exercise: Any) -> Course:
    """A course with the one exercise `tiny` under `source/`."""
    exercise.setdefault("forbidden", ["reference.totals.total"])
    write_notebook(root / "source" / "tiny" / "tiny.ipynb", notebook(cells or source_cells(), **exercise))
    return open_course(root)


def solved(answers: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """A student's cells as released, with the given answers, by default right ones."""
    total, box = RIGHT.split("\n\n")
    texts = {"total": total, "Box": box} if answers is None else answers
    cells = source_cells()
    for one in cells:
        name = one["metadata"].get("nbgrader", {}).get("grade_id")
        if name in texts:
            one["source"] = texts[name]
        elif one["metadata"].get("nbgrader", {}).get("solution"):
            one["source"] = one["source"].split("\n")[0] + f'\n    raise NotImplementedError("{name}")'
        elif name == "test-hidden":
            one["source"] = one["source"].split("\n### BEGIN")[0]
    return cells


def grade_text(exercise: Exercise, folder: Path, text: str, limits: Limits = FAST) -> Verdict:
    """Grade a plain Python answer."""
    path = folder / "answer.py"
    path.write_text(text, encoding="utf-8")
    return judge(exercise, path, limits)


def grade_cells(exercise: Exercise, folder: Path, cells: list[dict[str, Any]], limits: Limits = FAST) -> Verdict:
    """Grade a notebook of these cells."""
    return judge(exercise, write_notebook(folder / "handed" / "tiny.ipynb", notebook(cells)), limits)


def statuses(verdict: Verdict) -> dict[str, str]:
    return {test.id: test.status for test in verdict.tests}
