"""Who is in the gradebook: students entered, entries taken out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, delete, select

from grading.gradebook.rows import ASSIGNMENTS, COMMENTS, GRADES, PARTS, STUDENTS, WHOLE, batches, change, found, put


def enter_students(connection: Connection, names: Mapping[str, str]) -> None:
    """Enter students by id; a name is "Last, First" or in one piece, and "" changes nothing."""
    wanted = {}
    for student, name in names.items():
        last, _, first = name.partition(", ")
        wanted[student] = (last, first) if name else (None, None)
    columns = select(STUDENTS.c.id, STUDENTS.c.last_name, STUDENTS.c.first_name)
    there = {row.id: (row.last_name, row.first_name) for row in found(connection, columns, STUDENTS.c.id, wanted)}
    rows = [
        {"id": student, "last_name": name[0], "first_name": name[1]}
        for student, name in wanted.items()
        if student not in there
    ]
    changed = [
        {"row": student, "last": name[0], "first": name[1]}
        for student, name in wanted.items()
        if student in there and name != (None, None) and name != there[student]
    ]
    put(connection, STUDENTS, rows)
    change(connection, STUDENTS, changed, last_name="last", first_name="first")


def remove_entries(connection: Connection, assignment: str, students: Iterable[str]) -> None:
    """Take out what these students have in an assignment; who has nothing is passed over."""
    name = select(ASSIGNMENTS.c.id).where(ASSIGNMENTS.c.name == assignment).scalar_subquery()
    wholes = select(WHOLE.c.id).where(WHOLE.c.assignment_id == name)
    for some in batches(found(connection, wholes, WHOLE.c.student_id, students)):
        ids = [row.id for row in some]
        for part in batches(found(connection, select(PARTS.c.id), PARTS.c.assignment_id, ids)):
            notebooks = [row.id for row in part]
            for table in (GRADES, COMMENTS):
                connection.execute(delete(table).where(table.c.notebook_id.in_(notebooks)))
            connection.execute(delete(PARTS).where(PARTS.c.id.in_(notebooks)))
        connection.execute(delete(WHOLE).where(WHOLE.c.id.in_(ids)))
