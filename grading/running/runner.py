"""Runs plans, one after another: holds a sandbox, forks a judging process a submission, and survives its death.

`Runner.run` is a function from plain data to plain data (`Plan` -> `Run`). What the judging process needs for every
submission (numpy, the exercise's tests as Python has compiled them) is loaded here once, before the fork. No line of a
student's runs in this process, and no test of a course either.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading.running.child import judge
from grading.running.clock import PATIENCE
from grading.running.explaining import failed
from grading.running.known import Known
from grading.running.loading import import_all, prepare
from grading.running.plan import Limits, Plan, PlanCell, Run, TestRun, cell_run_from_json, test_run_from_json
from grading.running.rehearsal import rehearse
from grading.running.sealing import CHECK_TOO_LONG
from grading.running.stops import StudentStopped
from grading.running.withholding import withheld
from grading.sandbox import Sandbox, Student

MAX_FAULT = 4_000
MANY = 4  # plans: from here on it is a class, and what each one saves is worth a rehearsal
SPARE_SECONDS = 60.0  # for what is not the student's time: spawning, a busy machine


@dataclass
class _Life:
    """One life of a judging process: the test that was last begun, and how the life ended."""

    begun: str = ""
    ended: bool = False  # of itself, with everything told
    late: bool = False
    signal: int = 0
    fault: str = ""


class Runner:
    """A context manager: a sandbox, and the way to fork judging processes. One plan at a time.

    Raises `SandboxError` as `Sandbox` does. The sandbox keeps the limits of memory, files and processes that it was
    made with; times are those of the plan.
    """

    def __init__(self, preload: Sequence[str], limits: Limits, allow_unsandboxed: bool = False) -> None:
        """`preload`: names of modules that tests and answers import."""
        self.limits = limits
        self.sandbox = Sandbox(preload, limits, allow_unsandboxed)
        self.student: Student | None = None
        self.given: tuple[str, ...] = ()  # the files that the student's process is given
        self.plans = 0
        import_all(preload)

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the sandbox."""
        self.sandbox.close()

    def run(self, plan: Plan) -> Run:
        """Run a plan. Every test of the plan has an entry in the result, also when the judging process dies."""
        self.plans += 1
        if self.plans == MANY:  # whatever fails in a rehearsal fails in the plan too, and is told there
            with contextlib.suppress(Exception, StudentStopped):
                rehearse(self.sandbox)
        if not plan.files:
            return self._run(plan)
        with tempfile.TemporaryDirectory(prefix="given-") as folder:
            self.given = withheld(plan.files, plan.forbidden, Path(folder))
            try:
                return self._run(plan)
            finally:
                self.given = ()

    def _run(self, plan: Plan) -> Run:
        tests = [cell for cell in plan.cells if cell.kind == "test"]
        prepare(plan)
        known = Known(plan.limits.total_seconds)
        seconds = plan.limits.test_seconds
        fault = ""
        while any(known.outcome(cell) is None for cell in tests):
            before = len(known.visible) + len(known.whole)
            life = self._attempt(plan, known, seconds)
            fault = life.fault or fault
            if life.signal == signal.SIGPROF:
                seconds = plan.limits.test_seconds / 4
            due = [cell for cell in tests if known.outcome(cell) is None]
            victims = [cell for cell in due if cell.id == life.begun]
            if not victims and len(known.visible) + len(known.whole) == before:
                victims = due[:1]
            for cell in victims:
                (known.whole if cell.id in known.visible else known.visible)[cell.id] = _of_death(cell, life)
        runs = tuple(ran for cell in tests if (ran := known.outcome(cell)) is not None)
        return Run(tuple(known.cells.values()), runs, fault, self.sandbox.level)

    def _attempt(self, plan: Plan, known: Known, seconds: float) -> _Life:
        """One life of a judging process; fills `known`."""
        life = _Life()
        said, journal = os.memfd_create("said"), os.memfd_create("journal")
        folder = tempfile.mkdtemp(prefix="judge-")
        ours, theirs = socket.socketpair()
        handled = [number for number in signal.valid_signals() if callable(signal.getsignal(number))]
        try:
            for file in plan.files:
                shutil.copy(file, folder)
            child = os.fork()
            if child == 0:
                judge(plan, known, theirs, folder, journal, said, seconds, handled)
            theirs.close()
            try:
                self._listen(ours, journal, plan, known, life)
            except BaseException:
                life.late = True
                raise
            finally:
                self._end_student()
                if life.late:
                    os.kill(child, signal.SIGKILL)
                code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if life.late:
                life.fault = "the judging process did not answer in time"
            elif not life.ended and code < 0:
                life.signal = -code
            elif not life.ended:
                text = os.pread(said, 1 << 20, 0).decode(errors="replace").strip()
                life.fault = text[-MAX_FAULT:] or f"the judging process ended with status {code}"
        finally:
            ours.close()
            theirs.close()
            os.close(said)
            os.close(journal)
            shutil.rmtree(folder, ignore_errors=True)
        return life

    def _listen(self, link: socket.socket, journal: int, plan: Plan, known: Known, life: _Life) -> None:
        """Take in what a judging process has written down, and give it students' processes, until it ends."""
        heard = time.monotonic()
        deadline = heard + PATIENCE * (known.left + plan.limits.test_seconds) + 2 * SPARE_SECONDS
        for event in _events(link, journal, deadline):
            if "left" in event:
                known.left, known.was_late, heard = event["left"], event["late"], event["at"]
            if "spawn" in event:
                self._spawn(link)
            elif "kill" in event:
                self._end_student()
                link.send(json.dumps({"why": self.sandbox.why}).encode())
            elif "begins" in event:
                life.begun = event["begins"]
            elif "cell" in event:
                ran = cell_run_from_json(event["cell"])
                known.cells[ran.id] = ran
            elif "test" in event:
                test = test_run_from_json(event["test"])
                (known.whole if event["whole"] else known.visible)[test.id] = test
            elif "end" in event:
                life.ended = True
                return
        known.left = max(0.0, known.left - (time.monotonic() - heard))
        life.late = time.monotonic() >= deadline

    def _end_student(self) -> None:
        """End the student's process, if one lives."""
        student, self.student = self.student, None
        if student is not None:
            self.sandbox.kill(student)

    def _spawn(self, link: socket.socket) -> None:
        """Spawn a student's process and pass our end of its socket on."""
        try:
            self.student = student = self.sandbox.spawn(self.given)
        except (ValueError, OSError) as problem:  # a `SandboxError` is a `ValueError`
            link.send(json.dumps({"error": str(problem)}).encode())
            return
        socket.send_fds(link, [json.dumps({"process": student.process}).encode()], [student.connection.fileno()])
        student.connection.close()


def run(plan: Plan, allow_unsandboxed: bool = False) -> Run:
    """Run one plan in a sandbox of its own."""
    with Runner(plan.preload, plan.limits, allow_unsandboxed) as runner:
        return runner.run(plan)


def _of_death(cell: PlanCell, life: _Life) -> TestRun:
    """What a test gets in which the judging process died. Nobody but a submission is to blame for a signal."""
    if life.signal == signal.SIGPROF:
        return failed(cell, "timeout", CHECK_TOO_LONG)
    if life.signal:
        return failed(cell, "crash", "Your code broke off: the process that ran this test was killed.")
    return failed(cell, "grader_error", "The grader stopped in this test; tell your instructor.")


def _events(link: socket.socket, journal: int, deadline: float) -> Iterator[dict[str, Any]]:
    """What is written down, line by line, and what is asked for, until the other side has gone or time is up."""
    read = 0
    poll = select.poll()
    poll.register(link, select.POLLIN)
    going = True
    while going:
        left = deadline - time.monotonic()
        asked = ""
        if left > 0 and poll.poll(left * 1000):
            with contextlib.suppress(ConnectionError):
                asked = link.recv(1 << 10).decode()
        going = bool(asked)
        lines = _from(journal, read)
        read += len(lines)
        yield from map(json.loads, lines.splitlines())
        if asked:
            yield {asked: True}


def _from(journal: int, start: int) -> bytes:
    """The whole lines that a file holds from a place on."""
    text = b""
    while part := os.pread(journal, 1 << 16, start + len(text)):
        text += part
    return text[: text.rfind(b"\n") + 1]
