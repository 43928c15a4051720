"""Files that nbgrader would not see, renamed: nbgrader looks for the exact name in the folder of the assignment.

Which file is meant is `submission.pick`'s to say, as it is when a class is graded. Nothing is overwritten, and nothing
that has the right name is touched; a Python file stays one, since nbgrader takes notebooks only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grading.course import Course, Exercise
from grading.submission import pick_all
from grading.submission.naming import is_notebook


@dataclass(frozen=True)
class Rename:
    """A file of a student's and where nbgrader would look for it; `old` and `new` are whole paths."""

    student: str
    exercise: str
    old: Path
    new: Path


def tidy(course: Course, write: bool = False) -> list[Rename]:
    """What is to be renamed, student by student; with `write` it is done. Links are left alone, and so is everything
    beneath one."""
    exercises: dict[str, list[Exercise]] = {}
    for exercise in course.exercises():
        exercises.setdefault(exercise.assignment, []).append(exercise)
    renames: list[Rename] = []
    for student in _folders(course.submitted):
        for assignment, of_it in exercises.items():
            renames += _renames(course, student, student / assignment, of_it)
    if write:
        for rename in renames:
            os.rename(rename.old, rename.new)
    return renames


def _folders(submitted: Path) -> Iterator[Path]:
    """The students' folders."""
    for folder in sorted(submitted.iterdir()) if submitted.is_dir() else []:
        if folder.is_dir() and not folder.is_symlink() and not folder.name.startswith("."):
            yield folder


def _renames(course: Course, student: Path, folder: Path, exercises: list[Exercise]) -> Iterator[Rename]:
    if not folder.is_dir() or folder.is_symlink():
        return
    for exercise, found in zip(exercises, pick_all(folder, exercises, course.submitted), strict=True):
        new = folder / f"{exercise.name}.ipynb"
        if found.path is None or found.path == new or not is_notebook(found.path.name):
            continue
        if not found.path.is_symlink() and (not os.path.lexists(new) or _same(found.path, new)):
            yield Rename(student.name, exercise.key, found.path, new)


def _same(old: Path, new: Path) -> bool:
    """Whether two names are one file: on some systems "PS1.ipynb" is also "ps1.ipynb"."""
    return new.name.casefold() == old.name.casefold() and os.path.samefile(old, new)
