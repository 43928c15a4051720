"""The table of marks, as CSV and in the terminal.

A text that a spreadsheet would run as a formula (it starts with =, +, -, @ or a control character) gets an apostrophe
in front; commas, quotes and line breaks in names are quoted by the csv module.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from grading.course import Exercise
from grading.verdict import number

Marks = Mapping[tuple[str, str], float]  # (student, exercise) -> mark


def neutral(text: str) -> str:
    """A text that no spreadsheet takes for a formula: "=1+1" -> "'=1+1"."""
    shown = text.replace("\r", " ")  # a reader may take a bare one for the end of the row
    return f"'{shown}" if text.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else shown


def marks_csv(exercises: Sequence[Exercise], students: Sequence[tuple[str, str]], marks: Marks) -> str:
    """One row a student: id, name, a mark for each exercise (empty when nothing was handed in), the total, the
    maximum."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", "name", *(neutral(exercise.key) for exercise in exercises), "total", "max"])
    most = sum(exercise.max_score for exercise in exercises)
    for student, name in students:
        own = [marks.get((student, exercise.key)) for exercise in exercises]
        cells = ["" if mark is None else number(mark) for mark in own]
        total = sum(mark for mark in own if mark is not None)
        writer.writerow([neutral(student), neutral(name), *cells, number(total), number(most)])
    return out.getvalue()


def marks_table(
    exercises: Sequence[Exercise], students: Sequence[tuple[str, str]], marks: Marks, expected: Marks | None = None
) -> Table:
    """The marks for the terminal. With `expected`, a mark that differs from it is shown beside it."""
    table = Table(title="Marks" if expected is None else "Marks (expected marks beside those that differ)")
    table.add_column("student")
    for exercise in exercises:
        table.add_column(f"{escape(exercise.key)}\n/{number(exercise.max_score)}", justify="right")
    table.add_column(f"total\n/{number(sum(exercise.max_score for exercise in exercises))}", justify="right")
    for student, name in students:
        row = []
        for exercise in exercises:
            mark, want = marks.get((student, exercise.key)), (expected or {}).get((student, exercise.key))
            shown = "–" if mark is None else number(mark)
            if expected is not None:
                wrong = mark != want
                shown = (
                    f"[bold red]{shown} (expected {'–' if want is None else number(want)})[/]"
                    if wrong
                    else f"{shown} ✓"
                )
            row.append(shown)
        total = sum(mark for (who, _), mark in marks.items() if who == student)
        table.add_row(escape(name or student), *row, number(total))
    return table


def differences(marks: Marks, expected: Marks) -> list[str]:
    """One line for each mark that is not as expected (a missing one on either side included)."""
    lines = []
    for key in sorted(marks.keys() | expected.keys()):
        got, want = marks.get(key), expected.get(key)
        if got is None or want is None or abs(got - want) > 1e-9:
            shown = ["none" if value is None else number(value) for value in (got, want)]
            lines.append(f"{key[0]}, {key[1]}: {shown[0]}, expected {shown[1]}")
    return lines
