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
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from grading.running.plan import CellRun, Plan, Run, TestRun, cell_run_from_json, test_run_from_json
from grading.running.session import CLEAN, ROOT, START_SECONDS

START = "import sys; sys.path.insert(0, {root!r}); from grading.running.proctor import main; main()"
MAX_FAULT = 4_000


@dataclass
class _Progress:
    """What the lives of a judging process have told so far."""

    cells: dict[str, CellRun] = field(default_factory=dict)
    tests: dict[str, TestRun] = field(default_factory=dict)
    fault: str = ""


def run(plan: Plan) -> Run:
    """Run a plan. Every test of the plan has an entry in the result, also when the judging process dies."""
    told = _Progress()
    wanted = [cell.id for cell in plan.cells if cell.kind == "test"]
    while not all(name in told.tests for name in wanted):
        before = len(told.tests)
        begun, killed = _attempt(plan, told)
        if all(name in told.tests for name in wanted):
            break
        victim = begun if begun not in told.tests else None
        if victim is None and len(told.tests) == before:
            victim = next(name for name in wanted if name not in told.tests)
        if victim is not None:
            text = "The grader stopped in this test; tell your instructor."
            if killed:
                text = "Your code broke off: the processes that ran this test were killed."
            told.tests[victim] = TestRun(victim, "crash" if killed else "grader_error", 0.0, text)
    return Run(tuple(told.cells.values()), tuple(told.tests[name] for name in wanted), told.fault)


def _attempt(plan: Plan, told: _Progress) -> tuple[str | None, bool]:
    """One life of a judging process; fills `told`.

    Gives the test that was last begun, and whether a signal ended the process before its time. Nobody but a submission
    sends one (without a sandbox it may signal any process of its user), so the test that ran counts as crashed.
    """
    token = secrets.token_hex(16)
    read_end, write_end = os.pipe()
    begun: str | None = None
    killed = False
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-s", "-P", "-X", "utf8", "-c", START.format(root=ROOT)],
            env=CLEAN,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
            pass_fds=[write_end],
            start_new_session=True,
        )
        os.close(write_end)
        try:
            start = {"plan": asdict(plan), "token": token, "pipe": write_end, "done": list(told.tests)}
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):  # it died at once: the pipe it tells by says so too
                process.stdin.write(json.dumps(start).encode())
                process.stdin.close()
            deadline = time.monotonic() + 4 * plan.limits.total_seconds + 2 * START_SECONDS
            for event in _events(read_end, token, deadline):
                if "begins" in event:
                    begun = event["begins"]
                elif "cell" in event:
                    cell = cell_run_from_json(event["cell"])
                    told.cells[cell.id] = cell
                elif "test" in event:
                    test = test_run_from_json(event["test"])
                    told.tests[test.id] = test
                elif "end" in event:
                    break
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    killed = process.wait(1) < 0
                if not killed:
                    said.seek(0)
                    text = said.read().decode(errors="replace").strip()
                    told.fault = text[-MAX_FAULT:] or "the judging process did not answer in time"
        finally:
            os.close(read_end)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return begun, killed


def _events(descriptor: int, token: str, deadline: float) -> Iterator[dict[str, Any]]:
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
