"""What the system says of processes: their processor time, their children, how they ended. From Linux's /proc."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
ROUNDS = 100


def adopt_orphans() -> None:
    """Ask the system to hand this process the orphans of its descendants (elsewhere than on Linux: nothing)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_children() -> None:
    """End every child of this process, the adopted ones among them, and what these leave behind."""
    for _ in range(ROUNDS):
        found = children()
        for child in found:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        if not found:
            return


def children() -> list[int]:
    """Process ids of our children, the adopted ones among them ([] where /proc does not say)."""
    try:
        return [int(part) for part in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []


def processor_seconds(process: int) -> tuple[float, bool]:
    """Processor time of a process and its living children, and whether one of them wants to run."""
    total, runnable = 0.0, False
    todo = [process]
    while todo:
        pid = todo.pop()
        with contextlib.suppress(OSError, ValueError, IndexError):  # it may end while we read
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            runnable |= fields[0] in "RD"
            todo += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return total, runnable


def how_it_ended(code: int) -> str:
    """Words for an exit status: 3 -> "it ended the Python process (exit status 3)"."""
    if code < 0:
        names = {int(known): known.name for known in signal.Signals}
        return f"the Python process was ended by signal {-code} ({names.get(-code, 'unnamed')})"
    return f"it ended the Python process (exit status {code})"
