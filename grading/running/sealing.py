"""What may be said of a test that was run with its hidden part: its status, its points, words that were there before.

The student's process knows the hidden inputs by then, so nothing it has a hand in gets out: no text of an exception, no
line, no exit status, nothing printed. The author's message is taken from the text of the test, by the line of the
failing `assert`, and only where it is a plain string there.
"""

from __future__ import annotations

from dataclasses import replace

from grading.running.desk import Outcome
from grading.running.explaining import Explainer, failed, student_family, test_lines
from grading.running.plan import PlanCell, TestRun
from grading.running.preparing import prepared
from grading.running.stops import UNASKED, StudentStopped

COMMON = (
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "EOFError",
    "FileNotFoundError",
    "ImportError",
    "IndexError",
    "KeyError",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "OSError",
    "OverflowError",
    "RecursionError",
    "RuntimeError",
    "StopIteration",
    "TypeError",
    "UnboundLocalError",
    "ValueError",
    "ZeroDivisionError",
)
FURTHER = "A further check of this test does not hold."
NO_USE = "A further check of this test could not work with what your answer gave back."
TOO_SLOW = "Your code was stopped: a further check of this test took too long."
BROKE_OFF = "Your code broke off in a further check of this test."
CHECK_TOO_LONG = "What your answer gave back took too long to check."
DIFFERENT = "Your code was run a second time, and one of its cells ended in another way than the first time."


def sealed(outcome: Outcome, cell: PlanCell, explainer: Explainer, differs: bool) -> TestRun:
    """What gets out of a test that was run whole. `explainer` knows the cells of the run that was shown nothing hidden;
    `differs`: a cell ended in another way this time."""
    if outcome.stopped is not None:
        return _stopped(cell, outcome.stopped)
    if outcome.problem is None:
        return replace(TestRun(cell.id, "ok", cell.points, ""), points=points_for(outcome.value, cell))
    problem = outcome.problem
    lines = test_lines(problem, f"<{cell.id}>")
    hidden = any(first <= line <= last for first, last in cell.hidden_lines for line in lines)
    said = _failed(problem, cell, explainer, outcome.wanted, lines[-1] if lines else 0)
    if differs:
        said = failed(cell, "student_error", DIFFERENT)
    return replace(said, failed_hidden=hidden)


def points_for(value: object, cell: PlanCell) -> float:
    """nbgrader's partial credit: a last expression that is a number of points, else all of them."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= cell.points:
        return float(value)
    return cell.points


def literal_message(cell: PlanCell, line: int) -> str:
    """The message of the `assert` that a line belongs to, where it is a plain string: "assert x, 'no'" -> "no"."""
    messages = [text for first, last, text in prepared(cell).asserts if first <= line <= last]
    return messages[-1] if messages else ""


def _failed(problem: BaseException, cell: PlanCell, explainer: Explainer, wanted: frozenset[str], line: int) -> TestRun:
    if isinstance(problem, StudentStopped):
        return _stopped(cell, problem)
    if explainer.is_stub(problem):
        return explainer.not_attempted(cell)
    family = student_family(problem)
    if family is not None:
        name = family[0] if family and family[0] in COMMON else "an exception"
        return failed(cell, "student_error", f"Your code raised {name}")
    if isinstance(problem, NameError) and problem.name in {*wanted, *explainer.answer_names}:
        return explainer.undefined(str(problem.name), cell)
    if isinstance(problem, AssertionError):
        message = literal_message(cell, line) if _raised_here(problem, cell) else ""
        return failed(cell, "student_error", message or FURTHER)
    return failed(cell, "student_error", NO_USE)


def _stopped(cell: PlanCell, stop: StudentStopped) -> TestRun:
    texts = {"timeout": TOO_SLOW, "crash": BROKE_OFF, "suspicious": UNASKED}
    return replace(failed(cell, stop.status, texts[stop.status]), failed_hidden=True)


def _raised_here(problem: BaseException, cell: PlanCell) -> bool:
    """Whether the test itself raised it, and nothing that it called."""
    step = problem.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return step is not None and step.tb_frame.f_code.co_filename == f"<{cell.id}>"
