"""What lies in a student's folder for an assignment, and one folder further down: regular files, not too many."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from grading.submission.naming import best_named

MAX_ENTRIES = 500  # of a folder that are looked at
MAX_FOLDERS = 20


@dataclass(frozen=True)
class Entry:
    """A file below the folder: its path in it, its size, how near its name is to that of the exercise `owner`."""

    name: str
    deep: bool
    size: int
    nearness: int
    owner: int


def exact_name(folder: int, name: str) -> str:
    """The exact name where there is anything by it: a notebook, else a Python file. A folder gives way to what it
    may hold."""
    for file in (f"{name}.ipynb", f"{name}.py"):
        try:
            mode = os.stat(file, dir_fd=folder, follow_symlinks=False).st_mode
        except (OSError, ValueError):
            continue
        if not stat.S_ISDIR(mode):
            return file
    return ""


def entries_of(folder: int, names: Sequence[str]) -> tuple[list[Entry], bool]:
    """The regular files of a folder and of the folders in it, with whether some were left out."""
    found, folders, cut = _listed(folder, "", names)
    for name in sorted(folders)[:MAX_FOLDERS]:
        try:
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        except OSError:
            continue
        try:
            inner, _, more = _listed(below, f"{name}/", names)
            found += inner
            cut = cut or more
        finally:
            os.close(below)
    return sorted(found, key=lambda entry: (entry.deep, entry.name)), cut or len(folders) > MAX_FOLDERS


def _listed(folder: int, above: str, names: Sequence[str]) -> tuple[list[Entry], list[str], bool]:
    files: list[Entry] = []
    folders: list[str] = []
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if count >= MAX_ENTRIES:
                return files, folders, True
            if entry.name.startswith(".") or entry.name == "__MACOSX":
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    size = entry.stat(follow_symlinks=False).st_size
                    files.append(Entry(above + entry.name, bool(above), size, *best_named(entry.name, names)))
            except OSError:
                continue
    return files, folders, False
