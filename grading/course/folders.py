"""Where a course keeps things, and which exercises it has.

The source notebooks (with solutions and hidden tests) are used where they are present, else the released ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from grading.course.exercise import Exercise, read_exercise
from grading.course.settings import not_followed, plain_settings
from grading.course.withdrawn import read_withdrawn

PLACES = {
    "source_directory": "source",
    "release_directory": "release",
    "submitted_directory": "submitted",
    "feedback_directory": "feedback",
    "db_url": "sqlite:///gradebook.db",
}


@dataclass(frozen=True)
class Course:
    """The folders of a course. `build` holds what can be made again (records and the table of marks), and the hidden
    parts that the tests once had; `ignored` says what its configuration sets that grading does not follow."""

    root: Path
    source: Path
    release: Path
    submitted: Path
    build: Path
    database: Path
    feedback: Path
    ignored: tuple[str, ...] = ()

    def exercises(self) -> list[Exercise]:
        """Every notebook with something to grade, in the order of their names."""
        folder = self.source if self.source.is_dir() else self.release
        found = []
        for path in sorted(folder.glob("*/*.ipynb")):
            exercise = self.exercise(path.parent.name, path.stem)
            if exercise.tests or exercise.manual:
                found.append(exercise)
        return found

    def exercise(self, assignment: str, name: str = "") -> Exercise:
        """Read one exercise; `assignment/name` is also understood. Raises `ValueError` naming it when the course has
        none of that name."""
        if not name:
            assignment, _, name = assignment.partition("/")
        name = name or assignment
        if not re.fullmatch(r"[\w .-]*\w[\w .-]*", assignment) or not re.fullmatch(r"[^/\\]+", name):
            raise ValueError(f"exercise: {assignment!r} is no name of an exercise")
        source, released = (folder / assignment / f"{name}.ipynb" for folder in (self.source, self.release))
        if not source.is_file() and not released.is_file():
            raise ValueError(f"exercise: no {name!r} in this course (it has: {', '.join(self._keys()) or 'none'})")
        if source.is_file():
            exercise = read_exercise(source, released if released.is_file() else None)
            return replace(exercise, withdrawn=read_withdrawn(self.build, assignment, name))
        return read_exercise(released, released, from_source=False)

    def _keys(self) -> list[str]:
        """What `exercise` would find."""
        paths = [path for folder in (self.source, self.release) for path in folder.glob("*/*.ipynb")]
        return sorted({p.stem if p.stem == p.parent.name else f"{p.parent.name}/{p.stem}" for p in paths})


def open_course(root: Path, bundled: bool = False) -> Course:
    """The course in a folder. Places come from its nbgrader_config.py where that sets them as plain strings.

    A bundled course keeps everything it makes under `_build/course`; any other keeps nbgrader's own layout.
    """
    config = root / "nbgrader_config.py"
    set_here = plain_settings(config)
    names = {name: set_here.get(name, default) for name, default in PLACES.items()}
    if not names["db_url"].startswith("sqlite:///"):
        names["db_url"] = PLACES["db_url"]
    build = root / "_build" / "course"
    return Course(
        root=root,
        source=root / names["source_directory"],
        release=root / names["release_directory"],
        submitted=build / "submitted" if bundled else root / names["submitted_directory"],
        build=build,
        database=build / "gradebook.db" if bundled else root / names["db_url"].removeprefix("sqlite:///"),
        feedback=build / "feedback" if bundled else root / names["feedback_directory"],
        ignored=() if bundled else tuple(not_followed(config, names)),
    )
