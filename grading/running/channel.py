"""Messages to the student's process and back.

A message is JSON behind four bytes of its length. Every request has a number, `n`, and its answer repeats that number;
a frame that nobody asked for, that comes twice or bears another number, is the work of something in the student's
process that answers in its place. The one frame that may come by itself tells that the fork which serves tests has
ended: it bears the number of the request that it was made for. What arrives is bounded in size and time and is at most
wrong data.
"""

from __future__ import annotations

import json
import select
import socket
import time
from typing import Any

from grading.running.caps import TooMuchError, check_parts
from grading.running.clock import Clock
from grading.running.stops import ENDED, TOO_MUCH, UNASKED, StudentStopped

PART = 1 << 16  # bytes to read at once; room for more is dear to ask for
SHORT = 200  # bytes of a frame that tells of an end
MOMENT = 1.0  # seconds for the rest of such a frame


class Channel:
    """A connection to one student's process. Raises `StudentStopped` when that hangs, dies, or sends what is no
    answer."""

    def __init__(self, connection: socket.socket, clock: Clock, process: int, most: int) -> None:
        self.connection, self.clock, self.process, self.most = connection, clock, process, most
        self.connection.setblocking(False)
        self.arrived = bytearray()
        self.number = 0
        self.serving = 0  # the number of the request that the fork at hand was made for
        self.over: dict[str, Any] | None = None  # what told by itself that the fork which served it has ended
        self.readable, self.writable = select.poll(), select.poll()
        self.readable.register(connection, select.POLLIN)
        self.writable.register(connection, select.POLLOUT)

    def exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        if self.over is None:
            self._send(message)
            answer = self._receive()
            if answer.get("n") != self.number and not self._ends_test(answer):
                raise StudentStopped("suspicious", UNASKED)
        else:
            answer, self.over = self.over, None
        if "ended" in answer:
            self.serving = 0
        if self.arrived:
            self.check_quiet()
        return answer

    def check_quiet(self) -> None:
        """Raise `StudentStopped` when something has arrived that nobody asked for."""
        while self.arrived or self.readable.poll(0):
            whole = self._finish_short_frame()
            if not whole or self.over is not None or not self._ends_test(message := self._take()):
                raise StudentStopped("suspicious", UNASKED)
            self.over = message

    def close(self) -> None:
        """Close our end."""
        self.connection.close()

    def _ends_test(self, message: dict[str, Any]) -> bool:
        number = message.get("n")
        return "ended" in message and type(number) is int and 0 < number == self.serving

    def _send(self, message: dict[str, Any]) -> None:
        self.number += 1
        if message["op"] == "test":
            self.serving = self.number
        data = json.dumps({"n": self.number, **message}).encode()
        view = memoryview(len(data).to_bytes(4, "big") + data)
        while view:
            try:
                view = view[self.connection.send(view) :]
            except BlockingIOError:
                self._wait(self.writable)
            except OSError:
                raise StudentStopped("crash", ENDED) from None

    def _receive(self) -> dict[str, Any]:
        """The next message, waited for as long as the clock allows."""
        while (missing := self._missing()) > 0:
            if missing + len(self.arrived) > self.most:
                raise StudentStopped("crash", TOO_MUCH)
            self._wait(self.readable)
            self._more()
        return self._take()

    def _wait(self, poll: select.poll) -> None:
        """Wait as long as the clock allows."""
        while not poll.poll(self.clock.left(self.process) * 1000):
            continue  # the clock knows whether there is more time

    def _missing(self) -> int:
        """Bytes of the frame at hand that have not arrived; four while its length has not."""
        if len(self.arrived) < 4:
            return 4
        return 4 + int.from_bytes(self.arrived[:4], "big") - len(self.arrived)

    def _take(self) -> dict[str, Any]:
        """The message of a frame that has arrived."""
        size = 4 + int.from_bytes(self.arrived[:4], "big")
        data = bytes(self.arrived[4:size])
        del self.arrived[:size]
        try:
            check_parts(data)
            message = json.loads(data.decode())
        except (TooMuchError, MemoryError):
            raise StudentStopped("crash", TOO_MUCH) from None
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise StudentStopped("suspicious", UNASKED)
        return message

    def _finish_short_frame(self) -> bool:
        """Whether what has arrived by itself is a short frame, its end waited for a moment."""
        ends = time.monotonic() + MOMENT
        while 0 < self._missing() <= SHORT and (left := ends - time.monotonic()) > 0:
            if self.readable.poll(left * 1000):
                self._more()
        return self._missing() <= 0

    def _more(self) -> None:
        try:
            part = self.connection.recv(max(PART, min(self._missing(), 1 << 20)))
        except BlockingIOError:
            return
        except OSError:
            part = b""
        if not part:
            raise StudentStopped("crash", ENDED)
        self.arrived += part
