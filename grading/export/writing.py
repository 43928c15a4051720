"""A course's marks into files, in the format asked for."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from nbgrader.api import Gradebook
from sqlalchemy.exc import SQLAlchemyError

from grading.course import Course
from grading.export.canvas import to_canvas
from grading.export.csv import to_csv
from grading.export.gradebook import sheet_of
from grading.export.moodle import fill_worksheet, to_moodle
from grading.export.table import Sheet


@dataclass(frozen=True)
class Export:
    """The files written, and what the instructor should know about them."""

    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


Format = Literal["csv", "canvas", "moodle"]
FORMATS: tuple[Format, ...] = get_args(Format)


def write_export(
    form: Format,
    course: Course,
    to: Path,
    assignments: Collection[str] = (),
    ids: Mapping[str, str | int] | None = None,
    worksheet: Path | None = None,
) -> Export:
    """Write the marks in a course's gradebook.

    Args:
        to: a file; for Moodle and several assignments a folder.
        assignments: which ones, by default all.
        ids: Canvas's numbers of the assignments, by name.
        worksheet: for Moodle, the grading worksheet it gave for the one assignment.

    Raises `ValueError` that names the gradebook when there is none, or what else was wrong.
    """
    if not course.database.is_file():
        raise ValueError(f"gradebook: {course.database} does not exist; grade the class first")
    try:
        with Gradebook(f"sqlite:///{course.database.resolve()}") as book:
            sheet = sheet_of(book, assignments)
    except (SQLAlchemyError, OSError) as problem:
        raise ValueError(f"gradebook: {course.database} cannot be read ({problem})") from problem
    return write_sheet(form, sheet, to, ids, worksheet)


def write_sheet(
    form: Format,
    sheet: Sheet,
    to: Path,
    ids: Mapping[str, str | int] | None = None,
    worksheet: Path | None = None,
) -> Export:
    """Write a sheet. The arguments are those of `write_export`."""
    if form not in FORMATS:
        raise ValueError(f"form: {form!r} is none of {', '.join(FORMATS)}")
    if worksheet is not None and form != "moodle":
        raise ValueError(f"worksheet: Moodle has such a thing, {form} has not")
    if form == "csv":
        return Export((_write(to, to_csv(sheet)),))
    if form == "canvas":
        return Export((_write(to, to_canvas(sheet, ids)),))
    if worksheet is not None:
        return _fill(worksheet, sheet, to)
    if len(sheet.columns) == 1 and to.suffix.lower() == ".csv":
        return Export((_write(to, to_moodle(sheet, sheet.columns[0])),))
    if to.suffix.lower() == ".csv" or to.is_file():
        raise ValueError(f"to: Moodle takes a file an assignment, so {to} must be a folder, or name one assignment")
    return Export(tuple(_write(to / f"{_name(col.key)}.csv", to_moodle(sheet, col)) for col in sheet.columns))


def _fill(worksheet: Path, sheet: Sheet, to: Path) -> Export:
    if len(sheet.columns) != 1:
        raise ValueError(f"worksheet: it is about one assignment, and {len(sheet.columns)} were named")
    try:
        given = worksheet.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as problem:
        raise ValueError(f"worksheet: {worksheet} cannot be read ({problem})") from None
    filled, left = fill_worksheet(given, sheet, sheet.columns[0])
    notes = (f"{len(left)} students with a mark are not on the worksheet: {', '.join(left)}",) if left else ()
    return Export((_write(to, filled),), notes)


def _name(key: str) -> str:
    """A file name for an assignment: "ps1/second" -> "ps1-second"."""
    return re.sub(r"[^\w .()-]", "-", key)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="replace", newline="")
    return path
