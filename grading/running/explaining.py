"""What to say of a test that did not pass: its status, a message for the student, the lines of their code it concerns.

The student's process reports its errors itself and may lie in any field. So the code a report quotes is looked up here,
in the cells as they were handed in, and the names of built-in exceptions are checked against Python's. What is said
here is said of a run that was sent no hidden input; of the other run `sealing` says what little may be said.
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from grading.running.plan import CellError, Line, PlanCell, Status, TestRun
from grading.running.stops import UNASKED, StudentStopped
from grading.syntax import function_at, parse, top_level_names

MAX_TEXT = 2_000
MAX_LINES = 6
MAX_CODE = 200
NOT_ATTEMPTED = "NotImplementedError"
NOTHING: Mapping[str, StudentStopped] = {}
STOPS = ("timeout", "crash", "suspicious")  # types of a `CellError` that are no exception's
SYNTAX_ERRORS = ("SyntaxError", "IndentationError", "TabError")


class Explainer:
    """Words for what happened to the cells and tests of one plan."""

    def __init__(self, cells: Sequence[PlanCell], answer_names: Collection[str]) -> None:
        self.cells = {cell.id: cell for cell in cells}
        self.answer_names = frozenset(answer_names)
        self.errors: dict[str, CellError] = {}

    def of_cell(self, cell: PlanCell, report: Any, stop: StudentStopped | None) -> CellError | None:
        """What stopped a cell, if anything did; remembered for the tests that miss what it should define."""
        error: CellError | None = None
        if stop is not None:
            error = CellError(stop.status, stop.text)
        elif isinstance(report, dict):
            family = _family(report)
            lines = self._lines(report)
            kind = _text(report, "type", 100)
            kind = f"an exception {kind}" if kind in STOPS else kind  # a class may have any name
            error = CellError(kind, _text(report, "text"), lines, NOT_ATTEMPTED in family)
        if error is not None:
            self.errors[cell.id] = error
        return error

    def of_test(
        self, problem: BaseException, cell: PlanCell, wanted: Collection[str], lost: Mapping[str, StudentStopped]
    ) -> TestRun:
        """What a test that ended in an exception gets. `wanted`: names it uses that only an answer can define; `lost`:
        cells that ended the student's process."""
        passed = test_lines(problem, f"<{cell.id}>")
        hidden = any(first <= line <= last for first, last in cell.hidden_lines for line in passed)
        outcome = self._judged(problem, cell, wanted, lost, passed[-1] if passed else 0, hidden)
        return replace(outcome, failed_hidden=hidden)

    def _judged(
        self,
        problem: BaseException,
        cell: PlanCell,
        wanted: Collection[str],
        lost: Mapping[str, StudentStopped],
        line: int,
        hidden: bool,
    ) -> TestRun:
        if isinstance(problem, StudentStopped):
            return failed(cell, problem.status, stop_text(problem))
        if self.is_stub(problem):
            return self.not_attempted(cell)
        report = _report_in(problem)
        if report is not None:
            text = _text(report, "text")
            if hidden:
                message = f"Your code raised {(_family(report) or ['an exception'])[0]}"
            else:
                message = f"Your code raised {_text(report, 'type', 100)}{f': {text}' if text else ''}"
            return failed(cell, "student_error", message, self._lines(report))
        if isinstance(problem, NameError) and problem.name in {*wanted, *self.answer_names}:
            return self.undefined(str(problem.name), cell, lost)
        if isinstance(problem, AssertionError):
            text = str(problem)[:MAX_TEXT]
            if not text and hidden:
                text = "A further check of this test does not hold."
            elif not text:
                text = f"This does not hold: {cell.source.split(chr(10))[line - 1].strip() if line else cell.id}"
            return failed(cell, "student_error", text)
        text = "" if hidden else f": {problem}"[:MAX_TEXT]
        message = f"The test could not work with what your answer gave back ({type(problem).__name__}{text})."
        return failed(cell, "student_error", message)

    def is_stub(self, problem: BaseException) -> bool:
        """Whether an exception says that an answer is still to be written."""
        reports = (_report_in(problem), _report_in(problem.__cause__ or problem.__context__))
        return any(NOT_ATTEMPTED in _family(one) for one in reports)

    def not_attempted(self, cell: PlanCell) -> TestRun:
        """What a test of an answer gets that is still to be written."""
        message = f"Not attempted yet: the function raises {NOT_ATTEMPTED}."
        return failed(cell, "not_attempted", message, ran=False)

    def undefined(self, name: str, test: PlanCell, lost: Mapping[str, StudentStopped] = NOTHING) -> TestRun:
        """Why a name that the test needs is not there: the error of the cell that should define it, if it had one. The
        error itself is told once, with the cell."""
        own = [cell for cell in self.cells.values() if cell.kind == "answer"]
        for cell in [cell for cell in self.cells.values() if cell.kind != "test" and name in cell.binds] or own:
            error = self.errors.get(cell.id)
            if error is None and cell.id in lost:  # it ran once, and not when it was run again
                error = CellError(lost[cell.id].status, lost[cell.id].text)
            if error is None:
                continue
            if error.not_attempted:
                break
            if error.type == "suspicious":
                return failed(test, "suspicious", UNASKED, ran=False)
            status: Status = "student_error"
            if error.type == "timeout" or error.type == "crash":
                status = "timeout" if error.type == "timeout" else "crash"
            return failed(test, status, f"`{name}` is not defined, because {reason(cell.id, error)}.", ran=False)
        found = [f"`{other}`" for cell in own for other in top_level_names(cell.source)][:5]
        instead = f" (what you handed in defines {', '.join(found)})" if found else ""
        return failed(test, "not_attempted", f"Not attempted yet: `{name}` is not defined{instead}.", ran=False)

    def _lines(self, report: dict[str, Any]) -> tuple[Line, ...]:
        """The lines of the student's code in a report, their text looked up in the cells as handed in."""
        raw = report.get("lines")
        lines = []
        for one in raw[:MAX_LINES] if isinstance(raw, list) else []:
            name, number = (one.get("cell"), one.get("line")) if isinstance(one, dict) else ("", 0)
            cell = self.cells.get(name) if isinstance(name, str) else None
            if cell is None or cell.kind == "test" or not isinstance(number, int):
                continue
            source = cell.source.split("\n")
            if not 0 < number <= len(source):
                continue
            text, column = source[number - 1], one.get("column")
            code = text.strip()[:MAX_CODE]
            column = column - (len(text) - len(text.lstrip())) if isinstance(column, int) else 0
            column = column if 0 < column <= len(code) + 1 else 0
            lines.append(Line(cell.id, number, function_at(parse(cell.source), number), code, column))
        return tuple(lines)


def failed(cell: PlanCell, status: Status, message: str, lines: tuple[Line, ...] = (), ran: bool = True) -> TestRun:
    """No points for a test."""
    return TestRun(cell.id, status, 0.0, message, lines, ran)


def stop_text(stop: StudentStopped) -> str:
    """A sentence for a process that hung, died, or spoke out of turn."""
    if stop.status == "suspicious":
        return stop.text
    return f"Your code was stopped: {stop.text}." if stop.status == "timeout" else f"Your code broke off: {stop.text}."


def place(cell: str) -> str:
    """How to speak of a cell: "your file" -> "your file", "total" -> "the cell “total”"."""
    return cell if cell.startswith("your ") else f"the cell “{cell}”"


def reason(cell: str, error: CellError) -> str:
    """Why a cell did not define something, in short: "of the syntax error in your file, line 2"."""
    line = f", line {error.lines[-1].line}" if error.lines else ""
    if error.type in SYNTAX_ERRORS and line:
        return f"of the syntax error in {place(cell)}{line}"
    if error.type == "timeout":
        return f"{place(cell)} took too long"
    if error.type == "crash":
        return f"{place(cell)} broke off"
    return f"{place(cell)} stopped with {error.type}{line}"


def test_lines(problem: BaseException, file: str) -> list[int]:
    """The lines of the test cell that an exception passed, outermost first."""
    lines = []
    step = problem.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            lines.append(step.tb_lineno)
        step = step.tb_next
    return lines


def student_family(problem: BaseException) -> list[str] | None:
    """The built-in exceptions that a student's error descends from, the nearest first; None for an error of the test's
    own."""
    report = _report_in(problem)
    return None if report is None else _family(report)


def _report_in(problem: BaseException | None) -> dict[str, Any] | None:
    """The student's own error, where an exception stands for one."""
    report = getattr(problem, "__dict__", {}).get("student_error")
    return report if isinstance(report, dict) else None


def _family(report: dict[str, Any] | None) -> list[str]:
    """The built-in exceptions that an error descends from, as far as they are Python's."""
    names = report.get("family") if report is not None else None
    named = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    known = [getattr(builtins, name, None) for name in named]
    return [kind.__name__ for kind in known if isinstance(kind, type) and issubclass(kind, BaseException)]


def _text(report: dict[str, Any], key: str, most: int = MAX_TEXT) -> str:
    text = report.get(key)
    return text[:most] if isinstance(text, str) else ""
