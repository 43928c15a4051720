"""The sandbox as the grader sees it: one zygote, students' processes from it, and their ends."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import tempfile
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading.running.plan import Level, Limits
from grading.sandbox import control
from grading.sandbox.levels import SandboxError, refuse, to_try
from grading.sandbox.removing import remove
from grading.sandbox.starting import Wanted, Zygote, start

OPEN = ("landlock", "none")  # levels without a file system of their own


@dataclass(frozen=True)
class Student:
    """A student's process, ready to serve: our end of its socket; a descriptor and the number of the first process of
    its namespace, which take all others with them."""

    connection: socket.socket
    pidfd: int
    process: int


class Sandbox:
    """A context manager that holds one zygote. Raises `SandboxError` when no level of sandbox works here.

    A fork of the process that made it may use it as well, while the process itself does not.
    """

    def __init__(
        self,
        preload: Sequence[str],
        limits: Limits,
        allow_unsandboxed: bool = False,
        level: Level | None = None,
        nest: bool = True,
    ) -> None:
        """`preload`: names of modules to import beforehand. `level` and `nest=False` ask for less, in tests."""
        self.limits = limits
        self.zygote: Zygote | None = None
        self.nested = False
        self.why = ""
        self.place = ""  # where a student's folder lies, at levels that give none
        reasons: dict[Level, str] = {}
        for each in to_try(level, allow_unsandboxed):
            self.wanted = Wanted(each, tuple(preload), limits, nest)
            try:
                self._start()
                return
            except (OSError, SandboxError) as problem:
                reasons[each] = str(problem)
        raise refuse(reasons)

    @property
    def level(self) -> Level:
        """What students' processes are locked up in."""
        return self.wanted.level

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def spawn(self, files: Sequence[str] = ()) -> Student:
        """A fresh student's process, with copies of `files` in its folder. Whatever was there before is ended.

        Raises `SandboxError` when the zygote cannot be made to give one, `ValueError` for a file that cannot be read.
        """
        opened = _open(files)
        try:
            for attempt in range(2):
                try:
                    if self.zygote is None or attempt:
                        self.close()
                        self._start()
                    assert self.zygote is not None
                    return self._spawn(self.zygote, [os.path.basename(file) for file in files], opened)
                except OSError as problem:
                    last = problem
            raise SandboxError(f"the sandbox gives no process: {last}")
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def kill(self, student: Student) -> None:
        """End a student's process and all that it started; returns when nothing is left of them and their files.

        `why` then names the limit that the student had to be ended for: "memory", "disk", else "".
        """
        student.connection.close()
        if self.level not in OPEN:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(student.pidfd, signal.SIGKILL)
        os.close(student.pidfd)
        self.clear()

    def clear(self) -> None:
        """End whatever lives in the sandbox, by whomever it was asked for. As `kill`, without a `Student`."""
        self.why = ""
        if self.zygote is None:
            return
        try:
            reply, _ = self._ask(self.zygote, {"op": "end"})
            self.why = str(reply["why"])
        except OSError:
            self.close()
        if not self._shared():
            self.close()
        if self.place:
            remove(self._folder())

    def close(self) -> None:
        """End the zygote and everything in it."""
        if self.zygote is not None:
            self.zygote.end()
            self.zygote = None
        if self.place:
            remove(self.place)
            self.place = ""

    def _start(self) -> None:
        self.zygote = start(self.wanted)
        self.nested = self.zygote.nested
        if self.level in OPEN:
            self.place = tempfile.mkdtemp(prefix="answer-")
            os.chmod(self.place, stat.S_IRWXU | stat.S_IXGRP | stat.S_IXOTH)

    def _shared(self) -> bool:
        """Whether one zygote serves many students; where namespaces cannot be nested, each has its own."""
        return self.nested or self.level in OPEN

    def _folder(self) -> str:
        return os.path.join(self.place, "answer") if self.place else ""

    def _spawn(self, zygote: Zygote, names: list[str], opened: list[int]) -> Student:
        if self.place:
            remove(self._folder())
            os.mkdir(self._folder())
            if zygote.user is not None:
                os.chown(self._folder(), zygote.user, zygote.user)
        ours, theirs = socket.socketpair()
        try:
            message = {"op": "spawn", "files": names, "folder": self._folder()}
            reply, descriptors = self._ask(zygote, message, [theirs.fileno(), *opened])
            if "error" in reply or len(descriptors) != 1:
                for descriptor in descriptors:
                    os.close(descriptor)
                raise OSError(reply.get("error", "no process came back"))
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return Student(ours, descriptors[0], _process(descriptors[0]))

    def _ask(
        self, zygote: Zygote, message: dict[str, Any], descriptors: Sequence[int] = ()
    ) -> tuple[dict[str, Any], list[int]]:
        """Ask the zygote. The token tells our answer from one that somebody before us did not live to read."""
        token = uuid.uuid4().hex
        control.send(zygote.control, {**message, "n": token}, descriptors)
        while True:
            reply, received = control.receive(zygote.control)
            if reply is None:
                raise OSError("the zygote has ended")
            if reply.get("n") == token:
                return reply, received
            for descriptor in received:
                os.close(descriptor)


def _open(files: Sequence[str]) -> list[int]:
    """Descriptors of the instructor's files, which the zygote's forks cannot reach by name."""
    if len(files) >= control.MOST_DESCRIPTORS:
        raise ValueError(f"files: at most {control.MOST_DESCRIPTORS - 1} can be laid beside a notebook")
    opened: list[int] = []
    try:
        for file in files:
            opened.append(os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
            if not stat.S_ISREG(os.fstat(opened[-1]).st_mode):
                raise ValueError(f"files: {file} is no regular file")
    except (OSError, ValueError) as problem:
        for descriptor in opened:
            os.close(descriptor)
        raise ValueError(f"files: {problem}") from None
    return opened


def _process(pidfd: int) -> int:
    """The number, in our namespace, of the process that a descriptor stands for; -1 when it has ended."""
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1
