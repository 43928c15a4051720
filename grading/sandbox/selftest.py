"""Tries to break out, as a student's cell would, before any student's does.

Nothing here is hostile to the machine: a file, a variable, a listener and a sleeping process are laid out for the
attempts, and where it can be seen from outside whether one worked (a file is there, a connection came, the process is
dead), the probe's own word does not count. A probe that does not report back counts as one that got out.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading.sandbox.box import Sandbox, Student
from grading.sandbox.probe import probe

NETWORK = "the network"
LOCAL = "sockets of other programs"
READING = "reading files outside"
WRITING = "writing files outside"
VARIABLE = "the environment of other programs"
PROCESSES = "more processes than allowed"
SIGNAL = "signals to other programs"
TRACING = "memory of other programs"
REPORT = "the probe did not report back"
ITEMS = (NETWORK, LOCAL, READING, WRITING, VARIABLE, PROCESSES, SIGNAL, TRACING)
CANARY = "GRADER_CANARY"
SECONDS = 60.0
SPARE = 64  # processes beyond the limit: where a user's are counted together, some may end meanwhile


@dataclass(frozen=True)
class Bait:
    """What is laid out: a word to find, a folder with a file, two listeners, a process."""

    word: str
    folder: Path
    tcp: socket.socket
    local: socket.socket
    sleeper: subprocess.Popen[bytes]


def self_test(sandbox: Sandbox, others: Sequence[str | os.PathLike[str]] = ()) -> tuple[str, ...]:
    """What a student's process could do and should not, by name; empty is good. `others`: files of the instructor's,
    such as a source notebook, that it must not be able to read either."""
    with _laid_out() as bait:
        student = sandbox.spawn(())
        try:
            found = _ask(student, _cell(sandbox, bait, [str(Path(other).resolve()) for other in others]))
        except (OSError, ValueError, KeyError, EOFError):
            found = {REPORT}
        finally:
            sandbox.kill(student)
        found |= {NETWORK} if _was_reached(bait.tcp) else set()
        found |= {LOCAL} if _was_reached(bait.local) else set()
        found |= {WRITING} if (bait.folder / "written").exists() else set()
        found |= {SIGNAL} if bait.sleeper.poll() is not None else set()
    return tuple(item for item in (*ITEMS, REPORT) if item in found)


@contextlib.contextmanager
def _laid_out() -> Iterator[Bait]:
    word = secrets.token_hex(16)
    name = f"\0grader-{secrets.token_hex(8)}"
    with (
        tempfile.TemporaryDirectory(prefix="canary-") as folder,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as local,
    ):
        course = Path(folder) / "source" / "exercise.txt"
        course.parent.mkdir()
        course.write_text(word)
        local.bind(name)
        local.listen()
        before = os.environ.get(CANARY)
        os.environ[CANARY] = word
        idle = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
        sleeper = subprocess.Popen(idle, env={CANARY: word}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            yield Bait(word, Path(folder), tcp, local, sleeper)
        finally:
            sleeper.kill()
            sleeper.wait()
            if before is None:
                del os.environ[CANARY]
            else:
                os.environ[CANARY] = before


def _cell(sandbox: Sandbox, bait: Bait, others: list[str]) -> str:
    """The text of the cell that tries."""
    name = bait.local.getsockname()
    told = {
        "word": bait.word,
        "variable": CANARY,
        "files": [str(bait.folder / "source" / "exercise.txt"), *others],
        "write": str(bait.folder / "written"),
        "port": bait.tcp.getsockname()[1],
        "local": name.decode() if isinstance(name, bytes) else name,
        "process": bait.sleeper.pid,
        "most": sandbox.limits.processes + SPARE,
        "names": [READING, VARIABLE, PROCESSES, TRACING],
    }
    return probe(told)


def _ask(student: Student, cell: str) -> set[str]:
    """Run a cell and read the list that it prints."""
    data = json.dumps({"op": "cell", "n": 1, "id": "probe", "source": cell}).encode()
    student.connection.settimeout(SECONDS)
    student.connection.sendall(len(data).to_bytes(4, "big") + data)
    size = int.from_bytes(_receive(student.connection, 4), "big")
    answer: dict[str, Any] = json.loads(_receive(student.connection, size))
    return set(json.loads(answer["printed"])) & set(ITEMS)


def _receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def _was_reached(listener: socket.socket) -> bool:
    """Whether somebody connected."""
    listener.setblocking(False)
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True
