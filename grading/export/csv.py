"""The table of marks, one row a student."""

from __future__ import annotations

from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin

from grading.export.gradebook import sheet_of
from grading.export.table import Sheet, csv_text, sheet_rows


def to_csv(sheet: Sheet) -> str:
    """The sheet as CSV: id, name, a mark for each column, the total, the maximum."""
    return csv_text(sheet_rows(sheet))


class CsvPlugin(ExportPlugin):  # type: ignore[misc]  # nbgrader has no types
    """`nbgrader export --exporter=grading.export.csv.CsvPlugin`."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the marks of the gradebook to `--to`, by default marks.csv."""
        sheet = sheet_of(gradebook, self.assignment, self.student)
        Path(self.to or "marks.csv").write_text(to_csv(sheet), encoding="utf-8")
