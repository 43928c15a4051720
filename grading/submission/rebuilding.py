"""Rebuilds the notebook that runs from the instructor's source and the student's answers.

Setup and tests are the instructor's, so a deleted, duplicated, edited or retagged test changes nothing. Code cells of
the student's own stay where they were among the instructor's. Every repair is a note that the student gets to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grading.course import Exercise, SourceCell
from grading.course.notebook import without_lines
from grading.running.plan import PlanCell
from grading.submission.matching import match_answers
from grading.submission.reading import StudentCell, Submission
from grading.syntax import top_level_names


@dataclass(frozen=True)
class Paper:
    """A submission set into the instructor's cells: what is run, what was repaired, the parts for a person."""

    cells: tuple[PlanCell, ...]
    notes: tuple[str, ...]
    manual: dict[str, str]

    @property
    def own(self) -> tuple[PlanCell, ...]:
        """The cells that hold what the student wrote."""
        return tuple(cell for cell in self.cells if cell.own)


EMPTY = Paper((), (), {})


def rebuild(exercise: Exercise, submission: Submission) -> Paper:
    """Set the answers of a submission into the exercise's own cells."""
    if submission.plain:
        return _around_plain(exercise, submission.cells[0].source)
    chosen, claimed, notes = match_answers(exercise, submission.cells)
    notes += _notes_on_tests(exercise, submission.cells)
    extras = _extras(exercise, submission.cells, claimed, chosen)
    answers = {name: submission.cells[index].source for name, index in chosen.items()}
    cells = list(extras.get(-1, ()))
    for position, cell in enumerate(exercise.cells):
        cells += _plan_cell(cell, answers.get(cell.id))
        cells += extras.get(position, ())
    return Paper(tuple(cells), tuple(notes), {cell.id: answers.get(cell.id, "") for cell in exercise.manual})


def _around_plain(exercise: Exercise, source: str) -> Paper:
    """A plain Python file stands in the place of the first answer cell; the others are left out."""
    cells: list[PlanCell] = []
    placed = False
    for cell in exercise.cells:
        if cell.kind != "answer":
            cells += _plan_cell(cell, None)
        elif not placed:
            cells.append(PlanCell("answer", "your file", source, binds=exercise.names))
            placed = True
    return Paper(tuple(cells), (), {cell.id: "" for cell in exercise.manual})


def _plan_cell(cell: SourceCell, answer: str | None) -> list[PlanCell]:
    """What runs for one of the instructor's cells: nothing for text and for what a person grades."""
    if cell.kind == "answer":
        return [PlanCell("answer", cell.id, cell.source if answer is None else answer, binds=cell.binds)]
    if cell.kind == "test":
        return [PlanCell("test", cell.id, cell.source, cell.points, cell.hidden_lines)]
    if cell.kind == "setup":
        return [PlanCell("setup", cell.id, cell.source, binds=top_level_names(cell.source))]
    return []


def _notes_on_tests(exercise: Exercise, cells: Sequence[StudentCell]) -> list[str]:
    notes = []
    for test in exercise.tests:
        same = [own for own in cells if own.mark == test.id]
        visible = without_lines(test.source, test.hidden_lines)
        if not same:
            notes.append(f"The test cell “{test.id}” was missing; it was put back.")
        elif len(same) > 1:
            notes.append(f"The test cell “{test.id}” was there {len(same)} times; it counts once.")
        elif same[0].source.strip() not in (visible.strip(), test.source.strip()) or not same[0].code:
            notes.append(f"The test cell “{test.id}” had been changed; the original was used.")
    return notes


def _extras(
    exercise: Exercise, cells: Sequence[StudentCell], claimed: set[int], chosen: dict[str, int]
) -> dict[int, list[PlanCell]]:
    """Code cells of the student's own, by the position of the instructor's cell they follow (-1: before the first)."""
    positions = {cell.id: position for position, cell in enumerate(exercise.cells)}
    by_index = {index: positions[name] for name, index in chosen.items()}
    texts = {
        cell.source.strip(): position for position, cell in enumerate(exercise.cells) if cell.kind in ("setup", "text")
    }
    tests = {without_lines(cell.source, cell.hidden_lines).strip() for cell in exercise.tests}
    after, extras = -1, dict[int, list[PlanCell]]()
    for index, own in enumerate(cells):
        place = by_index.get(index, positions.get(own.mark) if index not in claimed else None)
        if place is None:
            place = texts.get(own.source.strip())
        if place is not None:
            after = place
        elif own.code and index not in claimed and own.source.strip() and own.source.strip() not in tests:
            extras.setdefault(after, []).append(PlanCell("extra", f"your cell {index + 1}", own.source))
    return extras
