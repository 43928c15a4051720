"""The process that students' processes are forked from: Python started, modules imported, nothing of a course read.

Started by exec with an environment of its own, inside the sandbox's outer layer (`sandbox.inside`). It is told names of
modules and limits, and later passes descriptors on; it never reads a student's socket, and no test, no solution and no
submission is ever sent to it. So what a student finds in memory at the fork is Python. One student at a time: the next
is forked when nothing is left of the one before.

While a student lives, it looks how much all its processes use together (`watch`), for no limit of the system's counts
that.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import socket
import time
from typing import Any

from grading.sandbox import control, entering, namespaces, watch
from grading.sandbox.places import FOLDER

FILES_EVERY = 10  # looks at memory, to one at files


class Zygote:
    """Forks a student's process when asked, and ends it."""

    def __init__(self, channel: socket.socket, cage: entering.Cage) -> None:
        self.channel, self.cage = channel, cage
        self.living: dict[str, Any] | None = None  # the request that the living student was forked for
        self.child = 0
        self.why = ""
        self.looks = 0

    def serve(self) -> None:
        """Answer until the grader goes."""
        poll = select.poll()
        poll.register(self.channel, select.POLLIN)
        while True:
            if poll.poll(watch.SECONDS * 1000 if self.living else None):
                message, descriptors = control.receive(self.channel)
                if message is None:
                    self.end()
                    return
                self.answer(message, descriptors)
            elif self.living:
                self.look()

    def answer(self, message: dict[str, Any], descriptors: list[int]) -> None:
        """Do what the grader asks."""
        self.end()
        if message["op"] == "spawn":
            self.spawn(message, descriptors)
        else:
            control.send(self.channel, {"n": message["n"], "gone": True, "why": self.why})
        for descriptor in descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def spawn(self, message: dict[str, Any], descriptors: list[int]) -> None:
        """Fork a student's process, which tells the grader of itself."""
        self.why, self.looks = "", 0
        try:
            self.child = entering.fork_student(self.cage, self.channel, message, descriptors)
            self.living = message
        except OSError as problem:
            control.send(self.channel, {"n": message["n"], "error": str(problem)})

    def look(self) -> None:
        """End a student that uses too much."""
        if self.living is None or not reap():
            return
        self.looks += 1
        processes = watch.descendants(os.getpid())
        if watch.memory(processes, self.cage.limits.memory):
            self.stop("memory")
        elif self.looks % FILES_EVERY == 0 and not self.cage.nested:
            size, count = watch.files(self.living["folder"] or FOLDER)
            if size > self.cage.limits.disk or count > namespaces.INODES:
                self.stop("disk")

    def stop(self, why: str) -> None:
        """End the student of our own accord, and remember why."""
        self.end()
        self.why = why

    def end(self) -> None:
        """Kill all that descends from us, and return when nothing is left of it."""
        if self.living is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.child, signal.SIGKILL if self.cage.nested else signal.SIGTERM)
        patience = time.monotonic() + 0.5  # for a keeper, which ends at one blow what we can only chase
        while reap():
            if time.monotonic() > patience:
                self.chase()
            signal.sigtimedwait({signal.SIGCHLD}, 0.02)
        self.living = None

    def chase(self) -> None:
        """Kill what is left, one by one."""
        for pid in watch.descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if not self.cage.nested:
                    resource.prlimit(pid, resource.RLIMIT_NPROC, (0, 0))  # no more children from now on
                os.kill(pid, signal.SIGKILL)


def reap() -> bool:
    """Take the ends of our children; whether any child is left."""
    with contextlib.suppress(ChildProcessError):
        while True:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return True
    return False
