"""The student's process's ends of its pipes: messages to and from the judge, and what it prints."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any

MAX_PRINTED = 8_000


class Printed:
    """A text stream that keeps the first characters and drops the rest, so that endless printing costs nothing."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        """Keep what there is room for."""
        room = MAX_PRINTED - len(self.text)
        if room > 0:
            self.text += text[:room]
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""

    def isatty(self) -> bool:
        """Nobody watches."""
        return False

    def fileno(self) -> int:
        """The descriptor of the output, which leads nowhere."""
        return 1


class Wire:
    """Frames over a file descriptor: four bytes of length, then JSON. Unbuffered, because forks share the
    descriptor."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.rest = b""  # of what was read: the next message, where that came at once
        self.passed_on = False  # a fork made now keeps the descriptor; every other lets go of it

    def let_go(self) -> None:
        """In a child process that the student's code forked: it has no business here."""
        if not self.passed_on:
            with contextlib.suppress(OSError):
                os.close(self.descriptor)
            self.descriptor = -1

    def read(self) -> dict[str, Any]:
        """The next message; the process ends when the other side is closed."""
        data = self.rest or self._some()
        size = 4 + int.from_bytes(data[:4], "big") if len(data) >= 4 else 4
        while len(data) < size:
            data += self._some()
            size = 4 + int.from_bytes(data[:4], "big") if len(data) >= 4 else 4
        self.rest = data[size:]
        message: dict[str, Any] = json.loads(data[4:size])
        return message

    def write(self, message: dict[str, Any]) -> None:
        """Send a message."""
        data = json.dumps(message).encode()
        view = memoryview(len(data).to_bytes(4, "big") + data)
        while view:
            view = view[os.write(self.descriptor, view) :]

    def _some(self) -> bytes:
        part = os.read(self.descriptor, 1 << 16)
        if not part:
            os._exit(0)  # the judge has gone
        return part
