"""The sheet of nbgrader's gradebook: marks with what a person has given and late penalties taken off, and comments.

nbgrader's own export asks the database for each student and assignment in turn; this asks once a column, so ten
thousand students take seconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from nbgrader.api import Assignment, Comment, Gradebook, Notebook, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import func

from grading.export.table import Column, Person, Sheet


def sheet_of(gradebook: Gradebook, assignments: Iterable[str] = (), students: Collection[str] = ()) -> Sheet:
    """The sheet of some assignments and students, by default of all, in the order of their names.

    Raises `ValueError` that names an assignment which the gradebook does not have.
    """
    there = {assignment.name: assignment for assignment in gradebook.assignments}
    wanted = sorted(there) if not (named := [str(name) for name in assignments]) else named
    for name in wanted:
        if name not in there:
            raise ValueError(f"assignment: no {name!r} in the gradebook (it has: {', '.join(sorted(there)) or 'none'})")
    chosen = {str(student) for student in students}
    people = tuple(_person(one) for one in gradebook.students if not chosen or one.id in chosen)
    marks, comments = {}, {}
    for name in wanted:
        late = _penalties(gradebook, name)
        for row in gradebook.submission_dicts(name):
            marks[row["student"], name] = max(0.0, float(row["score"]) - late.get(row["student"], 0.0))
        comments.update(_comments(gradebook, name))
    columns = tuple(Column(name, float(there[name].max_score)) for name in wanted)
    return Sheet(columns, people, marks, comments)


def _person(student: Any) -> Person:
    parts = [part for part in (student.last_name, student.first_name) if part]
    return Person(student.id, ", ".join(parts), student.email or "", student.lms_user_id or "")


def _comments(gradebook: Gradebook, assignment: str) -> dict[tuple[str, str], str]:
    """What is said to each student about an assignment: a person's comment at an answer, else the grader's."""
    query = (
        _of(gradebook, assignment, SubmittedAssignment.student_id, Comment.manual_comment, Comment.auto_comment)
        .join(Comment, Comment.notebook_id == SubmittedNotebook.id)
        .order_by(SubmittedAssignment.student_id, Notebook.name, Comment.cell_id)
    )
    said: dict[tuple[str, str], list[str]] = {}
    for student, manual, auto in query:
        if manual or auto:
            said.setdefault((student, assignment), []).append(manual or auto)
    return {key: "\n".join(lines) for key, lines in said.items()}


def _penalties(gradebook: Gradebook, assignment: str) -> dict[str, float]:
    """What being late costs each student."""
    lost = func.sum(SubmittedNotebook.late_submission_penalty)
    query = _of(gradebook, assignment, SubmittedAssignment.student_id, lost).group_by(SubmittedAssignment.student_id)
    return {student: float(points or 0) for student, points in query}


def _of(gradebook: Gradebook, assignment: str, *columns: Any) -> Any:
    """A query over the notebooks handed in for an assignment."""
    return (
        gradebook.db.query(*columns)
        .select_from(SubmittedNotebook)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .filter(Assignment.name == assignment)
    )
