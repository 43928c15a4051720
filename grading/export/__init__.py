"""Marks on their way out: the terminal, CSV, Canvas, Moodle.

table.py      what is exported, as plain data; texts that no spreadsheet runs; the table for the terminal
gradebook.py  the same from nbgrader's gradebook
csv.py        one row a student
canvas.py     what Canvas's gradebook imports
moodle.py     what Moodle's gradebook imports, and its offline grading worksheet, filled in
writing.py    a course's marks into files, in any of these

`csv`, `canvas` and `moodle` each hold a plugin of nbgrader's too: `nbgrader export
--exporter=grading.export.canvas.CanvasPlugin`. They import nbgrader, so only `table` is imported here.
"""

from grading.export.table import Column, Marks, Person, Sheet, differences, marks_csv, marks_table, neutral

__all__ = ["Column", "Marks", "Person", "Sheet", "differences", "marks_csv", "marks_table", "neutral"]
