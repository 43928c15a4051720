"""The processor time of processes, from Linux's /proc."""

from __future__ import annotations

import contextlib
import os

TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(process: int) -> tuple[float, bool]:
    """Processor time of a process and its living descendants, and whether one of them wants to run.

    `process` is a number in our own namespace; the first process of another one has all others of it below itself.
    """
    total, runnable = 0, False
    todo = [process]
    while todo:
        pid = todo.pop()
        with contextlib.suppress(OSError, ValueError, IndexError):  # it may end while we read
            fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
            total += int(fields[11]) + int(fields[12])
            runnable |= fields[0] in (b"R", b"D")
            todo += map(int, _read(f"/proc/{pid}/task/{pid}/children").split())
    return total / TICKS, runnable


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)
