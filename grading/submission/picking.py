"""Which file of a student's folder for an assignment is meant, and never two for one exercise or one for two.

In this order: the exact name; the same name in other letters; a copy (`naming`); all these one folder further down; the
only notebook there is; of several the one whose cells fit best. Every departure is a note to the student. Left alone:
files and folders whose name starts with a dot (Jupyter's checkpoints), and links.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grading.course import Exercise
from grading.submission.listing import MAX_ENTRIES, Entry, entries_of, exact_name
from grading.submission.matching import fit
from grading.submission.naming import OTHER, copy_number, is_notebook
from grading.submission.opening import AbsentError, UnreadableError, open_folder, shown
from grading.submission.reading import read

MAX_COMPARED = 12  # notebooks that are read to see which fits
MAX_COMPARED_BYTES = 40 << 20


@dataclass(frozen=True)
class Pick:
    """The file that is meant for an exercise, None where nothing was handed in, and notes to the student."""

    path: Path | None
    notes: tuple[str, ...] = ()


@dataclass
class Desk:
    """A folder being sorted: its files, what is taken already, what was read of which file."""

    folder: Path
    root: Path | None
    exercises: Sequence[Exercise]
    entries: list[Entry] = field(default_factory=list)
    taken: dict[int, Entry] = field(default_factory=dict)
    fits: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    bytes_left: int = MAX_COMPARED_BYTES

    def free(self) -> list[Entry]:
        """The files that belong to no exercise yet."""
        gone = {entry.name for entry in self.taken.values()}
        return [entry for entry in self.entries if entry.name not in gone]

    def fit(self, entry: Entry, index: int) -> tuple[int, int]:
        """How many answers of an exercise a file has, and how many are written; (0, 0) once too much was read."""
        key = entry.name, index
        if key not in self.fits:
            self.bytes_left -= entry.size
            known = self.bytes_left >= 0
            cells = read(self.folder / entry.name, root=self.root).cells if known else ()
            self.fits[key] = fit(self.exercises[index], cells)
        return self.fits[key]


def pick(folder: Path, exercise: Exercise, others: Sequence[Exercise] = (), root: Path | None = None) -> Pick:
    """The file meant for an exercise; `others` are the other exercises of the assignment. Never raises for what a
    student can hand in. `root`: the folder of all submissions, below which no step may be a link."""
    return pick_all(folder, [exercise, *others], root)[0]


def pick_all(folder: Path, exercises: Sequence[Exercise], root: Path | None = None) -> list[Pick]:
    """The file meant for each exercise of one assignment."""
    try:
        with open_folder(folder, root) as descriptor:
            return _picked(Desk(folder, root, exercises), descriptor)
    except AbsentError:
        return [Pick(None) for _ in exercises]
    except UnreadableError:
        if os.path.islink(folder.parent) and not os.path.lexists(folder):  # a linked student without this assignment
            return [Pick(None) for _ in exercises]
        return [Pick(folder / f"{exercise.name}.ipynb") for exercise in exercises]  # reading it says what is wrong


def _picked(desk: Desk, descriptor: int) -> list[Pick]:
    exact = [exact_name(descriptor, exercise.name) for exercise in desk.exercises]
    desk.entries, cut = entries_of(descriptor, [exercise.name for exercise in desk.exercises])
    for index, name in enumerate(exact):
        if name:
            desk.taken[index] = Entry(name, False, 0, 0, index)
    rivals = _take_by_name(desk)
    _take_by_content(desk)
    cut_note = (f"There are very many files in the folder; {MAX_ENTRIES} were looked at.",) if cut else ()
    return [_pick(desk, index, rivals.get(index, []), cut_note) for index in range(len(desk.exercises))]


def _take_by_name(desk: Desk) -> dict[int, list[Entry]]:
    """Take for each exercise the file named most like it; gives the others that are named like it too."""
    rivals: dict[int, list[Entry]] = {}
    for index in range(len(desk.exercises)):
        like = [entry for entry in desk.free() if entry.owner == index and entry.nearness < OTHER]
        if index not in desk.taken and like:
            desk.taken[index] = _best_copy(desk, index, like)
        rivals[index] = [entry for entry in like if desk.taken[index] != entry]
    return rivals


def _best_copy(desk: Desk, index: int, like: list[Entry]) -> Entry:
    """Of several files with a name like the exercise's: the nearest, of equals the one with most in it, the latest."""

    def rank(entry: Entry) -> tuple[bool, bool, int]:
        return entry.name.lower().endswith(".py"), entry.deep, entry.nearness

    best = min(map(rank, like))
    equals = [entry for entry in like if rank(entry) == best][:MAX_COMPARED]
    if len(equals) == 1:
        return equals[0]
    return max(equals, key=lambda entry: (*desk.fit(entry, index), copy_number(entry.name), entry.name))


def _take_by_content(desk: Desk) -> None:
    """Take for the exercises that have none the other notebooks (else the Python files), by what is in them."""
    missing = [index for index in range(len(desk.exercises)) if index not in desk.taken]
    unknown = [entry for entry in desk.free() if entry.nearness == OTHER]
    notebooks = [entry for entry in unknown if is_notebook(entry.name)]
    if not missing:
        return
    if len(notebooks) == len(desk.exercises) == 1:
        desk.taken[0] = notebooks[0]
        return
    files = notebooks or [entry for entry in unknown if entry.name.lower().endswith(".py")]
    pairs = [(desk.fit(entry, index), entry, index) for entry in files[:MAX_COMPARED] for index in missing]
    for fitting, entry, index in sorted(pairs, key=lambda pair: pair[0], reverse=True):
        if fitting > (0, 0) and index not in desk.taken and entry in desk.free():
            desk.taken[index] = entry


def _pick(desk: Desk, index: int, rivals: Sequence[Entry], cut: tuple[str, ...]) -> Pick:
    name = f"{desk.exercises[index].name}.ipynb"
    entry = desk.taken.get(index)
    if entry is None:
        if os.path.lexists(desk.folder / name):
            return Pick(desk.folder / name, cut)  # a folder, which reading will say
        unknown = [one for one in desk.free() if is_notebook(one.name)]
        if not unknown or len(desk.exercises) > 1:
            return Pick(None, cut)
        return Pick(None, (f"None of the {len(unknown)} notebooks in the folder looks like {name}.", *cut))
    notes = [] if entry.nearness == 0 else [f"“{shown(entry.name)}” was taken for {name}."]
    if rivals:
        some = ", ".join(f"“{shown(one.name)}”" for one in rivals[:3])
        more = f" and {len(rivals) - 3} more" if len(rivals) > 3 else ""
        notes.append(f"“{shown(entry.name)}” is what was graded; {some}{more} in the same folder counted for nothing.")
    return Pick(desk.folder / entry.name, (*notes, *cut))
