"""Many submissions in one transaction: keys that are there are read once, rows are written in bulk, and what is as it
should be is left alone.

Rows mirror the assignment, as nbgrader's `add_submission` makes them: a submitted notebook for each notebook, a grade
for each graded cell, a comment for each answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from grading.course import Exercise
from grading.gradebook.entries import enter_students
from grading.gradebook.rows import ASSIGNMENTS, CELLS, COMMENTS, GRADES, NOTEBOOKS, PARTS, WHOLE, change, found, put
from grading.gradebook.scores import UNKNOWN, Score, Sheet, absent
from grading.gradebook.tables import new_uuid

Times = Mapping[tuple[str, str], datetime | None]  # (student, assignment) -> when it was handed in


@dataclass(frozen=True)
class Page:
    """A notebook of an assignment as the gradebook has it: its cells' names by their ids, and what is entered for it
    where a student has handed in the rest of the assignment alone (None: the source has no such notebook any more)."""

    id: str
    name: str
    graded: Mapping[str, str]
    answers: Mapping[str, str]
    exercise: Exercise | None
    blank: Sheet | None


def write_chunk(
    connection: Connection,
    chunk: Mapping[tuple[str, str], Sheet],
    exercises: Mapping[str, Exercise],
    names: Mapping[str, str],
    times: Times,
) -> None:
    """Write sheets, by student and exercise, and when they were handed in, by student and assignment."""
    enter_students(connection, {student: names.get(student, "") for student, _ in chunk})
    assignments: dict[str, dict[tuple[str, str], Sheet]] = {}
    for (student, key), sheet in chunk.items():
        assignments.setdefault(exercises[key].assignment, {})[student, exercises[key].name] = sheet
    for name, work in assignments.items():
        known = {exercise.name: exercise for exercise in exercises.values() if exercise.assignment == name}
        assignment, pages = _pages(connection, name, known)
        submissions = _submissions(connection, assignment, {student for student, _ in work})
        when = {submissions[who]: time for (who, what), time in times.items() if what == name and who in submissions}
        _write_times(connection, when)
        for page in pages:
            notebooks, new = _parts(connection, page, submissions)
            sheets = {notebook: work.get((student, page.name)) for student, notebook in notebooks.items()}
            _write_scores(connection, page, sheets, new)
            _write_comments(connection, page, sheets, new)


def _pages(connection: Connection, name: str, known: Mapping[str, Exercise]) -> tuple[str, list[Page]]:
    """An assignment's id and notebooks."""
    assignment = connection.execute(select(ASSIGNMENTS.c.id).where(ASSIGNMENTS.c.name == name)).scalar_one()
    pages = []
    for row in connection.execute(select(NOTEBOOKS).where(NOTEBOOKS.c.assignment_id == assignment)).all():
        cells = connection.execute(select(CELLS).where(CELLS.c.notebook_id == row.id)).all()
        exercise = known.get(row.name)
        pages.append(
            Page(
                id=row.id,
                name=row.name,
                graded={cell.id: cell.name for cell in cells if cell.type in ("GradeCell", "TaskCell")},
                answers={cell.id: cell.name for cell in cells if cell.type in ("SolutionCell", "TaskCell")},
                exercise=exercise,
                blank=absent(exercise) if exercise else None,
            )
        )
    return str(assignment), pages


def _submissions(connection: Connection, assignment: str, students: Iterable[str]) -> dict[str, str]:
    """The submission of each student, made where there is none."""
    columns = select(WHOLE.c.student_id, WHOLE.c.id).where(WHOLE.c.assignment_id == assignment)
    there = {row.student_id: row.id for row in found(connection, columns, WHOLE.c.student_id, students)}
    new = {student: new_uuid() for student in students if student not in there}
    made = [{"id": id_, "assignment_id": assignment, "student_id": student} for student, id_ in new.items()]
    put(connection, WHOLE, made)
    return there | new


def _write_times(connection: Connection, when: Mapping[str, datetime | None]) -> None:
    """When each submission was handed in; the time of an earlier one goes."""
    there = found(connection, select(WHOLE.c.id, WHOLE.c.timestamp), WHOLE.c.id, when)
    changed = [{"row": row.id, "time": when[row.id]} for row in there if row.timestamp != when[row.id]]
    change(connection, WHOLE, changed, timestamp="time")


def _parts(connection: Connection, page: Page, submissions: Mapping[str, str]) -> tuple[dict[str, str], set[str]]:
    """The submitted notebook of each student, made where there is none, and those that were made."""
    columns = select(PARTS.c.assignment_id, PARTS.c.id).where(PARTS.c.notebook_id == page.id)
    rows = found(connection, columns, PARTS.c.assignment_id, submissions.values())
    there = {row.assignment_id: row.id for row in rows}
    new = {whole: new_uuid() for whole in submissions.values() if whole not in there}
    made = [{"id": id_, "assignment_id": whole, "notebook_id": page.id, "flagged": False} for whole, id_ in new.items()]
    put(connection, PARTS, made)
    ids = there | new
    return {student: ids[whole] for student, whole in submissions.items()}, set(new.values())


def _write_scores(connection: Connection, page: Page, sheets: Mapping[str, Sheet | None], new: set[str]) -> None:
    """A grade for every graded cell. What a person gave stays, and is flagged where it was for another file."""
    columns = select(GRADES).where(GRADES.c.cell_id.in_(list(page.graded)))  # first in the index, so nothing is scanned
    rows = found(connection, columns, GRADES.c.notebook_id, sheets.keys() - new)
    there = {(row.notebook_id, row.cell_id): row for row in rows}
    made, changed = [], []
    for notebook, sheet in sheets.items():
        for cell, name in page.graded.items():
            row = there.get((notebook, cell))
            score = _score(page, sheet, name, row)
            if row is None:
                ids = {"id": new_uuid(), "cell_id": cell, "notebook_id": notebook}
                made.append({**ids, "auto_score": score.points, "needs_manual_grade": score.open})
            elif score != Score(row.auto_score, row.needs_manual_grade):
                changed.append({"row": row.id, "points": score.points, "open": score.open})
    put(connection, GRADES, made)
    change(connection, GRADES, changed, auto_score="points", needs_manual_grade="open")


def _score(page: Page, sheet: Sheet | None, name: str, row: Any) -> Score:
    """What a grade should say. A notebook that was not handed in keeps what it has, but no test is without a score."""
    if sheet is None and row is not None:
        unjudged = row.auto_score is None and page.exercise and name in {cell.id for cell in page.exercise.tests}
        if not unjudged:
            return Score(row.auto_score, row.needs_manual_grade)
    source = sheet or page.blank
    score = source.scores.get(name, UNKNOWN) if source else UNKNOWN
    if row is None or row.manual_score is None:
        return score
    return Score(score.points, row.needs_manual_grade if sheet and sheet.again else True)


def _write_comments(connection: Connection, page: Page, sheets: Mapping[str, Sheet | None], new: set[str]) -> None:
    """A comment for every answer; what a person wrote stays."""
    columns = select(COMMENTS).where(COMMENTS.c.cell_id.in_(list(page.answers)))
    rows = found(connection, columns, COMMENTS.c.notebook_id, sheets.keys() - new)
    there = {(row.notebook_id, row.cell_id): row for row in rows}
    made, changed = [], []
    for notebook, sheet in sheets.items():
        for cell, name in page.answers.items():
            row = there.get((notebook, cell))
            source = sheet or (page.blank if notebook in new else None)
            said = (source.comments.get(name) if source else None) or None
            if row is None:
                made.append({"id": new_uuid(), "cell_id": cell, "notebook_id": notebook, "auto_comment": said})
            elif sheet is not None and said != row.auto_comment:
                changed.append({"row": row.id, "said": said})
    put(connection, COMMENTS, made)
    change(connection, COMMENTS, changed, auto_comment="said")
