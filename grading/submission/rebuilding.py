"""Rebuilds the notebook that runs from the instructor's source and the student's answers.

Setup and tests are the instructor's, so a deleted, duplicated, edited or retagged test changes nothing. Code cells of
the student's own stay where they were among the instructor's. Every repair is a note that the student gets to read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grading.course import Exercise, SourceCell
from grading.running.plan import PlanCell
from grading.submission.matching import Match, match_answers
from grading.submission.notes import as_python, few
from grading.submission.reading import StudentCell, Submission
from grading.submission.stubs import given
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
    """Set the answers of a submission into the exercise's own cells, all of it as plain Python."""
    if submission.plain:
        return _around_plain(exercise, submission)
    match = match_answers(exercise, submission.cells)
    notes = [*submission.notes, *match.notes, *_notes_on_tests(exercise, submission.cells)]
    extras = _extras(exercise, submission.cells, match)
    given_in = {name: submission.cells[index].source for name, index in match.chosen.items()}
    tests = [given(cell) for cell in exercise.tests]
    texts = {name: _without_tests(text, tests) for name, text in given_in.items()}
    texts |= _repeated(exercise, match, texts)
    cells = list(extras.get(-1, ()))
    for position, cell in enumerate(exercise.cells):
        cells += _plan_cell(cell, texts.get(cell.id))
        cells += extras.get(position, ())
    plan, left_out = as_python(cells)
    manual = {cell.id: given_in.get(cell.id, "") for cell in exercise.manual}
    return Paper(plan, few([*notes, *left_out]), manual)


def _around_plain(exercise: Exercise, submission: Submission) -> Paper:
    """A plain Python file stands in the place of the first answer cell; the others are left out."""
    cells: list[PlanCell] = []
    placed = False
    for cell in exercise.cells:
        if cell.kind != "answer":
            cells += _plan_cell(cell, None)
        elif not placed:
            cells.append(PlanCell("answer", "your file", submission.cells[0].source, binds=exercise.names))
            placed = True
    plan, left_out = as_python(cells)
    return Paper(plan, few([*submission.notes, *left_out]), {cell.id: "" for cell in exercise.manual})


def _without_tests(text: str, tests: Sequence[str]) -> str:
    """An answer without the tests that were merged into its cell: one that fails there would stop what stands below."""
    for test in tests:
        if test and f"\n{test}\n" in f"\n{text}\n":
            text = f"\n{text}\n".replace(f"\n{test}\n", "\n" * (test.count("\n") + 2))[1:-1]
    return text


def _repeated(exercise: Exercise, match: Match, texts: Mapping[str, str]) -> dict[str, str]:
    """What runs for answers that stand in the cell of another: nothing where that has run, else that cell now too."""
    order = [cell.id for cell in exercise.cells]
    return {
        name: "" if order.index(holder) < order.index(name) else texts[holder]
        for name, holder in match.repeated.items()
    }


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
        if not same:
            notes.append(f"The test cell “{test.id}” was missing; it was put back.")
        elif len(same) > 1:
            notes.append(f"The test cell “{test.id}” was there {len(same)} times; it counts once.")
        elif same[0].source.strip() not in (given(test), test.source.strip()) or not same[0].code:
            notes.append(f"The test cell “{test.id}” had been changed; the original was used.")
    return notes


def _extras(exercise: Exercise, cells: Sequence[StudentCell], match: Match) -> dict[int, list[PlanCell]]:
    """Code cells of the student's own, by the position of the instructor's cell they follow (-1: before the first).

    A cell with an answer's label that was not chosen for it is one of them; a copy of a test or of a setup is not."""
    positions = {cell.id: position for position, cell in enumerate(exercise.cells)}
    chosen = {index: positions[name] for name, index in match.chosen.items()}
    answers = {cell.id for cell in exercise.cells if cell.kind in ("answer", "manual")}
    texts = {given(cell): at for at, cell in enumerate(exercise.cells) if cell.kind in ("setup", "text")}
    texts.pop("", None)
    tests = {given(cell) for cell in exercise.tests}
    after, extras = -1, dict[int, list[PlanCell]]()
    for index, own in enumerate(cells):
        text = own.source.strip()
        place = chosen.get(index)
        if place is None:
            place = texts.get(text, positions.get(own.mark) if own.mark not in answers else None)
        if place is not None:
            after = place
        elif own.code and index not in match.claimed and text and text not in tests:
            extras.setdefault(after, []).append(PlanCell("extra", f"your cell {index + 1}", own.source))
    return extras
