"""Workers on this machine: processes that grade one hand-in after another, fed with lines through pipes.

A worker has at most two jobs open, the one it works on and the next, so none waits for this process and little is open
when one dies. It is then started anew, and the job it had in hand goes to another worker; a job that ends a second one
is given back with what the worker said last. A worker that takes far longer than the budgets of a submission allow is
ended and counts as dead.

The terminal does not know the workers: Ctrl-C reaches this process alone, and `close` ends them all at once. They end
with the process that started them, so a pool that is killed leaves none behind.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO

from grading.course import Course
from grading.jobs import Answer, Job, job_line
from grading.running.plan import Limits

OPEN_JOBS = 2
GRACE_SECONDS = 5.0
MAX_FAULT = 4_000
GIVE_UP = 3  # so many jobs without an answer to any: it is not the jobs
ROOT = Path(__file__).resolve().parent.parent
# A worker asks the kernel for SIGTERM when the one who started it is gone (prctl 1), where there is such a call.
START = """import ctypes, signal, sys
sys.platform == "linux" and ctypes.CDLL(None).prctl(1, signal.SIGTERM)
sys.path.insert(0, {root!r})
from grading.__main__ import main
sys.exit(main(sys.argv[1:]))"""


def worker_command(course: Course, limits: Limits, allow_unsandboxed: bool = False) -> list[str]:
    """The command of a worker for a course. It names its Python and this package by their paths, so on another machine
    both have to lie where they lie here."""
    command = [sys.executable, "-P", "-X", "utf8", "-c", START.format(root=str(ROOT))]
    command += ["worker", "--course", str(course.root.absolute()), "--submitted", str(course.submitted.absolute())]
    command += limit_options(limits)
    return [*command, "--allow-unsandboxed"] if allow_unsandboxed else command


def limit_options(limits: Limits) -> list[str]:
    """The options that give a worker these limits.

    >>> limit_options(Limits(test_seconds=2.5))[2:4]
    ['--test-seconds', '2.5']
    """
    return [text for name, value in vars(limits).items() for text in (f"--{name.replace('_', '-')}", str(value))]


def patience(limits: Limits) -> float:
    """Seconds after which a worker that still works on one job is taken for dead: the hidden parts run a second time,
    a busy machine takes up to four times as long, and Python has to start."""
    return 8 * limits.total_seconds + 60


@dataclass
class _Worker:
    """A process, the jobs it has not answered, the part of a line that has arrived, and when the first of the jobs was
    begun."""

    process: subprocess.Popen[bytes]
    said: IO[bytes]
    jobs: deque[Job] = field(default_factory=deque)
    part: bytes = b""
    since: float = 0.0

    def last_words(self) -> str:
        """The end of what it wrote to its error output."""
        self.said.seek(max(0, self.said.seek(0, os.SEEK_END) - MAX_FAULT))
        return self.said.read().decode("utf-8", "replace").strip()


class Pool:
    """Workers for one command, started when there is something to do (a context manager)."""

    def __init__(self, command: Sequence[str], workers: int, patience: float) -> None:
        """`patience`: seconds for one job. Raises `ValueError` when there is to be no worker."""
        if workers < 1:
            raise ValueError(f"workers: {workers} is below 1")
        self._command, self._wanted, self._patience = list(command), workers, patience
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()
        self._answered = False

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, jobs: Iterable[Job]) -> Iterator[Answer]:
        """An answer to each job, in the order in which they come. The first jobs are given out at once.

        Raises `ValueError` with the workers' own words when they refuse to work, or die whatever they are given.
        """
        source, back = iter(jobs), deque[Job]()
        self._deal(source, back)
        return self._answers(source, back)

    def _answers(self, source: Iterator[Job], back: deque[Job]) -> Iterator[Answer]:
        deaths: Counter[Job] = Counter()
        while True:
            self._deal(source, back)
            if not any(worker.jobs for worker in self._workers):
                return
            for worker in self._ready():
                data = os.read(worker.process.stdout.fileno(), 1 << 20) if worker.process.stdout else b""
                *lines, worker.part = (worker.part + data).split(b"\n")
                for line in lines[: len(worker.jobs)]:
                    self._answered = True
                    worker.since = time.monotonic()
                    yield Answer(worker.jobs.popleft(), line.decode("utf-8", "replace"))
                if not data:
                    yield from self._bury(worker, back, deaths)

    def dismiss(self) -> None:
        """No more jobs are to come: workers end by the end of their input, while the one who asked goes on."""
        for worker in self._workers:
            if worker.process.stdin is not None and not worker.jobs:
                with contextlib.suppress(OSError):
                    worker.process.stdin.close()

    def close(self) -> None:
        """End every worker: those without a job by the end of their input, the others by a signal, all at once."""
        for worker in self._workers:
            assert worker.process.stdin is not None
            with contextlib.suppress(OSError):
                worker.process.stdin.close()
            if worker.jobs:
                worker.process.terminate()
        deadline = time.monotonic() + GRACE_SECONDS
        for worker in self._workers:
            try:
                worker.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
            self._forget(worker)
        self._workers = []
        self._selector.close()

    def _deal(self, source: Iterator[Job], back: deque[Job]) -> None:
        """Give jobs to those who have room, to everyone the first before anyone a second; `back` holds what another
        worker had."""
        for full in range(1, OPEN_JOBS + 1):
            for place in range(self._wanted):
                if place < len(self._workers) and len(self._workers[place].jobs) >= full:
                    continue
                job = back.popleft() if back else next(source, None)
                if job is None:
                    return
                if place >= len(self._workers):
                    self._workers.append(self._start())
                self._give(self._workers[place], job)

    def _give(self, worker: _Worker, job: Job) -> None:
        if not worker.jobs:
            worker.since = time.monotonic()
        worker.jobs.append(job)
        assert worker.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it is dead: the end of its output will say so
            worker.process.stdin.write(f"{job_line(job)}\n".encode())
            worker.process.stdin.flush()

    def _ready(self) -> list[_Worker]:
        """Workers whose output has something, after waiting for one. Those out of time are ended: that shows there."""
        busy = [worker for worker in self._workers if worker.jobs]
        wait = min(worker.since for worker in busy) + self._patience - time.monotonic()
        ready: list[_Worker] = [key.data for key, _ in self._selector.select(max(0.0, wait))]
        for worker in busy:
            if worker not in ready and time.monotonic() > worker.since + self._patience:
                worker.said.write(f"\nIt took more than {self._patience:g} seconds and was ended.".encode())
                worker.process.kill()
                worker.since = time.monotonic()
        return ready

    def _bury(self, worker: _Worker, back: deque[Job], deaths: Counter[Job]) -> Iterator[Answer]:
        """A worker is gone. The job it had in hand gets a second chance or is given back; the others are not to
        blame."""
        status = worker.process.wait()
        words = worker.last_words()
        self._forget(worker)
        self._workers.remove(worker)
        if status == 2:
            raise ValueError(words.removeprefix("python -m grading: ") or "a worker refused to work")
        victim, *others = worker.jobs or [None]
        back.extend(job for job in others if job is not None)
        if victim is None:
            return
        deaths[victim] += 1
        if deaths[victim] < 2:
            back.append(victim)
            return
        if not self._answered and sum(count > 1 for count in deaths.values()) >= GIVE_UP:
            raise ValueError(f"the workers end before they answer (status {status}): {words}")
        ending = f"signal {-status}" if status < 0 else f"status {status}"
        yield Answer(victim, "", f"The worker ended with {ending}. {words}".strip())

    def _start(self) -> _Worker:
        said = tempfile.TemporaryFile()  # noqa: SIM115 (it stays open as long as the worker)
        process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, start_new_session=True
        )
        assert process.stdout is not None
        worker = _Worker(process, said)
        self._selector.register(process.stdout, selectors.EVENT_READ, worker)
        return worker

    def _forget(self, worker: _Worker) -> None:
        """Close what leads to a worker that has ended or is about to."""
        assert worker.process.stdout is not None
        assert worker.process.stdin is not None
        self._selector.unregister(worker.process.stdout)
        for end in (worker.process.stdout, worker.process.stdin, worker.said):
            with contextlib.suppress(OSError):
                end.close()
        worker.process.wait()
