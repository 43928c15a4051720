"""What Canvas's gradebook imports: five columns that say who, then one an assignment; the second row holds the points.

As Canvas's own export has it (and its importer, lib/gradebook_importer.rb, reads it): Student, ID, SIS User ID, SIS
Login ID, Section; an assignment is "name (id)", or its name alone, and then Canvas looks for one of that name. A
student is found by ID, which is Canvas's own number, else by SIS id, login or name. So the ID is filled in where the
gradebook's `lms_user_id` is a number, the SIS User ID where it is anything else, and the login is nbgrader's id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin
from traitlets import Dict

from grading.export.gradebook import sheet_of
from grading.export.table import Cell, Person, Sheet, csv_text

WHO = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def to_canvas(sheet: Sheet, ids: Mapping[str, str | int] | None = None) -> str:
    """The sheet as Canvas imports it; `ids` gives Canvas's number of an assignment by its name here.

    Raises `ValueError` that names an id which is no number.
    """
    return csv_text(_rows(sheet, {name: _number(name, given) for name, given in (ids or {}).items()}))


def _number(name: str, given: str | int) -> str:
    if not str(given).isascii() or not str(given).isdecimal():
        raise ValueError(f"ids: Canvas numbers its assignments, and {given!r} (of {name!r}) is no number")
    return str(given)


def _rows(sheet: Sheet, ids: Mapping[str, str]) -> Iterable[Sequence[Cell]]:
    keys = [column.key for column in sheet.columns]
    yield [*WHO, *(f"{key} ({ids[key]})" if key in ids else key for key in keys)]
    yield ["    Points Possible", *[None] * (len(WHO) - 1), *(column.max_score for column in sheet.columns)]
    for person in sheet.people:
        yield [*_who(person), *(sheet.marks.get((person.id, key)) for key in keys)]


def _who(person: Person) -> Sequence[Cell]:
    canvas = person.lms if person.lms.isascii() and person.lms.isdecimal() else ""
    return person.name or person.id, canvas, "" if canvas else person.lms, person.id, None


class CanvasPlugin(ExportPlugin):  # type: ignore[misc]  # nbgrader has no types
    """`nbgrader export --exporter=grading.export.canvas.CanvasPlugin`."""

    ids = Dict({}, help="Canvas's number of each assignment, by nbgrader's name").tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        """Write the marks of the gradebook to `--to`, by default canvas.csv."""
        sheet = sheet_of(gradebook, self.assignment, self.student)
        Path(self.to or "canvas.csv").write_text(to_canvas(sheet, self.ids), encoding="utf-8")
