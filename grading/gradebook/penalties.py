"""What being late costs, entered: a penalty for each notebook that was handed in late, and none for any other."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, select

from grading.gradebook.reading import totals
from grading.gradebook.rows import ASSIGNMENTS, NOTEBOOKS, PARTS, WHOLE, change

Penalty = Callable[[str, float, float], float | None]  # student, score, seconds late


def enter_penalties(connection: Connection, assignment: str, penalty: Penalty) -> None:
    """Set the penalties of an assignment anew, as nbgrader's `AssignLatePenalties` does for one notebook."""
    rows = (
        PARTS.join(WHOLE, WHOLE.c.id == PARTS.c.assignment_id)
        .join(ASSIGNMENTS, ASSIGNMENTS.c.id == WHOLE.c.assignment_id)
        .join(NOTEBOOKS, NOTEBOOKS.c.id == PARTS.c.notebook_id)
    )
    about = WHOLE.c.student_id, WHOLE.c.timestamp, WHOLE.c.extension, ASSIGNMENTS.c.duedate
    question = select(PARTS.c.id, NOTEBOOKS.c.name, PARTS.c.late_submission_penalty.label("lost"), *about)
    found = connection.execute(question.select_from(rows).where(ASSIGNMENTS.c.name == assignment)).all()
    scores: dict[tuple[str, str], float] | None = None
    changed = []
    for row in found:
        lost = None
        if row.timestamp is not None and row.duedate is not None:
            due = row.duedate if row.extension is None else row.duedate + row.extension
            seconds = (row.timestamp - due).total_seconds()
            if seconds > 0:
                if scores is None:
                    scores = {(student, name): score for student, name, score, _, _ in totals(connection, assignment)}
                lost = penalty(row.student_id, scores.get((row.student_id, row.name), 0.0), seconds)
        if lost != row.lost:
            changed.append({"row": row.id, "lost": lost})
    change(connection, PARTS, changed, late_submission_penalty="lost")
