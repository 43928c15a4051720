"""What one submission earned, as plain data, and the sentences about it that the terminal and the feedback page share.

Everything here may be shown to the student except `fault`: it says nothing of hidden tests beyond their authors'
messages.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from grading.running.explaining import SYNTAX_ERRORS, place
from grading.running.plan import CellRun, Level, Line, Status, cell_run_from_json, lines_from_json

Scope = Literal["visible", "all", "none hidden"]
WORDS: dict[Status, str] = {
    "ok": "passed",
    "student_error": "not yet right",
    "timeout": "took too long",
    "crash": "broke off",
    "unreadable": "could not be read",
    "forbidden_import": "not allowed",
    "not_attempted": "not attempted",
    "suspicious": "set aside for a person to look at",
    "grader_error": "the grader's fault",
}


@dataclass(frozen=True)
class TestVerdict:
    """One test: its mark and, for the student, what is wrong and the lines of their own code it passed through. `ran`:
    it got as far as an answer that it could judge. `seconds`: wall time, the student's and the judge's together."""

    id: str
    points: float
    max_points: float
    status: Status
    message: str
    lines: tuple[Line, ...] = ()
    ran: bool = True
    failed_hidden: bool = False
    seconds: float = 0.0

    __test__ = False


@dataclass(frozen=True)
class ManualPart:
    """A part that a person grades."""

    id: str
    max_points: float
    answer: str


@dataclass(frozen=True)
class Verdict:
    """What one submission earned. `message`: why nothing was run, or ""; `notes`: what was repaired in the notebook;
    `scope`: which tests there were to run ("visible": those of the released notebook); `sandbox`: what the student's
    code was locked up in; `seconds`: wall time from the file to the verdict; `fault`: what the grader said when it
    failed, for the instructor alone."""

    exercise: str
    status: Status
    message: str
    score: float
    max_score: float
    tests: tuple[TestVerdict, ...]
    notes: tuple[str, ...]
    cells: tuple[CellRun, ...]
    manual: tuple[ManualPart, ...]
    scope: Scope
    submission_sha256: str
    fault: str = ""
    sandbox: Level = "none"
    seconds: float = 0.0

    @property
    def full(self) -> bool:
        """Whether every test gave all its points."""
        return self.status == "ok" and all(
            test.status == "ok" and test.points == test.max_points for test in self.tests
        )

    @property
    def headline(self) -> str:
        """What to say once above the tests: why nothing was run, or the message that all of them share."""
        shared = {test.message for test in self.tests}
        return self.message or (shared.pop() if len(shared) == 1 and len(self.tests) > 1 else "")

    @property
    def stopped(self) -> tuple[CellRun, ...]:
        """The student's cells that an error stopped, those aside that are still a stub."""
        return tuple(
            cell for cell in self.cells if cell.own and cell.error is not None and not cell.error.not_attempted
        )


def verdict_from_json(data: Mapping[str, Any]) -> Verdict:
    """A verdict from the JSON form of `asdict(verdict)`."""
    return Verdict(
        **{
            **data,
            "tests": tuple(TestVerdict(**{**test, "lines": lines_from_json(test["lines"])}) for test in data["tests"]),
            "notes": tuple(data["notes"]),
            "cells": tuple(map(cell_run_from_json, data["cells"])),
            "manual": tuple(ManualPart(**part) for part in data["manual"]),
        }
    )


def number(value: float) -> str:
    """A mark as one writes it, to four places.

    >>> number(3.0), number(2.5), number(1234567.0), number(-0.0)
    ('3', '2.5', '1234567', '0')
    """
    text = f"{value:.4f}"
    return "0" if float(text) == 0 else text.rstrip("0").rstrip(".")


def which_ran(verdict: Verdict) -> str:
    """Says which tests ran: all of them, the visible ones, or none."""
    if not verdict.tests:
        return "No test belongs to this exercise."
    missed = [test.id for test in verdict.tests if not test.ran]
    if len(missed) == len(verdict.tests):
        return "No test was run." if verdict.scope == "none hidden" else "No test was run, visible or hidden."
    said = {
        "visible": "Only the tests that you can see were run; hidden ones run when the work is marked.",
        "all": "The visible and the hidden tests were run.",
        "none hidden": "All tests were run; none is hidden.",
    }[verdict.scope]
    return f"{said} These found no answer to run: {', '.join(missed)}." if missed else said


def unguarded(verdict: Verdict) -> str:
    """Says that code of a student's ran without a sandbox, "" where none ran or it was locked up."""
    ran = verdict.cells or any(test.ran for test in verdict.tests)
    return "The answer ran without a sandbox." if ran and verdict.sandbox == "none" else ""


def what_stopped(cell: CellRun) -> str:
    """An error that stopped a cell, in full: where, what, and the line; a syntax error with a caret under its place."""
    error = cell.error
    if error is None:
        return ""
    last = error.lines[-1] if error.lines else None
    where = place(cell.id) if last is None else f"{place(last.cell)}, line {last.line}"
    if error.type in ("timeout", "crash", "suspicious"):
        return f"Stopped in {where}: {error.text}."
    text = [f"{error.type} in {where}{f': {error.text}' if error.text else ''}"]
    if error.type in SYNTAX_ERRORS and last is not None:
        return "\n".join([*text, f"    {last.code}", *([f"    {caret(last)}"] if last.column else [])])
    return "\n".join([*text, *(f"    {shown(line)}" for line in error.lines)])


def shown(line: Line) -> str:
    """A line of a traceback: "your file, line 2, in f: return 1 / 0"."""
    return f"{place(line.cell)}, line {line.line}, in {line.function}: {line.code}"


def caret(line: Line) -> str:
    """A caret under the column of a line's text; tabs stay tabs, wide letters take two places.

    >>> caret(Line("cell", 1, "f", "x = (", 5))
    '    ^'
    """
    before = line.code[: line.column - 1]
    return "".join("\t" if c == "\t" else " " * (1 + (unicodedata.east_asian_width(c) in "WF")) for c in before) + "^"
