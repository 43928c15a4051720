"""Reads what a student handed in, once: a notebook of nbformat 3 or 4, or plain Python.

Nothing here raises for anything that can be handed in: `Submission.problem` says what was wrong, for the student, and
`Submission.notes` what was repaired.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading.course import Exercise
from grading.course.notebook import grade_id, text_of
from grading.submission.decoding import decode_noting, parse_json
from grading.submission.opening import Identity, UnreadableError, read_file
from grading.submission.provenance import suspicion

MAX_CODE = 200_000  # characters in all code cells; parsing more could hold the grader up
MAX_CELLS = 2_000


@dataclass(frozen=True)
class StudentCell:
    """One cell as handed in. `mark` is its grade_id or ""; `raw`: neither code nor text to read."""

    mark: str
    source: str
    code: bool
    raw: bool = False


@dataclass(frozen=True)
class Submission:
    """A file's cells, or why there are none: `problem` says what is wrong with it, `suspicion` why a person should look
    at it first. `sha256` is the hash of the bytes that were read; `plain` says that it was a Python file; `notes` what
    was unusual."""

    cells: tuple[StudentCell, ...]
    sha256: str
    plain: bool = False
    problem: str = ""
    notes: tuple[str, ...] = ()
    suspicion: str = ""


def read(
    path: Path,
    exercise: Exercise | None = None,
    root: Path | None = None,
    instructors: frozenset[Identity] = frozenset(),
    notes: Sequence[str] = (),
) -> Submission:
    """Read a submission. Never raises for what a student can hand in: `problem` says what was wrong.

    Args:
        exercise: what it answers; a file that holds its hidden tests gets a `suspicion`.
        root: the folder of all submissions; no step below it may be a link.
        instructors: the files of the course's source (`provenance.files_of`); one of them gets a `suspicion`.
        notes: what finding the file has already said.
    """
    said = list(notes)
    digest = hashlib.sha256()
    try:
        data, identity = read_file(path, root)
        digest.update(data)
        text, repairs = decode_noting(data)
        said += repairs
        plain = path.suffix.lower() == ".py"
        cells = [StudentCell("", _sendable(text), True)] if plain else _notebook_cells(text, said)
        if sum(len(cell.source) for cell in cells if cell.code) > MAX_CODE:
            raise UnreadableError(f"There are more than {MAX_CODE // 1000} thousand characters of code.")
        doubt = suspicion(exercise, [cell.source for cell in cells], identity, instructors)
        kept = () if doubt else tuple(cells)  # what nobody runs by mistake earns nothing by mistake
        return Submission(kept, digest.hexdigest(), plain and not doubt, notes=tuple(said), suspicion=doubt)
    except UnreadableError as problem:
        return Submission((), digest.hexdigest(), problem=str(problem), notes=tuple(said))


def _notebook_cells(text: str, notes: list[str]) -> list[StudentCell]:
    """The cells of a notebook's JSON, nbformat 4 or 3; a note where it is the older."""
    notebook = parse_json(text)
    raw: Any = None
    if isinstance(notebook, dict):
        raw = notebook.get("cells")
        sheets = notebook.get("worksheets")
        if raw is None and isinstance(sheets, list):
            notes.append("The notebook is in an old format (before nbformat 4); it was read all the same.")
            parts = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
            raw = [cell for part in parts if isinstance(part, list) for cell in part]
    if not isinstance(raw, list):
        raise UnreadableError("The file is JSON but not a notebook: it has no cells.")
    if len(raw) > MAX_CELLS:
        raise UnreadableError(f"The notebook has more than {MAX_CELLS} cells.")
    return [_cell(cell) for cell in raw if isinstance(cell, dict)]


def _cell(cell: dict[str, Any]) -> StudentCell:
    kind = cell.get("cell_type")
    return StudentCell(_sendable(grade_id(cell)), _sendable(text_of(cell)), kind == "code", kind == "raw")


def _sendable(text: str) -> str:
    """A text that can be written as UTF-8: half a surrogate pair, which JSON can hold, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
