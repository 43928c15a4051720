"""An exercise's cells as rows of the gradebook. What the source no longer has goes, with what was given for it."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.orm import Session

from grading.course import Exercise, SourceCell
from grading.gradebook.opening import COURSE
from grading.gradebook.tables import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    GradeCell,
    Notebook,
    SolutionCell,
    TaskCell,
    new_uuid,
)
from grading.gradebook.tables import SourceCell as SourceRow


def describe(connection: Connection, exercise: Exercise) -> None:
    """Enter an assignment, its notebook and its cells."""
    with Session(connection) as db:
        notebook = _notebook(db, exercise)
        old = db.query(BaseCell).filter(BaseCell.notebook_id == notebook.id).all()
        tasks = {cell.name: cell for cell in old if isinstance(cell, TaskCell)}  # entered by nbgrader's own commands
        graded = {cell.id: cell for cell in exercise.cells if cell.kind in ("test", "manual")}
        answers = [c.id for c in exercise.cells if c.kind == "answer" or (c.kind == "manual" and c.solution)]
        kept: dict[type, set[str]] = {
            TaskCell: tasks.keys() & graded.keys(),
            GradeCell: graded.keys() - tasks.keys(),
            SolutionCell: set(answers) - tasks.keys(),
        }
        for cell in old:
            if cell.name not in kept.get(type(cell), set()):
                db.query(Grade).filter(Grade.cell_id == cell.id).delete()
                db.query(Comment).filter(Comment.cell_id == cell.id).delete()
                db.delete(cell)
        there = {(type(cell), cell.name): cell for cell in old}
        for name, cell in graded.items():
            kind = TaskCell if name in tasks else GradeCell
            _enter(db, kind, there.get((kind, name)), notebook, name, max_score=cell.points, cell_type=_type(cell))
        for name in answers:
            if name not in tasks:
                _enter(db, SolutionCell, there.get((SolutionCell, name)), notebook, name)
        _sources(db, notebook, exercise)
        db.flush()


def _notebook(db: Session, exercise: Exercise) -> Any:
    assignment = db.query(Assignment).filter(Assignment.name == exercise.assignment).one_or_none()
    if assignment is None:
        assignment = Assignment(exercise.assignment, course_id=COURSE)
        db.add(assignment)
        db.flush()
    where = Notebook.name == exercise.name, Notebook.assignment_id == assignment.id
    notebook = db.query(Notebook).filter(*where).one_or_none()
    return _enter(
        db, Notebook, notebook, None, exercise.name, assignment_id=assignment.id, kernelspec=json.dumps(exercise.kernel)
    )


def _sources(db: Session, notebook: Any, exercise: Exercise) -> None:
    """The texts of the cells, those without a label aside."""
    there = {row.name: row for row in db.query(SourceRow).filter(SourceRow.notebook_id == notebook.id)}
    for name in there.keys() - {cell.id for cell in exercise.cells}:
        db.delete(there[name])
    for cell in exercise.cells:
        if not cell.id.startswith("cell-"):
            row = there.get(cell.id)
            _enter(db, SourceRow, row, notebook, cell.id, cell_type=_type(cell), locked=cell.locked, source=cell.source)


def _enter(db: Session, kind: Any, row: Any, notebook: Any, name: str, **values: Any) -> Any:
    """A row with these values, the old one or a new one."""
    if row is None:
        row = kind(id=new_uuid(), name=name, **({"notebook_id": notebook.id} if notebook is not None else {}))
        db.add(row)
    for column, value in values.items():
        setattr(row, column, value)
    return row


def _type(cell: SourceCell) -> str:
    return "code" if cell.code else "markdown"
