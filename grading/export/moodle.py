"""Marks and comments for Moodle, in the two ways in which it takes them.

An assignment's **offline grading worksheet** is downloaded from Moodle and comes back filled in. Only Moodle knows the
identifiers in its first column ("Participant 2041", another number in every assignment): a worksheet made up here could
mark another student than it names. So `fill_worksheet` takes the downloaded file, finds its students by ID number, by
e-mail address, or by a name that only one has, and sets `Grade` and `Feedback comments`; the rest is left as it is.

Without one, `to_moodle` gives the columns of a worksheet for Moodle's **grade import** (Grades > Import > CSV), which
finds students by ID number or e-mail address. It has no `Last modified (grade)`, without which Moodle refuses a file as
a worksheet, and no identifier.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin
from traitlets import Unicode

from grading.export.gradebook import sheet_of
from grading.export.table import Cell, Column, Person, Sheet, csv_text
from grading.visible import visible

ID, NAME, NUMBER, EMAIL, GRADE, COMMENTS = (
    "Identifier",
    "Full name",
    "ID number",
    "Email address",
    "Grade",
    "Feedback comments",
)
HEADER = (ID, NAME, NUMBER, EMAIL, GRADE, "Maximum Grade", COMMENTS)
AS_IT_IS = (ID, NUMBER, EMAIL, "Last modified (grade)")  # what Moodle reads, or finds students by


def to_moodle(sheet: Sheet, column: Column) -> str:
    """One assignment for Moodle's grade import."""
    return csv_text(_rows(sheet, column))


def _rows(sheet: Sheet, column: Column) -> Iterable[Sequence[Cell]]:
    yield HEADER
    for person in sheet.people:
        mark = sheet.marks.get((person.id, column.key))
        said = _html(sheet.comments.get((person.id, column.key), ""))
        yield None, _full_name(person), person.lms or person.id, person.email, mark, column.max_score, said


def fill_worksheet(worksheet: str, sheet: Sheet, column: Column) -> tuple[str, list[str]]:
    """A worksheet that Moodle gave, with the marks and comments of one assignment; and the students of ours with a mark
    who are not on it.

    Raises `ValueError` when it is no such worksheet.
    """
    header, rows = _read(worksheet)
    missing = [name for name in (ID, GRADE, "Last modified (grade)") if name not in header]
    if missing:
        raise ValueError(f"worksheet: it has no column {', '.join(map(repr, missing))}: is it from Moodle, in English?")
    find = _Find(sheet.people, [row.get(NAME, "") for row in rows])
    left = {student for student, key in sheet.marks if key == column.key}
    filled: list[Sequence[Cell]] = [list(header)]
    for row in rows:
        person = find(row)
        mark = None if person is None else sheet.marks.get((person.id, column.key))
        cells: dict[str, Cell] = dict(row)
        if person is not None and mark is not None:
            left.discard(person.id)
            cells |= {GRADE: mark, COMMENTS: _html(sheet.comments.get((person.id, column.key), ""))}
        filled.append([cells[name] for name in header])
    return csv_text(filled, plain={header.index(name) for name in AS_IT_IS if name in header}), sorted(left)


def _read(worksheet: str) -> tuple[list[str], list[dict[str, str]]]:
    """The header and the rows, by the header's names."""
    try:
        lines = [row for row in csv.reader(io.StringIO(worksheet.removeprefix("\ufeff"), newline="")) if row]
    except csv.Error as problem:
        raise ValueError(f"worksheet: it cannot be read as CSV ({problem})") from None
    header = lines[0] if lines else []
    if len(set(header)) < len(header):
        raise ValueError("worksheet: two columns have the same name")
    for row in lines:
        if len(row) != len(header):
            raise ValueError(f"worksheet: a row has {len(row)} cells, the header {len(header)}: {row[:2]}")
    return header, [dict(zip(header, row, strict=True)) for row in lines[1:]]


class _Find:
    """Finds which of our students a row of Moodle's is about: by ID number, by e-mail, by a name that only one has."""

    def __init__(self, people: Sequence[Person], names: Sequence[str]) -> None:
        self.by_number = {key: person for person in people for key in (person.id, person.lms) if key}
        self.by_email = _once({person.email.casefold(): person for person in people}, [p.email for p in people])
        self.by_name = _once({_folded(_full_name(p)): p for p in people}, [_folded(_full_name(p)) for p in people])
        self.alone = {name for name, many in Counter(map(_folded, names)).items() if many == 1}

    def __call__(self, row: Mapping[str, str]) -> Person | None:
        email, name = row.get(EMAIL, "").strip().casefold(), _folded(row.get(NAME, ""))
        found = self.by_number.get(row.get(NUMBER, "").strip() or "\0") or self.by_email.get(email)
        found = found or self.by_number.get(email)  # nbgrader's id may be the address
        return found or (self.by_name.get(name) if name in self.alone else None)


def _once(by_key: Mapping[str, Person], keys: Sequence[str]) -> dict[str, Person]:
    """Without the keys that several have, and without an empty one."""
    many = Counter(key.casefold() for key in keys)
    return {key: person for key, person in by_key.items() if key and many[key] == 1}


def _full_name(person: Person) -> str:
    """ "Lee, Ann" -> "Ann Lee"."""
    last, comma, first = person.name.partition(", ")
    return f"{first} {last}" if comma else person.name or person.id


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _html(said: str) -> str:
    """A comment as Moodle's editor holds it."""
    return escape(visible(said), quote=False).replace("\n", "<br>")


class MoodlePlugin(ExportPlugin):  # type: ignore[misc]  # nbgrader has no types
    """`nbgrader export --exporter=grading.export.moodle.MoodlePlugin --assignment='["ps1"]'`."""

    worksheet = Unicode("", help="the grading worksheet that Moodle gave for the assignment").tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        """Write one file an assignment: into the folder `--to`, or, for a single one, to that file."""
        from grading.export.writing import write_sheet

        sheet = sheet_of(gradebook, self.assignment, self.student)
        worksheet = Path(self.worksheet) if self.worksheet else None
        written = write_sheet("moodle", sheet, Path(self.to or "moodle"), worksheet=worksheet)
        for path in written.files:
            self.log.info("Wrote %s", path)
        for note in written.notes:
            self.log.warning(note)
