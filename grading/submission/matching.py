"""Finds which of a student's cells answers which question: by grade_id, else by the names it defines, else by where it
stands among cells that are still known, else by likeness. Cells that lost their label, were copied, merged or retyped
keep the marks that a run from top to bottom would give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rapidfuzz import fuzz

from grading.course import Exercise, SourceCell
from grading.submission.placing import by_place, positions_of_texts
from grading.submission.reading import StudentCell
from grading.submission.stubs import bare, is_stub
from grading.syntax import top_level_names

LIKE = 60  # of 100
MAX_COMPARED = 100  # cells, and characters of each
MAX_LETTERS = 5_000


@dataclass
class Match:
    """What was found: by answer (and part for a person) the index of the student's cell; `claimed`: every cell that is
    one of these or an empty copy of one; `repeated`: by answer that stands in the cell of another answer, which;
    notes on what was unusual."""

    chosen: dict[str, int] = field(default_factory=dict)
    claimed: set[int] = field(default_factory=set)
    repeated: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def match_answers(exercise: Exercise, cells: Sequence[StudentCell]) -> Match:
    """Find the answers of an exercise among a student's cells."""
    return Matcher(exercise, cells).match()


def fit(exercise: Exercise, cells: Sequence[StudentCell]) -> tuple[int, int]:
    """How many answers of an exercise some cells have by label or by name, and how many of these are written."""
    matcher = Matcher(exercise, cells)
    found = [(cell, index) for cell in exercise.cells if (index := matcher.plainly(cell)) is not None]
    return len(found), sum(not is_stub(cells[index].source, cell) for cell, index in found)


class Matcher:
    """One exercise against the cells of one student."""

    def __init__(self, exercise: Exercise, cells: Sequence[StudentCell]) -> None:
        self.exercise = exercise
        self.cells = cells
        self.texts = positions_of_texts(exercise)
        known = {cell.id for cell in exercise.cells}
        self.marks = Counter(own.mark for own in cells if own.mark in known)
        self.found = Match()

    @cached_property
    def names(self) -> list[frozenset[str]]:
        """What each of the student's cells defines."""
        return [frozenset(top_level_names(cell.source)) for cell in self.cells]

    def match(self) -> Match:
        """Find what there is, the surest first."""
        found = self.found
        for cell in self.exercise.cells:
            if cell.kind in ("answer", "manual"):
                self._by_label(cell)
        missing = [cell for cell in self.exercise.answers if cell.id not in found.chosen]
        for way in (self._by_name, self._by_place, self._by_likeness):
            for cell in [one for one in missing if one.id not in found.chosen]:
                index = way(cell)
                if index is not None:
                    self._take(cell, index)
        for cell in missing:
            if cell.id not in found.chosen:
                self._in_another(cell)
        stubs = {bare(cell.source) for cell in self.exercise.answers}
        found.claimed.update(index for index in self.free() if bare(self.cells[index].source) in stubs)
        return found

    def plainly(self, cell: SourceCell) -> int | None:
        """The cell that has the label of an answer, or defines all its names."""
        if cell.kind != "answer":
            return None
        labelled = [index for index, own in enumerate(self.cells) if own.mark == cell.id]
        return labelled[-1] if labelled else self._by_name(cell)

    def free(self, code: bool = True) -> list[int]:
        """Cells that have no place yet: code, or else text. A label that several cells carry says nothing of the ones
        that were not chosen for it."""
        return [
            index
            for index, own in enumerate(self.cells)
            if own.code == code
            and index not in self.found.claimed
            and self.marks[own.mark] != 1
            and own.source.strip()
            and own.source.strip() not in self.texts
        ]

    def _by_label(self, cell: SourceCell) -> None:
        """Of the cells with a label the last that is an answer: what a run from top to bottom would leave. The others
        stay cells of the student's own, empty ones aside."""
        labelled = [index for index, own in enumerate(self.cells) if own.mark == cell.id]
        if not labelled:
            return
        written = [index for index in labelled if not is_stub(self.cells[index].source, cell)]
        several = len(labelled) > 1
        defining = [index for index in written if several and self.names[index] & set(cell.binds)]
        index = (defining or written or labelled)[-1]
        self.found.chosen[cell.id] = index
        self.found.claimed.update({index}, set(labelled) - set(written if cell.kind == "answer" else ()))
        if several:
            text = (
                f"The answer cell “{cell.id}” was there {len(labelled)} times; the last one with an answer was graded."
            )
            self.found.notes.append(text)
        if cell.code and not self.cells[index].code:
            kind = "raw" if self.cells[index].raw else "text"
            self.found.notes.append(f"The answer cell “{cell.id}” had become a {kind} cell; it was run as code.")

    def _by_name(self, cell: SourceCell) -> int | None:
        """The last free cell that defines most of what this answer should, empty ones aside; text only where no code
        does."""
        wanted = set(cell.binds)
        for code in (True, False):
            sizes = [
                (shared, not is_stub(self.cells[index].source, cell), index)
                for index in self.free(code)
                if (shared := len(self.names[index] & wanted))
            ]
            best = max(sizes, default=(0, False, -1))
            if best[0]:
                return best[2]
        return None

    def _by_place(self, cell: SourceCell) -> int | None:
        return by_place(self.exercise, cell, self.cells, self.found.chosen, self.free())

    def _by_likeness(self, cell: SourceCell) -> int | None:
        """The unlabelled code cell that looks most like the answer's stub."""
        stub = cell.source[:MAX_LETTERS]
        alike = [(fuzz.ratio(self.cells[i].source[:MAX_LETTERS], stub), -i) for i in self.free()[:MAX_COMPARED]]
        best = max(alike, default=(0.0, 0))
        return -best[1] if best[0] >= LIKE else None

    def _take(self, cell: SourceCell, index: int) -> None:
        self.found.claimed.add(index)
        self.found.chosen[cell.id] = index
        kind = "" if self.cells[index].code else "text "
        self.found.notes.append(
            f"The answer cell “{cell.id}” had lost its label; {kind}cell {index + 1} was taken for it."
        )

    def _in_another(self, cell: SourceCell) -> None:
        """An answer with no cell of its own: in the cell of another answer (cells that were merged), or nowhere."""
        chosen = self.found.chosen
        holders = [one.id for one in self.exercise.answers if one.id in chosen]
        holder = next((one for one in holders if set(cell.binds) <= self.names[chosen[one]] and cell.binds), None)
        if holder is None:
            text = f"The answer cell “{cell.id}” was missing; the empty one was graded in its place."
        else:
            self.found.repeated[cell.id] = holder
            text = f"The answer cell “{cell.id}” was missing; its answer was found in the cell “{holder}”."
        self.found.notes.append(text)
