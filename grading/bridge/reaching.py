"""What nbgrader says about a course, in this package's terms: its folders, its gradebook, who hands in what."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import Any

from sqlalchemy.engine import make_url

from grading.course import Course, open_course

Folders = Any  # nbgrader.coursedir.CourseDirectory, which has no types


def course_of(folders: Folders) -> Course:
    """The course that nbgrader is configured for.

    Raises `ValueError` that names the option where its nbgrader_config.py does not say in plain strings what nbgrader
    goes by: the workers that grade read that file and do not run it.
    """
    course = open_course(Path(folders.root))
    for option, mine in (("source_directory", course.source), ("submitted_directory", course.submitted)):
        theirs = os.path.normpath(folders.format_path(getattr(folders, option), ".", "."))
        if Path(theirs).resolve() != mine.resolve():
            raise ValueError(
                f"{option}: nbgrader goes by {theirs}, and nbgrader_config.py in {course.root} gives {mine}: set it "
                f"there, as a plain string"
            )
    return course


def database_of(folders: Folders) -> Path | None:
    """The file of the gradebook; None when another database than SQLite holds it."""
    url = make_url(folders.db_url)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def who_and_what(folders: Folders, path: str) -> tuple[str, str]:
    """The student and the assignment of a folder of submissions. Raises `ValueError` for another folder."""
    groups = "(?P<student>[^/]+)", "(?P<assignment>[^/]+)"
    pattern = folders.format_path(folders.submitted_directory, *groups, escape=True)
    match = re.fullmatch(pattern, path)
    if match is None:
        raise ValueError(f"path: {path} is no folder of a submission")
    return match["student"], match["assignment"]


def not_to_be_copied(folder: Path, top: Path) -> list[str]:
    """Patterns for what in a student's folder is neither file nor folder (a link, a device, a pipe), and for folders in
    which nbgrader's own patterns would not find such a thing. ["*"] when a step from `top` to the folder is a link, so
    that nothing in it is the student's."""
    for step in (folder, *folder.parents):
        if step == top:
            break
        if step.is_symlink():
            return ["*"]
    names = []
    for where, folders, files in os.walk(folder):
        names += [name for name in folders if glob.has_magic(name)]
        names += [name for name in files if not is_file(Path(where, name))]
    return [glob.escape(name) for name in names]


def is_file(path: Path) -> bool:
    """Whether there is a regular file, and no link to one."""
    return path.is_file() and not path.is_symlink()
