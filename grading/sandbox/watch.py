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
from collections.abc import Iterable, Iterator, Mapping

SECONDS = 0.02
PAGE = os.sysconf("SC_PAGE_SIZE")


def descendants(of: int) -> dict[int, int]:
    """All that descends from a process, nearest first, with the bytes each holds in memory. From /proc."""
    children: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):  # it may end while we read
                state, parent, held = _stat(f"/proc/{name}/stat")
                if state == b"Z":  # its first thread has ended, and others may go on
                    held = _held(_threads(int(name)))
                children.setdefault(parent, []).append((int(name), held))
    found: dict[int, int] = {}
    todo = [of]
    while todo:
        below = children.get(todo.pop(), [])
        found.update(below)
        todo += [pid for pid, _ in below]
    return found


def memory(processes: Mapping[int, int], most: int) -> bool:
    """Whether processes use more memory together than `most` bytes; of each what it holds (`descendants`)."""
    if sum(processes.values()) <= most:
        return False
    return sum(_share(pid, held) for pid, held in processes.items()) > most


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


def _share(pid: int, held: int) -> int:
    """A process's part of the memory it holds: a page that four share counts a quarter. All of it where it hides."""
    for task in (pid, *_threads(pid)):
        try:
            for line in _read(f"/proc/{task}/smaps_rollup").splitlines():
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
        except ProcessLookupError:
            continue  # it has ended and holds nothing; a whole group that is killed does so between two readings
        except OSError:
            if os.path.exists(f"/proc/{task}"):
                return held  # it hides, or the kernel does not count shares
    return 0


def _stat(path: str) -> tuple[bytes, int, int]:
    """State, parent and bytes in memory, from a `stat` of /proc."""
    fields = _read(path).rpartition(b")")[2].split()
    return fields[0], int(fields[1]), int(fields[21]) * PAGE


def _held(threads: Iterable[int]) -> int:
    """The bytes that threads of one process hold in memory; 0 where none is left."""
    for thread in threads:
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, _, held = _stat(f"/proc/{thread}/stat")
            if state != b"Z":
                return held
    return 0


def _threads(pid: int) -> Iterator[int]:
    """The threads of a process that are not its first one; one of them may hold the memory when that has ended."""
    with contextlib.suppress(OSError):
        yield from (int(name) for name in os.listdir(f"/proc/{pid}/task") if int(name) != pid)


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)
