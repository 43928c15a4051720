"""Finds what a class has handed in, in nbgrader's layout: submitted/<student>/<assignment>/<notebook>.ipynb, or what is
meant by it (`submission.picking`)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grading.course import Course, Exercise
from grading.record import record_path
from grading.submission import Submission, files_of, pick_all, read
from grading.submission.opening import Identity


@dataclass(frozen=True)
class HandIn:
    """One file to grade, and what finding it has to say to the student. `root` is the folder of all submissions,
    `instructors` the files of the course's source, which nobody hands in."""

    student: str
    exercise: Exercise
    path: Path
    notes: tuple[str, ...] = ()
    root: Path | None = None
    instructors: frozenset[Identity] = field(default=frozenset(), repr=False)

    def read(self) -> Submission:
        """What is in the file, read once: the hash in it is that of the bytes that were read."""
        return read(self.path, self.exercise, self.root, self.instructors, self.notes)

    @property
    def folder(self) -> Path:
        """The student's folder for the assignment, in which or below which the file lies."""
        if self.root is None:
            return self.path.parent
        return self.root.joinpath(*self.path.relative_to(self.root).parts[:2])

    @property
    def sha256(self) -> str:
        """The hash that `read` gives, for one who needs nothing else of the file."""
        return self.read().sha256

    def record(self, course: Course) -> Path:
        """Where its record is kept."""
        return record_path(course.build / "records", self.student, self.exercise.assignment, self.exercise.name)


def hand_ins(course: Course, exercises: Sequence[Exercise]) -> tuple[list[str], list[HandIn]]:
    """Every student with a folder, and the file of each for every exercise that was handed in.

    A folder's name is the student's id; bytes of it that are no UTF-8 are written as "\\xff". A folder that is a link
    is a student whose every file is unreadable, since whose work it holds cannot be told.
    """
    assignments: dict[str, list[Exercise]] = {}
    for exercise in exercises:
        assignments.setdefault(exercise.assignment, []).append(exercise)
    instructors = files_of(course.source)
    students, found = [], []
    for folder, linked in _folders(course.submitted):
        student = os.fsencode(folder.name).decode("utf-8", "backslashreplace")
        students.append(student)
        names = None if linked else _names(folder)
        for assignment in assignments:
            if names is not None and assignment not in names:
                continue
            picks = pick_all(folder / assignment, assignments[assignment], course.submitted)
            for exercise, pick in zip(assignments[assignment], picks, strict=True):
                path = pick.path or (folder / assignment / f"{exercise.name}.ipynb" if pick.notes else None)
                if path is not None:
                    found.append(HandIn(student, exercise, path, pick.notes, course.submitted, instructors))
    return students, found


def _folders(submitted: Path) -> Iterator[tuple[Path, bool]]:
    """The folders of students by name, each with whether it is a link. Dot files and other files are nobody's."""
    try:
        with os.scandir(submitted) as entries:
            names = sorted((entry.name, entry.is_symlink()) for entry in entries if entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return
    for name, linked in names:
        if not name.startswith("."):
            yield submitted / name, linked


def _names(folder: Path) -> set[str] | None:
    """What lies in a student's folder; None where it cannot be looked into, which each file's reading will say."""
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in entries}
    except OSError:
        return None
