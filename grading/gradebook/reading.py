"""What the gradebook says: marks, what waits for one, and who has an entry. A grade counts as nbgrader counts it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, and_, func, select

from grading.gradebook.tables import (
    Assignment,
    BaseCell,
    Grade,
    GradeCell,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)


def totals(connection: Connection, assignment: str) -> Iterator[tuple[str, str, float, float, float]]:
    """Student, notebook, score, most points and what being late costs of every submitted notebook of an assignment, in
    one question: a person's mark where there is one, else the machine's, and extra credit."""
    whole, part, grade = SubmittedAssignment.__table__, SubmittedNotebook.__table__, Grade.__table__
    notebook, cell = Notebook.__table__, BaseCell.__table__
    tested, task = GradeCell.__table__, TaskCell.__table__
    rows: Any = (
        Assignment.__table__.join(whole, whole.c.assignment_id == Assignment.__table__.c.id)
        .join(part, part.c.assignment_id == whole.c.id)
        .join(notebook, notebook.c.id == part.c.notebook_id)
        .join(cell, cell.c.notebook_id == notebook.c.id)
        .join(grade, and_(grade.c.cell_id == cell.c.id, grade.c.notebook_id == part.c.id))
        .outerjoin(tested, tested.c.id == cell.c.id)
        .outerjoin(task, task.c.id == cell.c.id)
    )
    most = func.coalesce(tested.c.max_score, task.c.max_score, 0.0)
    question = (
        select(
            whole.c.student_id, notebook.c.name, func.sum(Grade.score), func.sum(most), part.c.late_submission_penalty
        )
        .select_from(rows)
        .where(Assignment.__table__.c.name == assignment)
        .group_by(part.c.id)
        .order_by(whole.c.student_id, notebook.c.name)
    )
    for student, name, score, full, lost in connection.execute(question):
        yield student, name, float(score), float(full), float(lost or 0)


def asked(connection: Connection, assignment: str) -> Iterator[tuple[str, str]]:
    """Student and notebook of everything in an assignment that waits for a person's mark."""
    whole, part, grade = SubmittedAssignment.__table__, SubmittedNotebook.__table__, Grade.__table__
    notebook, named = Notebook.__table__, Assignment.__table__
    rows = (
        named.join(whole, whole.c.assignment_id == named.c.id)
        .join(part, part.c.assignment_id == whole.c.id)
        .join(notebook, notebook.c.id == part.c.notebook_id)
        .join(grade, grade.c.notebook_id == part.c.id)
    )
    question = select(whole.c.student_id, notebook.c.name).distinct().select_from(rows)
    for row in connection.execute(question.where(named.c.name == assignment, grade.c.needs_manual_grade)):
        yield row.student_id, row.name


def entered(connection: Connection) -> Iterator[tuple[str, str]]:
    """Student and assignment of every entry."""
    whole, assignment = SubmittedAssignment.__table__, Assignment.__table__
    rows = whole.join(assignment, assignment.c.id == whole.c.assignment_id)
    for row in connection.execute(select(whole.c.student_id, assignment.c.name).select_from(rows)):
        yield row.student_id, row.name
