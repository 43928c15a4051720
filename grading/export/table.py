"""What is exported, as plain data; texts made harmless for spreadsheets; the marks as CSV text and in the terminal.

A spreadsheet takes a cell for a formula when it starts with =, +, - or @ (their full-width forms too, and behind
blanks) or with a control character. Such a text gets an apostrophe in front. The same goes for what stands behind a
semicolon, a tab or a line end inside a text: where the list separator is a semicolon, a comma-separated file is split
there. A mark is a number and stays one, also below 0. Commas, quotes and line ends are quoted by the csv module.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rich.markup import escape
from rich.table import Table

from grading.course import Exercise
from grading.verdict import number
from grading.visible import visible

Marks = Mapping[tuple[str, str], float]  # (student, exercise) -> mark
Cell = str | float | None  # a text, a mark, or nothing
SIGNS = "=+\\-@＝＋－＠"
INSIDE = re.compile(rf"([;\t\n]\s*)(?=[{SIGNS}])")
OPENS = re.compile(rf"\s*[{SIGNS}]|\ *[\t\n]")


@dataclass(frozen=True)
class Person:
    """A student. `name` is "Last, First" or in one piece; `lms`: the id that the learning platform has for them."""

    id: str
    name: str = ""
    email: str = ""
    lms: str = ""


@dataclass(frozen=True)
class Column:
    """What is marked, and out of how many points."""

    key: str
    max_score: float


@dataclass(frozen=True)
class Sheet:
    """Everything that an export needs; `comments` has the text for a student by student and column."""

    columns: tuple[Column, ...]
    people: tuple[Person, ...]
    marks: Marks
    comments: Mapping[tuple[str, str], str] = field(default_factory=dict)


def neutral(text: str) -> str:
    """A text that no spreadsheet takes for a formula: "=1+1" -> "'=1+1"; what acts or hides in it is shown.

    >>> neutral("=1+1"), neutral("a; -b"), neutral("a-b")
    ("'=1+1", "a; '-b", 'a-b')
    """
    risky = OPENS.match(text.replace("\r", "\n"))
    shown = visible(text.replace("\r\n", "\n").replace("\r", " "))  # a reader may take a bare one for the end of a row
    return ("'" if risky else "") + INSIDE.sub(r"\1'", shown)


def csv_text(rows: Iterable[Sequence[Cell]], plain: Collection[int] = ()) -> str:
    """Rows as CSV: texts made harmless, marks as numbers, nothing where there is nothing. `plain`: columns that another
    program reads back, whose texts stay as they are."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        writer.writerow([str(cell) if place in plain else cell_text(cell) for place, cell in enumerate(row)])
    return out.getvalue()


def cell_text(cell: Cell) -> str:
    """One cell as it is written. A lone "-" is what Moodle has for nothing, and no formula."""
    if cell is None or cell == "-":
        return cell or ""
    return neutral(cell) if isinstance(cell, str) else number(cell)


def sheet_rows(sheet: Sheet) -> Iterable[Sequence[Cell]]:
    """One row a student: id, name, a mark for each column (empty when nothing was handed in), the total, the
    maximum."""
    most = float(sum(column.max_score for column in sheet.columns))
    yield ["student", "name", *(column.key for column in sheet.columns), "total", "max"]
    for person in sheet.people:
        own = [sheet.marks.get((person.id, column.key)) for column in sheet.columns]
        yield [person.id, person.name, *own, float(sum(mark for mark in own if mark is not None)), most]


def marks_csv(exercises: Sequence[Exercise], students: Sequence[tuple[str, str]], marks: Marks) -> str:
    """The table of marks of a class; students are (id, name)."""
    columns = tuple(Column(exercise.key, exercise.all_points) for exercise in exercises)
    return csv_text(sheet_rows(Sheet(columns, tuple(Person(*student) for student in students), marks)))


def marks_table(
    exercises: Sequence[Exercise], students: Sequence[tuple[str, str]], marks: Marks, expected: Marks | None = None
) -> Table:
    """The marks for the terminal. With `expected`, a mark that differs from it is shown beside it."""
    table = Table(title="Marks" if expected is None else "Marks (expected marks beside those that differ)")
    table.add_column("student")
    for exercise in exercises:
        table.add_column(f"{escape(visible(exercise.key))}\n/{number(exercise.all_points)}", justify="right")
    table.add_column(f"total\n/{number(sum(exercise.all_points for exercise in exercises))}", justify="right")
    for student, name in students:
        own = [marks.get((student, exercise.key)) for exercise in exercises]
        row = [_shown(mark, student, exercise, expected) for mark, exercise in zip(own, exercises, strict=True)]
        total = sum(mark for mark in own if mark is not None)
        table.add_row(escape(visible(name or student)), *row, number(total))
    return table


def _shown(mark: float | None, student: str, exercise: Exercise, expected: Marks | None) -> str:
    shown = _word(mark, "–")
    if expected is None:
        return shown
    want = expected.get((student, exercise.key))
    return f"{shown} ✓" if mark == want else f"[bold red]{shown} (expected {_word(want, '–')})[/]"


def differences(marks: Marks, expected: Marks) -> list[str]:
    """One line for each mark that is not as expected (a missing one on either side included)."""
    lines = []
    for key in sorted(marks.keys() | expected.keys()):
        got, want = marks.get(key), expected.get(key)
        if got is None or want is None or abs(got - want) > 1e-9:
            lines.append(visible(f"{key[0]}, {key[1]}: {_word(got, 'none')}, expected {_word(want, 'none')}"))
    return lines


def _word(mark: float | None, nothing: str) -> str:
    return nothing if mark is None else number(mark)
