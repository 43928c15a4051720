"""Finds what a class has handed in, in nbgrader's layout: submitted/<student>/<assignment>/<notebook>.ipynb."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grading.course import Course, Exercise
from grading.record import record_path
from grading.submission import UnreadableError, read_bytes


@dataclass(frozen=True)
class HandIn:
    """One file to grade."""

    student: str
    exercise: Exercise
    path: Path

    @property
    def sha256(self) -> str:
        """The hash that `submission.read` gives the file."""
        try:
            return hashlib.sha256(read_bytes(self.path)).hexdigest()
        except UnreadableError:
            return hashlib.sha256(b"").hexdigest()

    def record(self, course: Course) -> Path:
        """Where its record is kept."""
        return record_path(course.build / "records", self.student, self.exercise.assignment, self.exercise.name)


def hand_ins(course: Course, exercises: Sequence[Exercise]) -> tuple[list[str], list[HandIn]]:
    """Every student with a folder, and every file handed in for an exercise (a .py file where there is no notebook).

    A folder is a student's id. One whose name is no Unicode goes by the name with question marks in its place.
    """
    students, found = [], []
    folders = sorted(course.submitted.iterdir()) if course.submitted.is_dir() else []
    for folder in folders:
        if not folder.is_dir() or folder.is_symlink() or folder.name.startswith("."):
            continue
        student = folder.name.encode("utf-8", "replace").decode()
        students.append(student)
        for exercise in exercises:
            base = folder / exercise.assignment
            paths = [base / f"{exercise.name}{suffix}" for suffix in (".ipynb", ".py")]
            there = [path for path in paths if path.is_symlink() or path.exists()]
            found += [HandIn(student, exercise, path) for path in there[:1]]
    return students, found
