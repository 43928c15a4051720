"""What goes into a run and what comes out of it: plain data, so that processes or machines can share a class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Status = Literal[
    "ok",
    "student_error",
    "timeout",
    "crash",
    "unreadable",
    "forbidden_import",
    "not_attempted",
    "suspicious",
    "grader_error",
]
Level = Literal["bubblewrap", "namespaces", "landlock", "none"]  # what the student's process is locked up in


@dataclass(frozen=True)
class Limits:
    """Budgets of one submission: wall seconds a cell, a test, and in all; bytes of memory, of a file, of all files
    and of a message; processes and threads, and open files, at once.

    Once a submission has used up a test's time, each further test gets a quarter of it: an endless loop is asked often.
    Starting Python is not counted, and a process that waits for a busy machine gets up to four times as long.

    Raises `ValueError` that names a budget which is not above 0.
    """

    cell_seconds: float = 10.0
    test_seconds: float = 10.0
    total_seconds: float = 60.0
    memory: int = 4 << 30
    file_size: int = 64 << 20
    disk: int = 128 << 20
    message: int = 64 << 20
    processes: int = 128
    open_files: int = 256

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not (value > 0 and math.isfinite(value)):
                raise ValueError(f"{name}: a limit must be a number above 0, not {value}")


@dataclass(frozen=True)
class PlanCell:
    """One cell to run. `hidden_lines` holds the first and last lines of hidden parts; `binds` what an answer should
    define."""

    kind: Literal["setup", "answer", "extra", "test"]
    id: str
    source: str
    points: float = 0.0
    hidden_lines: tuple[tuple[int, int], ...] = ()
    binds: tuple[str, ...] = ()

    @property
    def own(self) -> bool:
        """Whether the student wrote it."""
        return self.kind in ("answer", "extra")


@dataclass(frozen=True)
class Plan:
    """A submission, rebuilt: its cells in order, the names its answers should define, files to lay beside it, modules
    that are imported before any of it runs, dotted names that an answer may not use."""

    cells: tuple[PlanCell, ...]
    names: tuple[str, ...]
    files: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    preload: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """One line of the student's own code that an error passed through. `column` (from 1) is where a syntax error
    stands, 0 elsewhere."""

    cell: str
    line: int
    function: str
    code: str
    column: int = 0


@dataclass(frozen=True)
class CellError:
    """What stopped a cell: an exception's type, or "timeout" or "crash"; its text; the lines it passed, outermost
    first."""

    type: str
    text: str
    lines: tuple[Line, ...] = ()
    not_attempted: bool = False


@dataclass(frozen=True)
class CellRun:
    """What became of a cell that is no test. `own`: the student wrote it."""

    id: str
    own: bool
    error: CellError | None
    printed: str


@dataclass(frozen=True)
class TestRun:
    """What became of a test. `ran`: it got as far as an answer that it could judge. `failed_hidden`: it failed in a
    hidden part."""

    id: str
    status: Status
    points: float
    message: str
    lines: tuple[Line, ...] = ()
    ran: bool = True
    failed_hidden: bool = False
    seconds: float = 0.0

    __test__ = False  # the name is no invitation to pytest


@dataclass(frozen=True)
class Run:
    """What became of a plan, and in what the student's process was locked up. `fault` is what the judging process wrote
    before it died of itself, for the instructor's eyes alone (it may quote a test); "" when it did not."""

    cells: tuple[CellRun, ...]
    tests: tuple[TestRun, ...]
    fault: str = ""
    sandbox: Level = "none"


def lines_from_json(lines: list[dict[str, Any]]) -> tuple[Line, ...]:
    """Lines from their JSON form."""
    return tuple(Line(**line) for line in lines)


def cell_run_from_json(data: Mapping[str, Any]) -> CellRun:
    """What became of a cell, from its JSON form."""
    error = data["error"]
    if error is not None:
        error = CellError(**{**error, "lines": lines_from_json(error["lines"])})
    return CellRun(**{**data, "error": error})


def test_run_from_json(data: Mapping[str, Any]) -> TestRun:
    """What became of a test, from its JSON form."""
    return TestRun(**{**data, "lines": lines_from_json(data["lines"])})
