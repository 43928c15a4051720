"""Whether a file looks like the instructor's own notebook, not the one given out: then a person looks at it first.

Two signs: it is one of the files of the course's source under a second name (a hard link, which no look at its type can
tell), or a cell holds a hidden part of a test word for word, also one that the source had when it was graded before: a
test that was mended since takes nothing back. Hard links among students are no sign: storage that keeps
equal files once makes them. Nobody is accused: a course may have given the wrong file out.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from grading.course import Exercise, SourceCell
from grading.course.notebook import without_lines
from grading.submission.opening import Identity

MIN_LETTERS = 40  # a shorter hidden part may be written by chance
SAME_FILE = "This is the instructor's own file under a second name"
HIDDEN_TEXT = "The file holds text of the instructor's own notebook that the one given out does not have"
SET_ASIDE = (
    "{}. It was set aside for a person to look at, who will give the marks; the reason may be innocent. "
    "If you can, hand in the notebook that you were given, with your answers in it."
)


def files_of(folder: Path) -> frozenset[Identity]:
    """Every file below a folder, by what it is and not by its name."""
    found: set[Identity] = set()
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                about = os.stat(os.path.join(place, name), follow_symlinks=False)
            except OSError:  # gone since it was listed
                continue
            found.add((about.st_dev, about.st_ino))
    return frozenset(found)


def suspicion(
    exercise: Exercise | None, texts: Sequence[str], identity: Identity, instructors: frozenset[Identity]
) -> str:
    """A sentence for the student where a file looks like the instructor's own; "" where it does not."""
    if identity in instructors:
        return SET_ASIDE.format(SAME_FILE)
    parts = hidden_parts(exercise.cells, exercise.withdrawn) if exercise is not None else ()
    if parts:
        for text in texts:
            plain = _words(text)
            if any(part in plain for part in parts):
                return SET_ASIDE.format(HIDDEN_TEXT)
    return ""


@lru_cache(maxsize=64)
def hidden_parts(cells: tuple[SourceCell, ...], withdrawn: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The hidden parts of an exercise's tests, their spaces made one, and those that it had before; those left out that
    are short, or that stand in what was given out too."""
    given = "\n".join(_words(without_lines(cell.source, cell.hidden_lines)) for cell in cells)
    parts = list(withdrawn)
    for cell in cells:
        lines = cell.source.split("\n")
        for first, last in cell.hidden_lines:
            inner = [line for line in lines[first - 1 : last] if " HIDDEN TESTS" not in line]
            parts.append(_words("\n".join(inner)))
    return tuple(dict.fromkeys(part for part in parts if len(part) >= MIN_LETTERS and part not in given))


def _words(text: str) -> str:
    return " ".join(text.split())
