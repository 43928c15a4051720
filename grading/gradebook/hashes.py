"""Which file the gradebook's scores are about: the hash of what was last entered for a student's notebook.

nbgrader has no place for that, and without it a mark that a person gave for this very file cannot be told from one for
an earlier hand-in. One small file each, written after the gradebook: where it is behind, a person looks once too often.
"""

from __future__ import annotations

from pathlib import Path

from grading.course import Exercise
from grading.storing import file_name, read_file, replace_file

LARGEST = 1000  # bytes of such a file


class Hashes:
    """The hashes, in files below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, student: str, exercise: Exercise) -> str | None:
        """The hash of what was last entered, "" where nothing was handed in; None where that is not known."""
        try:
            return read_file(self._path(student, exercise), LARGEST).strip()
        except (OSError, ValueError):
            return None

    def put(self, student: str, exercise: Exercise, sha256: str) -> None:
        """Say what was entered."""
        replace_file(self._path(student, exercise), f"{sha256}\n")

    def _path(self, student: str, exercise: Exercise) -> Path:
        name = f"{file_name(exercise.name)}.sha256"
        return self.folder / file_name(student) / file_name(exercise.assignment) / name
