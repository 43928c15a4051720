"""Finds which of a student's cells answers which question: by grade_id, else by the names it defines, else by
likeness."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from grading.course import Exercise, SourceCell
from grading.submission.reading import StudentCell
from grading.syntax import top_level_names

LIKE = 0.6
MAX_COMPARED = 100  # cells, and characters of each: likeness is slow
MAX_LETTERS = 5_000


def match_answers(exercise: Exercise, cells: Sequence[StudentCell]) -> tuple[dict[str, int], set[int], list[str]]:
    """The index of the student's cell for each answer and each part for a person that has one, the indices of every
    cell that carries the label of one, and notes on what was unusual."""
    chosen: dict[str, int] = {}
    claimed: set[int] = set()
    notes: list[str] = []
    for cell in exercise.cells:
        if cell.kind in ("answer", "manual"):
            labelled = [index for index, own in enumerate(cells) if own.mark == cell.id]
            claimed.update(labelled)
            if labelled:
                chosen[cell.id] = _last_written(cell, labelled, cells, notes)
    for cell in exercise.answers:
        if cell.id in chosen:
            continue
        index = _resembling(cell, exercise, cells, claimed)
        if index is None:
            notes.append(f"The answer cell “{cell.id}” was missing; the empty one was graded in its place.")
        else:
            claimed.add(index)
            chosen[cell.id] = index
            notes.append(f"The answer cell “{cell.id}” had lost its label; cell {index + 1} was taken for it.")
    return chosen, claimed, notes


def is_stub(source: str, cell: SourceCell) -> bool:
    """Whether an answer is empty or still the stub, comments and the text of NotImplementedError aside."""
    return not source.strip() or _bare(source) == _bare(cell.source)


def _bare(source: str) -> list[str]:
    """The lines of a text that say something: no empty ones, no comments, no words of NotImplementedError."""
    lines = [
        re.sub(r"raise NotImplementedError.*", "raise NotImplementedError", line.rstrip())
        for line in source.split("\n")
    ]
    return [line for line in lines if line and not line.lstrip().startswith("#")]


def _last_written(cell: SourceCell, where: list[int], cells: Sequence[StudentCell], notes: list[str]) -> int:
    """Of several cells with one label, the last that is no stub: what a run from top to bottom would leave."""
    written = [index for index in where if not is_stub(cells[index].source, cell)]
    index = (written or where)[-1]
    if len(where) > 1:
        notes.append(
            f"The answer cell “{cell.id}” was there {len(where)} times; the last one with an answer was graded."
        )
    if cell.code and not cells[index].code:
        notes.append(f"The answer cell “{cell.id}” had become a text cell; it was run as code.")
    return index


def _resembling(cell: SourceCell, exercise: Exercise, cells: Sequence[StudentCell], claimed: set[int]) -> int | None:
    """An unlabelled code cell that defines what this answer should, or that looks most like its stub."""
    known = {source.id for source in exercise.cells}
    free = [i for i, own in enumerate(cells) if own.code and i not in claimed and own.mark not in known]
    defining = [i for i in free if set(cell.binds) & set(top_level_names(cells[i].source))]
    if defining:
        return defining[-1]
    stub = cell.source[:MAX_LETTERS]
    likeness = [
        (difflib.SequenceMatcher(None, cells[i].source[:MAX_LETTERS], stub).ratio(), i) for i in free[:MAX_COMPARED]
    ]
    best = max(likeness, default=(0.0, -1))
    return best[1] if best[0] >= LIKE else None
