"""Reads what a student handed in: a regular file, no link, of reasonable size; UTF-8 with or without a byte order mark
or UTF-16; a notebook of nbformat 3 or 4, or plain Python.

Nothing here raises for anything that can be handed in: `Submission.problem` says what was wrong, for the student.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading.course.notebook import grade_id, text_of

MAX_BYTES = 20 << 20
MAX_CODE = 200_000  # characters in all code cells; parsing more could hold the grader up
MAX_CELLS = 2_000


class UnreadableError(ValueError):
    """The file cannot be graded; the text says why, for the student."""


@dataclass(frozen=True)
class StudentCell:
    """One cell as handed in. `mark` is its grade_id or ""."""

    mark: str
    source: str
    code: bool


@dataclass(frozen=True)
class Submission:
    """A file's cells, or `problem`: why there are none. `plain` says that it was a Python file."""

    cells: tuple[StudentCell, ...]
    sha256: str
    plain: bool = False
    problem: str = ""


def read(path: Path) -> Submission:
    """Read a submission. Never raises for what a student can hand in: `problem` says what was wrong."""
    data = b""
    try:
        data = read_bytes(path)
        text = decode(data)
        plain = path.suffix.lower() == ".py"
        cells = [StudentCell("", _sendable(text), True)] if plain else notebook_cells(text)
        if sum(len(cell.source) for cell in cells if cell.code) > MAX_CODE:
            raise UnreadableError(f"There are more than {MAX_CODE // 1000} thousand characters of code.")
        return Submission(tuple(cells), hashlib.sha256(data).hexdigest(), plain)
    except UnreadableError as problem:
        return Submission((), hashlib.sha256(data).hexdigest(), problem=str(problem))


def read_bytes(path: Path) -> bytes:
    """The content of a regular file of reasonable size. Raises `UnreadableError`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise UnreadableError("There is no file here.") from None
    except OSError as problem:
        kind = "a symbolic link" if path.is_symlink() else f"not to be opened ({problem.strerror})"
        raise UnreadableError(f"The file is {kind}; hand in the notebook itself.") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnreadableError("This is a folder or a device, not a file; hand in the notebook itself.")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise UnreadableError(f"The file could not be read ({problem.strerror}).") from None
    finally:
        os.close(descriptor)
    if len(data) > MAX_BYTES:
        raise UnreadableError(f"The file is larger than {MAX_BYTES >> 20} MB; clear its outputs and hand it in again.")
    if not data.strip():
        raise UnreadableError("The file is empty.")
    return data


def decode(data: bytes) -> str:
    """Text of UTF-8 (with or without a byte order mark) or UTF-16, lines ended by "\\n". Raises `UnreadableError`."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        codec = "utf-16"
    elif data[1:2] == b"\0":
        codec = "utf-16-le"
    elif data[:1] == b"\0":
        codec = "utf-16-be"
    else:
        codec = "utf-8-sig"
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        raise UnreadableError("The file is no text: it is neither UTF-8 nor UTF-16.") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def notebook_cells(text: str) -> list[StudentCell]:
    """The cells of a notebook's JSON, nbformat 4 or 3. Raises `UnreadableError`."""
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableError(
            "The file is not a notebook: it is not JSON. It may have been cut off or renamed. (The name of a Python "
            "file ends in .py.)"
        ) from None
    raw: Any = None
    if isinstance(notebook, dict):
        raw = notebook.get("cells")
        sheets = notebook.get("worksheets")
        if raw is None and isinstance(sheets, list):
            parts = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
            raw = [cell for part in parts if isinstance(part, list) for cell in part]
    if not isinstance(raw, list):
        raise UnreadableError("The file is JSON but not a notebook: it has no cells.")
    if len(raw) > MAX_CELLS:
        raise UnreadableError(f"The notebook has more than {MAX_CELLS} cells.")
    cells = [cell for cell in raw if isinstance(cell, dict)]
    return [StudentCell(grade_id(cell), _sendable(text_of(cell)), cell.get("cell_type") == "code") for cell in cells]


def _sendable(text: str) -> str:
    """A text that can be written as UTF-8: half a surrogate pair, which JSON can hold, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
