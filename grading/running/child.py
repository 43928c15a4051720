"""The process that judges one submission: a fork of the grading process, with its modules and the exercise in memory.

It takes nothing else over: no descriptor, no signal handler, no environment, nothing to run at its exit. It has limits
of its own, for what arrives from a student may be small to send and dear to look at: bytes of memory, and processor
time a test, after which the system ends it. What it finds it writes down, one JSON object a line, where its parent
reads it when there is something to do; the parent spawns and kills the student's processes, so that it can end them
when this one dies.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import random
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from grading.running.known import Known
from grading.running.plan import Plan
from grading.running.proctor import Proctor
from grading.sandbox import system

MEMORY = 2 << 30  # bytes beyond what the grading process had at the fork
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "Agg",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Spawned:
    """A student's process as its judge sees it."""

    connection: socket.socket
    process: int


class Link:
    """This process's end of the connection to its parent: writes down what it finds, asks for students' processes."""

    def __init__(self, connection: socket.socket, journal: int, seconds: float) -> None:
        """`journal`: a file that outlives this process; to wake the parent for every line would cost both. `seconds`:
        processor time that a test may cost here."""
        self.connection, self.journal, self.seconds = connection, journal, seconds
        self.why = ""

    def tell(self, event: dict[str, Any]) -> None:
        """A line for the parent. The clock of a test runs from its beginning to its outcome."""
        if "test" in event:
            signal.setitimer(signal.ITIMER_PROF, 0)
        os.write(self.journal, json.dumps(event, default=vars).encode() + b"\n")
        if "begins" in event:
            signal.setitimer(signal.ITIMER_PROF, self.seconds)

    def spawn(self, files: Sequence[str]) -> Spawned:
        """A fresh student's process. The parent knows the files."""
        self.connection.send(b"spawn")
        answer, descriptors, _, _ = socket.recv_fds(self.connection, 1 << 12, 1)
        if not descriptors:
            raise RuntimeError(f"no student's process: {answer.decode()}")
        return Spawned(socket.socket(fileno=descriptors[0]), json.loads(answer)["process"])

    def kill(self, student: Spawned) -> None:
        """End it; `why` then names the limit that it had run into, if any."""
        self.connection.send(b"kill")
        self.why = str(json.loads(self.connection.recv(1 << 12))["why"])


def judge(
    plan: Plan,
    known: Known,
    connection: socket.socket,
    folder: str,
    journal: int,
    said: int,
    seconds: float,
    handled: Collection[int],
) -> NoReturn:
    """Be the judging process: after `os.fork`, and for ever. `journal` takes what it finds, `said` what it writes when
    it fails; `handled` are the signals that the parent has handlers for."""
    code = 1
    try:
        system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
        gc.freeze()  # what was there before is not looked through again, and so not copied
        _leave_behind({connection.fileno(), journal, said}, handled)
        _enter(folder, said)
        _seed()
        link = Link(connection, journal, seconds)
        Proctor(plan, link, known, link.tell).run()
        link.tell({"end": True})
        code = 0
    except BaseException:
        with contextlib.suppress(BaseException):
            traceback.print_exc()
            sys.stderr.flush()
    finally:
        os._exit(code)


def _leave_behind(kept: set[int], handled: Collection[int]) -> None:
    """Handlers of signals, descriptors, and the session of the terminal."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (*handled, signal.SIGPROF):
        signal.signal(number, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    os.setsid()
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(name))


def _seed() -> None:
    """The same work is to get the same mark, so numbers that a test draws without a seed are the same each time."""
    random.seed(0)
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed(0)


def _enter(folder: str, said: int) -> None:
    """The place a test is judged in: a folder with the instructor's files, an environment that says nothing, limits."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for target, source in ((0, nothing), (1, nothing), (2, said)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(said)
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.FileIO(number, mode, closefd=False), "utf-8", "replace", line_buffering=True)
        for number, mode in ((0, "r"), (1, "w"), (2, "w"))
    )
    os.environ.clear()
    os.environ.update(ENVIRONMENT, HOME=folder, TMPDIR=folder)
    os.chdir(folder)
    sys.path.append(folder)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
    for kind, value in ((resource.RLIMIT_AS, most), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    system.prctl(system.PR_SET_DUMPABLE, 0)
