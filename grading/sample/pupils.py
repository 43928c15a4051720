"""Reads the students of a sample class, what they handed in, and the marks they must get."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from grading.sample.damage import BYTES, DAMAGE

CLASS = Path(__file__).parent / "class.toml"


@dataclass(frozen=True)
class Work:
    """One hand-in of the sample: `answers` is "solution", "blank" or the path of a Python file (from the course's
    folder, or from the folder of class.toml); `damage` names operations of `damage`; `expected` is the mark."""

    exercise: str
    answers: str
    expected: float
    damage: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pupil:
    """An invented student."""

    id: str
    name: str
    work: tuple[Work, ...]


def read_class(path: Path = CLASS) -> list[Pupil]:
    """The students of a class file. Raises `ValueError` that names the file and the student when a field is missing,
    a damage unknown or a student there twice."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("student", [])
    except (OSError, ValueError) as problem:
        raise ValueError(f"{path}: cannot be read: {problem}") from None
    pupils: list[Pupil] = []
    for position, entry in enumerate(entries, 1):
        who = entry.get("id", f"student {position}")
        if who in {pupil.id for pupil in pupils}:
            raise ValueError(f"{path}: student {who!r} is there twice")
        work = []
        try:
            for exercise, piece in entry["work"].items():
                damage = piece.get("damage", [])
                damage = (damage,) if isinstance(damage, str) else tuple(damage)
                work.append(Work(exercise, piece["answers"], float(piece["expected"]), damage))
            pupils.append(Pupil(entry["id"], entry["name"], tuple(work)))
        except KeyError as problem:
            raise ValueError(f"{path}: {who!r} lacks {problem.args[0]!r}") from None
        for name in (name for piece in work for name in piece.damage):
            if name not in DAMAGE and name not in BYTES:
                raise ValueError(f"{path}: damage {name!r} of {who!r} is not known")
    return pupils


def expected_marks(pupils: list[Pupil]) -> dict[tuple[str, str], float]:
    """The mark that each piece of work must get, by student and exercise."""
    return {(pupil.id, work.exercise): work.expected for pupil in pupils for work in pupil.work}
