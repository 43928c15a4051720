"""Runs one submission: starts the judging process, gives it a plan, reads what it tells, and survives its death.

`run` is a function from plain data to plain data (`Plan` -> `Run`), so several processes or machines can share a class.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from grading.proxy import CLEAN, ROOT, START_SECONDS, Limits

Status = Literal[
    "ok", "student_error", "timeout", "crash", "unreadable", "forbidden_import", "not_attempted", "grader_error"
]
START = "import sys; sys.path.insert(0, {root!r}); from grading.proctor import main; main()"


@dataclass(frozen=True)
class PlanCell:
    """One cell to run. `hidden` holds the first and last lines of hidden parts; `binds` what an answer should
    define."""

    kind: Literal["setup", "answer", "extra", "test"]
    id: str
    source: str
    points: float = 0.0
    hidden: tuple[tuple[int, int], ...] = ()
    binds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """A submission, rebuilt: its cells in order, the names its answers should define, files to lay beside it."""

    cells: tuple[PlanCell, ...]
    names: tuple[str, ...]
    files: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class CellRun:
    """What became of a cell that is no test. `error` is "" or one line that says what stopped it."""

    id: str
    error: str
    printed: str


@dataclass(frozen=True)
class Line:
    """One line of the student's own code in a traceback."""

    cell: str
    line: int
    function: str
    code: str


@dataclass(frozen=True)
class TestRun:
    """What became of a test. `hidden`: it failed in a hidden part."""

    id: str
    status: Status
    points: float
    message: str
    lines: tuple[Line, ...] = ()
    hidden: bool = False
    seconds: float = 0.0

    __test__ = False  # the name is no invitation to pytest


@dataclass(frozen=True)
class Run:
    cells: tuple[CellRun, ...]
    tests: tuple[TestRun, ...]


def run(plan: Plan) -> Run:
    """Run a plan. Every test of the plan has an entry in the result, also when the judging process dies."""
    cells: dict[str, CellRun] = {}
    tests: dict[str, TestRun] = {}
    wanted = [cell.id for cell in plan.cells if cell.kind == "test"]
    while not all(name in tests for name in wanted):
        before = len(tests)
        begun, killed = _attempt(plan, cells, tests)
        if all(name in tests for name in wanted):
            break
        victim = begun if begun is not None and begun not in tests else None
        if victim is None and len(tests) == before:
            victim = next(name for name in wanted if name not in tests)
        if victim is not None:
            text = "The grader stopped in this test; tell your instructor."
            if killed:
                text = "Your code broke off: the processes that ran this test were killed."
            tests[victim] = TestRun(victim, "crash" if killed else "grader_error", 0.0, text)
    return Run(tuple(cells.values()), tuple(tests[name] for name in wanted))


def _attempt(plan: Plan, cells: dict[str, CellRun], tests: dict[str, TestRun]) -> tuple[str | None, bool]:
    """One life of a judging process; fills `cells` and `tests`.

    Gives the test that was last begun, and whether a signal ended the process before its time. Nobody but a submission
    sends one (without a sandbox it may signal any process of its user), so the test that ran counts as crashed.
    """
    token = secrets.token_hex(16)
    read_end, write_end = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-s", "-P", "-X", "utf8", "-c", START.format(root=ROOT)],
        env=CLEAN,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[write_end],
        start_new_session=True,
    )
    os.close(write_end)
    begun: str | None = None
    killed = False
    try:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(
                json.dumps({**asdict(plan), "token": token, "pipe": write_end, "done": list(tests)}).encode()
            )
            process.stdin.close()
        deadline = time.monotonic() + 4 * plan.limits.total_seconds + 2 * START_SECONDS
        for event in _events(read_end, token, deadline):
            if "begins" in event:
                begun = event["begins"]
            elif "cell" in event:
                cells[event["cell"]] = CellRun(event["cell"], _one_line(event["error"]), event["printed"])
            elif "test" in event:
                lines = tuple(Line(**line) for line in event["lines"])
                tests[event["test"]] = TestRun(
                    event["test"],
                    event["status"],
                    event["points"],
                    event["message"],
                    lines,
                    event["hidden"],
                    event.get("seconds", 0.0),
                )
            elif "end" in event:
                break
        else:
            with contextlib.suppress(subprocess.TimeoutExpired):
                killed = process.wait(1) < 0
    finally:
        os.close(read_end)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return begun, killed


def _events(descriptor: int, token: str, deadline: float) -> Any:
    """JSON objects that carry the token, until the pipe closes or time is up."""
    rest = b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([descriptor], [], [], left)[0]:
            return
        part = os.read(descriptor, 1 << 16)
        if not part:
            return
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            event = json.loads(line)
            if event.get("token") == token:
                yield event


def _one_line(error: dict[str, Any] | None) -> str:
    if error is None:
        return ""
    where = f" (line {error['lines'][-1]['line']}: {error['lines'][-1]['code']})" if error["lines"] else ""
    return f"{error['type']}: {error['text']}{where}"
