"""Many rows in few statements, and nbgrader's tables as the writer names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, bindparam, insert, update

from grading.gradebook.tables import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)

Item = TypeVar("Item")
STUDENTS, ASSIGNMENTS, NOTEBOOKS, CELLS = (kind.__table__ for kind in (Student, Assignment, Notebook, BaseCell))
WHOLE, PARTS, GRADES, COMMENTS = (kind.__table__ for kind in (SubmittedAssignment, SubmittedNotebook, Grade, Comment))
MOST = 500  # values in one question: old builds of SQLite take 999


def batches(items: Iterable[Item], size: int = MOST) -> Iterator[list[Item]]:
    """Items in lists of at most `size`.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    source = iter(items)
    while part := list(islice(source, size)):
        yield part


def found(connection: Connection, columns: Any, column: Any, values: Iterable[str]) -> list[Any]:
    """The rows whose column has one of many values."""
    return [row for part in batches(values) for row in connection.execute(columns.where(column.in_(part)))]


def put(connection: Connection, table: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows."""
    if rows:
        connection.execute(insert(table), rows)


def change(connection: Connection, table: Any, rows: Sequence[Mapping[str, Any]], **columns: str) -> None:
    """Set columns, named with the keys that hold their values, in the rows whose id is under "row"."""
    if rows:
        values: dict[str, Any] = {column: bindparam(key) for column, key in columns.items()}
        connection.execute(update(table).where(table.c.id == bindparam("row")).values(values), rows)
