"""Messages to the student's process and back, and the time it has for its answers.

A message is JSON behind four bytes of its length. What arrives is bounded in size and time and is at most wrong data.
"""

from __future__ import annotations

import json
import socket
import time
from typing import Any, Literal

from grading.running.plan import Limits
from grading.running.processes import processor_seconds

PATIENCE = 4  # a process that waits for a busy machine gets so many times its budget


class StudentStopped(BaseException):
    """The student's process hung or died; no test can swallow it with `except Exception`."""

    def __init__(self, status: Literal["timeout", "crash"], text: str) -> None:
        super().__init__(text)
        self.status: Literal["timeout", "crash"] = status
        self.text = text


class Clock:
    """The time that a submission has left: for the cell or test at hand, and in all."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.ends = time.monotonic() + limits.total_seconds
        self.deadline = self.ends
        self.seconds = self.granted = limits.test_seconds
        self.used = 0.0
        self.was_late = False

    def begin(self, process: int, test: bool = False) -> None:
        """Start the budget of a cell or of a test."""
        self.seconds = self.limits.test_seconds / 4 if test and self.was_late else self.limits.test_seconds
        self.granted = self.seconds
        self.used = processor_seconds(process)[0]
        self.deadline = min(self.ends, time.monotonic() + self.seconds)

    def allow(self, seconds: float) -> None:
        """Time for something that is not the student's doing: starting Python, ending a test."""
        self.deadline = time.monotonic() + seconds

    def give_back(self, seconds: float) -> None:
        """Do not count time that went by."""
        self.ends += seconds

    def left(self, process: int) -> float:
        """Seconds that are left to wait. Raises `StudentStopped` when there are none."""
        left = self.deadline - time.monotonic()
        if left <= 0 and self.granted < PATIENCE * self.seconds:
            used, runnable = processor_seconds(process)
            if runnable and used - self.used < self.seconds / 2:  # it wants to run, and others keep it from it
                self.granted += self.seconds
                self.ends += self.seconds
                self.deadline = time.monotonic() + self.seconds
                left = self.seconds
        if left <= 0:
            raise self.late()
        return left

    def late(self) -> StudentStopped:
        """What to raise when time is up."""
        if self.ends <= time.monotonic():
            return StudentStopped("timeout", f"the {self.limits.total_seconds:g} seconds of all tests were used up")
        self.was_late = True
        return StudentStopped("timeout", f"it was still running after {self.granted:g} seconds")


class Channel:
    """A connection to one student's process. Raises `StudentStopped` when that hangs, dies, or sends what is no
    message."""

    def __init__(self, connection: socket.socket, clock: Clock, process: int, most: int) -> None:
        self.connection, self.clock, self.process, self.most = connection, clock, process, most
        self.arrived = bytearray()

    def exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message and wait for its answer."""
        data = json.dumps(message).encode()
        try:
            self.connection.settimeout(self.clock.left(self.process))
            self.connection.sendall(len(data).to_bytes(4, "big") + data)
        except TimeoutError:
            raise self.clock.late() from None
        except OSError:
            raise StudentStopped("crash", "the Python process ended") from None
        return self.receive()

    def receive(self) -> dict[str, Any]:
        """The next message."""
        while len(self.arrived) < 4:
            self._more()
        size = 4 + int.from_bytes(self.arrived[:4], "big")
        if size > self.most:
            raise StudentStopped("crash", "the answer gave back more data than a test can take")
        while len(self.arrived) < size:
            self._more()
        data = bytes(self.arrived[4:size])
        del self.arrived[:size]
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise StudentStopped("crash", "the answer wrote into the grader's channel")
        return message

    def close(self) -> None:
        """Close our end."""
        self.connection.close()

    def _more(self) -> None:
        self.connection.settimeout(self.clock.left(self.process))
        try:
            part = self.connection.recv(1 << 20)
        except TimeoutError:
            return  # the clock knows whether there is more time
        except OSError:
            part = b""
        if not part:
            raise StudentStopped("crash", "the Python process ended")
        self.arrived += part
