"""Which cell an answer is by where it stands, when neither a label nor a name tells: a cell that is no Python, say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grading.course import Exercise, SourceCell
from grading.submission.reading import StudentCell
from grading.submission.stubs import given


def by_place(
    exercise: Exercise, cell: SourceCell, cells: Sequence[StudentCell], chosen: Mapping[str, int], free: Sequence[int]
) -> int | None:
    """Between the nearest known cells before and behind an answer's place: the free cell with the number that the
    answer has among those missing there.

    As many must be there as are missing, and the cell must speak of what the answer defines. `chosen`: the cells of the
    answers that are known; `free`: those that may be anything.
    """
    source = exercise.cells
    place = source.index(cell)
    where = _known_places(exercise, cells, chosen)
    before = max((position for position in where if position < place), default=-1)
    behind = min((position for position in where if position > place), default=len(source))
    low, high = where.get(before, -1), where.get(behind, len(cells))
    gap = [one.id for one in source[before + 1 : behind] if one.kind == "answer" and one.id not in chosen]
    inside = [index for index in free if low < index < high]
    if len(inside) != len(gap):
        return None
    index = inside[gap.index(cell.id)]
    words = set(re.findall(r"\w+", cells[index].source))
    return index if not cell.binds or words & set(cell.binds) else None


def positions_of_texts(exercise: Exercise) -> dict[str, int]:
    """By the text of each cell that nobody fills in, as it was given out, its position."""
    texts = {given(cell): at for at, cell in enumerate(exercise.cells) if cell.kind not in ("answer", "manual")}
    texts.pop("", None)
    return texts


def _known_places(exercise: Exercise, cells: Sequence[StudentCell], chosen: Mapping[str, int]) -> dict[int, int]:
    """By position in the exercise, the index of the student's cell that is known to be it; each later than the one
    before."""
    labels = {cell.id: position for position, cell in enumerate(exercise.cells)}
    texts = positions_of_texts(exercise)
    answered = {index: labels[name] for name, index in chosen.items()}
    places: dict[int, int] = {}
    last = -1
    for index, own in enumerate(cells):
        position = answered.get(index, labels.get(own.mark, texts.get(own.source.strip(), -1)))
        if position > last:
            places[position] = index
            last = position
    return places
