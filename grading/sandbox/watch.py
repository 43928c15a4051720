"""Watches what all processes of a student use together: memory, and files where no file system bounds them.

The zygote looks every few hundredths of a second, from outside the student's namespaces. First comes a sum that is
cheap and too high (pages that processes share are counted in each); only when that is over the limit, the exact one. A
control group would be exact without looking, and needs a folder of them that the user may write to, which few machines
give.

Left out: memory of the kernel itself (buffers of pipes and sockets), bounded by processes times open files.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

SECONDS = 0.02
PAGE = os.sysconf("SC_PAGE_SIZE")


def descendants(of: int) -> list[int]:
    """Process ids of all that descends from a process, nearest first. From /proc."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):  # it may end while we read
                fields = _read(f"/proc/{name}/stat").rpartition(b")")[2].split()
                parents.setdefault(int(fields[1]), []).append(int(name))
    found: list[int] = []
    todo = [of]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def memory(processes: Iterable[int], most: int) -> bool:
    """Whether processes use more memory together than `most` bytes."""
    processes = list(processes)
    if sum(_resident(pid) for pid in processes) <= most:
        return False
    return sum(_share(pid) for pid in processes) > most


def files(folder: str) -> tuple[int, int]:
    """Bytes and number of what lies below a folder; what cannot be read counts nothing."""
    size = count = 0
    todo = [folder]
    while todo:
        with contextlib.suppress(OSError), os.scandir(todo.pop()) as entries:
            for entry in entries:
                count += 1
                with contextlib.suppress(OSError):
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
    return size, count


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(_read(f"/proc/{pid}/statm").split()[1]) * PAGE
    return 0


def _share(pid: int) -> int:
    """A process's part of the memory it holds: a page that four share counts a quarter. All of it where it hides."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    return _resident(pid)


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)
