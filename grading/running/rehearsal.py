"""Goes through what a judging process does, with an exercise of nobody's, in the process that it is forked from.

As `warming` does for the student's side: Python's first steps through a piece of code are its slowest.
"""

from __future__ import annotations

import sys

from grading.running.known import Known
from grading.running.plan import Limits, Plan, PlanCell
from grading.running.proctor import Proctor
from grading.running.session import Students
from grading.running.warming import CELL


def rehearse(students: Students) -> None:
    """Judge tests that an answer passes and tests that it fails, with hidden parts and without."""
    tests = [f"assert add([{number}, 2.5], more=2) == [{number + 2}, 4.5]" for number in range(6)]
    tests += ["assert add([1]) == [3]", "add([])"]
    cells = [PlanCell("setup", "setup", "import math"), PlanCell("answer", "answer", CELL, binds=("add",))]
    for number, source in enumerate(tests):
        hidden = ((2, 2),) if number % 2 else ()
        cells.append(PlanCell("test", f"test-{number}", f"{source}\nassert add([2]) == [3]", 1.0, hidden))
    plan = Plan(tuple(cells), ("add",), (), Limits())
    before = sys.modules["__main__"]
    try:
        Proctor(plan, students, Known(plan.limits.total_seconds), lambda event: None).run()
    finally:
        sys.modules["__main__"] = before
