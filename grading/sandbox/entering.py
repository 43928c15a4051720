"""What a fork of the zygote does to become a student's process: in, locked up, and only then anything of a student's.

With namespaces the fork itself is the student's process, the first of its process namespace: no signal from inside ends
it, and its end is the end of all that is left there. Without them it is a keeper: it starts the student's process,
reaps orphans, and ends what it can reach when that has ended or when it is told to. The keeper stands in an outer
Landlock domain and the student's process in an inner one: no signal goes outwards, and the keeper's to "everybody"
reaches the student's processes and nobody else.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from dataclasses import dataclass
from typing import Any, NoReturn

from grading.running.plan import Level, Limits
from grading.running.worker import work
from grading.sandbox import control, landlock, limits, namespaces, seccomp, system
from grading.sandbox.places import FOLDER


@dataclass(frozen=True)
class Cage:
    """How this zygote locks its students up. `nested`: each has namespaces of its own; `cramped`: the user has other
    processes, which the limit on processes counts."""

    level: Level
    nested: bool
    limits: Limits
    readable: tuple[str, ...]
    filter: bytes | None
    cramped: bool


def fork_student(cage: Cage, channel: socket.socket, request: dict[str, Any], descriptors: list[int]) -> int:
    """Fork a student's process, which tells the grader of itself; gives its number. `descriptors` are its socket and
    the files to copy."""
    uid, gid = os.getuid(), os.getgid()
    child = system.fork_into(namespaces.INNER) if cage.nested else os.fork()
    if child == 0:
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            if cage.nested:
                namespaces.enter_inner(uid, gid, cage.limits.disk, cage.readable)
            _settle(cage, channel, request, descriptors)
        except Exception as problem:
            with contextlib.suppress(OSError):
                control.send(channel, {"n": request["n"], "error": f"{type(problem).__name__}: {problem}"})
        finally:
            os._exit(0)
    return child


def _settle(cage: Cage, channel: socket.socket, request: dict[str, Any], descriptors: list[int]) -> None:
    """Lay the files out, tell the grader, let go of all but the socket, and start the worker."""
    folder: str = request["folder"] or FOLDER
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    for name, descriptor in zip(request["files"], descriptors[1:], strict=True):
        _copy(descriptor, name)
    pidfd = os.pidfd_open(os.getpid())
    control.send(channel, {"n": request["n"], "started": True}, [pidfd])
    channel.detach()
    connection = descriptors[0]
    os.closerange(3, connection)
    os.closerange(connection + 1, os.sysconf("SC_OPEN_MAX"))
    processes = _processes(cage)
    if not cage.nested:
        _keep(cage, connection, folder)
    if cage.level != "none":
        system.drop_capabilities()
    limits.apply(cage.limits, processes)
    _work(cage, connection, folder)


def _copy(descriptor: int, name: str) -> None:
    with open(descriptor, "rb") as source, open(name, "xb") as to:
        while part := source.read(1 << 20):
            to.write(part)


def _keep(cage: Cage, connection: int, folder: str) -> None:
    """Stay as the keeper; returns in the student's process alone."""
    system.prctl(system.PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGTERM, lambda *_: _end_all(cage))
    if cage.level == "landlock":
        landlock.restrict(cage.readable, folder)
    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGTERM)
    worker = os.fork()
    if worker == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        return
    os.close(connection)
    while os.waitpid(-1, 0)[0] != worker:
        pass
    _end_all(cage)


def _end_all(cage: Cage) -> NoReturn:
    """End what the Landlock domain holds, at one blow. Elsewhere the zygote does it."""
    if cage.level == "landlock" and landlock.version() >= landlock.SIGNALS_SINCE:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)
    os._exit(0)


def _processes(cage: Cage) -> int | None:
    """The limit on processes, with those of ours that it counts too."""
    if cage.level == "none":
        return None
    if cage.nested:
        return cage.limits.processes
    return cage.limits.processes + (limits.threads_of(os.getuid()) if cage.cramped else limits.OURS)


def _work(cage: Cage, connection: int, folder: str) -> None:
    """The last steps that need a right, then the student's code."""
    if not cage.nested:
        system.prctl(system.PR_SET_DUMPABLE, 1)  # the zygote looks at our memory, and is not looked at
    os.setsid()
    os.dup2(0, 1)
    os.dup2(0, 2)
    os.environ.update(HOME=folder, TMPDIR=folder, USER="student", LOGNAME="student")
    sys.path.append(folder)
    if "tempfile" in sys.modules:
        vars(sys.modules["tempfile"])["tempdir"] = None  # it may have looked for a place before
    if cage.level == "landlock":
        landlock.restrict(cage.readable, folder)
    if cage.filter is not None and cage.level != "none":
        seccomp.install(cage.filter)
    work(connection, by_itself=cage.nested)
