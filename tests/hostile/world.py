"""A small course to grade in, with two honest students, a file that is nobody's business, and a listener.

One world is made and graded once (entering a course in a new gradebook takes seconds); every run gets a copy.
"""

from __future__ import annotations

import os
import shutil
import socket
import threading
from dataclasses import dataclass
from pathlib import Path

from grading.course import Course, open_course
from grading.record import record_path
from grading.running.plan import Limits
from tests.hostile.cases import CANARIES, CONTROLS, COURSE, Places, Work, build

LIMITS = Limits(cell_seconds=8, test_seconds=2, total_seconds=20, memory=1 << 30)


class Listener:
    """Listens on one port of this machine, TCP and UDP, and counts what arrives (a context manager)."""

    def __init__(self) -> None:
        self.heard = 0
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        for wait in (self._accept, self._receive):
            threading.Thread(target=wait, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self.tcp.accept()
            except OSError:
                return
            self.heard += 1
            line.close()

    def _receive(self) -> None:
        while True:
            try:
                self.udp.recv(1 << 16)
            except OSError:
                return
            self.heard += 1

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *exception: object) -> None:
        for door in (self.tcp, self.udp):
            door.close()


@dataclass(frozen=True)
class World:
    """A course in a folder of its own, with the canary file beside it."""

    root: Path
    port: int

    @property
    def course(self) -> Course:
        """The course, as the grader opens it."""
        return open_course(self.root / "course")

    @property
    def canary(self) -> Path:
        """A file outside the course that no student should read or change."""
        return self.root / "canary.txt"

    @property
    def records(self) -> Path:
        """Where the grader keeps its records."""
        return self.course.build / "records"

    def record(self, student: str, exercise: str) -> Path:
        """Where the record of one hand-in is kept."""
        return record_path(self.records, student, exercise, exercise)

    @property
    def places(self) -> Places:
        """What a hostile program is told."""
        course = self.course
        return Places(course.root, course.database, self.records, self.canary, self.port)


def make_world(root: Path, port: int) -> World:
    """A course of three exercises in which the honest students have handed in right work."""
    world = World(root, port)
    shutil.copytree(COURSE, root / "course")
    world.canary.write_text(f"{CANARIES['file']}\n", encoding="utf-8")
    for student in CONTROLS:
        for exercise in exercises():
            build(Work(), exercise, student, world.places)
    return world


def copy_world(world: World, root: Path) -> World:
    """The same world in another folder."""
    shutil.copytree(world.root, root, symlinks=True)
    return World(root, world.port)


def exercises() -> list[str]:
    """The exercises of the course, by name."""
    return sorted(path.name for path in (COURSE / "source").iterdir())


def forget(world: World, students: tuple[str, ...], exercise: str) -> None:
    """Remove what is recorded of students, so that they are judged again in the same run as a case."""
    for student in students:
        world.record(student, exercise).unlink(missing_ok=True)


def remove(root: Path) -> None:
    """Remove a world, however deep or oddly a program has filled it."""
    shutil.rmtree(root, ignore_errors=True)
    if root.exists():
        os.rename(root, root.with_name(f"{root.name}-left"))
