"""Makes notebooks for the cases: the released one filled in, then edits to its cells, then damage to its bytes.

`EDITS` work on a notebook (nbformat's own object) and take the keywords of a case's `edits`; `DAMAGE` works on the
bytes of the file.
"""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from grading.course.notebook import clear_solution, grade_id, hidden_ranges, mark_of, without_lines

Notebook = Any  # nbformat.NotebookNode, which has no types of its own
Cell = Any


def released(source: Path) -> Notebook:
    """The notebook a student gets: solutions made stubs, hidden tests taken out."""
    book = nbformat.read(source, as_version=4)
    for cell in book.cells:
        if mark_of(cell).get("solution"):
            cell.source = clear_solution(cell.source, cell.cell_type == "code")
        elif mark_of(cell).get("grade"):
            cell.source = without_lines(cell.source, hidden_ranges(cell.source))
    return book


def solutions(source: Path) -> dict[str, str]:
    """The instructor's answer to each question, by grade_id."""
    book = nbformat.read(source, as_version=4)
    return {
        grade_id(cell): "\n".join(line for line in cell.source.split("\n") if " SOLUTION" not in line)
        for cell in book.cells
        if mark_of(cell).get("solution")
    }


def fill_in(book: Notebook, answers: Mapping[str, str]) -> None:
    """Write answers into their cells. Raises `ValueError` for one that the exercise does not ask for."""
    unknown = answers.keys() - {grade_id(cell) for cell in book.cells}
    if unknown:
        raise ValueError(f"answers: no cell {', '.join(sorted(unknown))}")
    for cell in book.cells:
        if grade_id(cell) in answers:
            cell.source = answers[grade_id(cell)]


def add_cell(book: Notebook, place: str, source: str, kind: str = "code", answers_to: str = "") -> None:
    """Put a cell of the student's own at "start", "end", "before NAME" or "after NAME"; `answers_to` labels it as
    another answer of that name."""
    cell = new_code_cell(source) if kind == "code" else new_markdown_cell(source)
    if answers_to:
        cell.metadata["nbgrader"] = copy.deepcopy(find(book, answers_to)[0].metadata["nbgrader"])
    where, _, name = place.partition(" ")
    index = {"start": 0, "end": len(book.cells)}.get(where)
    if index is None:
        index = book.cells.index(find(book, name)[0]) + (where == "after")
    book.cells.insert(index, cell)


def find(book: Notebook, what: str) -> list[Cell]:
    """The cells that a word names: "tests", "answers", "setup", "code", "all", or a grade_id.

    Raises `ValueError` where there are none.
    """
    chosen: dict[str, Callable[[Cell], Any]] = {
        "tests": lambda cell: mark_of(cell).get("grade"),
        "answers": lambda cell: mark_of(cell).get("solution"),
        "setup": lambda cell: cell.cell_type == "code" and not mark_of(cell),
        "all": lambda cell: True,
        "code": lambda cell: cell.cell_type == "code",
    }
    cells = [cell for cell in book.cells if chosen.get(what, lambda cell: grade_id(cell) == what)(cell)]
    if not cells:
        raise ValueError(f"cells: the notebook has no {what!r}")
    return cells


def _tag(book: Notebook, cells: str, tags: Sequence[str]) -> None:
    for cell in find(book, cells):
        cell.metadata["tags"] = list(tags)


def _source(book: Notebook, cells: str, source: str, times: int = 1) -> None:
    for cell in find(book, cells):
        cell.source = source * times


def _mark(book: Notebook, cells: str, **fields: Any) -> None:
    """Change nbgrader's own metadata; the word "{n}" in a text counts the cells."""
    for number, cell in enumerate(find(book, cells)):
        mark = cell.metadata["nbgrader"]
        for name, value in fields.items():
            mark[name] = value.replace("{n}", str(number)) if isinstance(value, str) else value


def _unmark(book: Notebook, cells: str) -> None:
    for cell in find(book, cells):
        cell.metadata.pop("nbgrader", None)


def _strip(book: Notebook) -> None:
    """Every metadata gone, as when cells are pasted into a fresh notebook."""
    book.metadata = nbformat.from_dict({})
    for cell in book.cells:
        cell.metadata = nbformat.from_dict({})


def _delete(book: Notebook, cells: str) -> None:
    gone = [id(cell) for cell in find(book, cells)]
    book.cells = [cell for cell in book.cells if id(cell) not in gone]


def _duplicate(book: Notebook, cells: str) -> None:
    for cell in find(book, cells):
        book.cells.insert(book.cells.index(cell) + 1, copy.deepcopy(cell))


def _move(book: Notebook, cells: str, place: str) -> None:
    moved = find(book, cells)
    _delete(book, cells)
    book.cells = [*moved, *book.cells] if place == "start" else [*book.cells, *moved]


def _retype(book: Notebook, cells: str, kind: str) -> None:
    for cell in find(book, cells):
        cell.cell_type = kind
        for key in ("outputs", "execution_count"):
            cell.pop(key, None)
        if kind == "code":
            cell.outputs, cell.execution_count = [], None


def _outputs(book: Notebook, cells: str, html: str = "", text: str = "", size: int = 0) -> None:
    """Outputs that were stored when the notebook was saved; `size` characters of noise besides."""
    for cell in find(book, cells):
        data = {"text/plain": text + "x" * size, **({"text/html": html} if html else {})}
        cell.outputs = [new_output("display_data", data=data), new_output("stream", name="stderr", text=text)]


def _kernel(book: Notebook, name: str, language: str) -> None:
    """The kernel that the notebook was saved with."""
    book.metadata["kernelspec"] = {"name": name, "display_name": name, "language": language}


def _counts(book: Notebook) -> None:
    """Execution counts of cells that were run in a wild order."""
    for number, cell in enumerate(find(book, "code")):
        cell.execution_count = 97 - number


def _same_ids(book: Notebook) -> None:
    for cell in book.cells:
        cell["id"] = "same"


def _no_ids(book: Notebook) -> None:
    book.nbformat_minor = 4
    for cell in book.cells:
        cell.pop("id", None)


EDITS: dict[str, Callable[..., None]] = {
    "tag": _tag,
    "source": _source,
    "mark": _mark,
    "unmark": _unmark,
    "strip": _strip,
    "delete": _delete,
    "duplicate": _duplicate,
    "move": _move,
    "retype": _retype,
    "outputs": _outputs,
    "kernel": _kernel,
    "counts": _counts,
    "same ids": _same_ids,
    "no ids": _no_ids,
}


def as_bytes(book: Notebook) -> bytes:
    """The file that Jupyter would save."""
    return (json.dumps(book, ensure_ascii=False, indent=1) + "\n").encode()


def _lines(data: bytes) -> bytes:
    """Every text as a list of lines, which is how Jupyter itself saves it."""
    book = json.loads(data)
    for cell in book["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
    return json.dumps(book, indent=1).encode()


def _old_format(data: bytes) -> bytes:
    """nbformat 3: worksheets, and `input` for a code cell's text."""
    return str(nbformat.writes(nbformat.convert(nbformat.reads(data.decode(), 4), 3), 3)).encode()


def _conflict(data: bytes) -> bytes:
    """Both sides of a merge, as git leaves them in the file."""
    lines = data.decode().split("\n")
    middle = next(index for index, line in enumerate(lines) if '"cell_type": "code"' in line)
    both = ["<<<<<<< HEAD", lines[middle], "=======", lines[middle], ">>>>>>> theirs"]
    return "\n".join([*lines[:middle], *both, *lines[middle + 1 :]]).encode()


def _zipped(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("basket.ipynb", data)
    return buffer.getvalue()


def _half_pair(data: bytes) -> bytes:
    """Half a surrogate pair in a comment, which JSON can write and UTF-8 cannot."""
    return data.replace(b'"source": "def total', b'"source": "# \\ud83d\\ndef total')


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "utf-16": lambda data: data.decode().encode("utf-16"),
    "windows line ends": lambda data: data.replace(b"\n", b"\r\n"),
    "windows line ends in cells": lambda data: data.replace(b"\\n", b"\\r\\n"),
    "lines": _lines,
    "nbformat 3": _old_format,
    "cut off": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "pdf": lambda data: b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n",
    "web page": lambda data: b"<!DOCTYPE html>\n<html><body><pre>" + data[:500] + b"</pre></body></html>\n",
    "zip": _zipped,
    "merge conflict": _conflict,
    "zero bytes at the end": lambda data: data + b"\0" * 512,
    "half a surrogate pair": _half_pair,
    "nested lists": lambda data: b"[" * 200_000 + b"]" * 200_000,
    "many cells": lambda data: data.replace(b'"cells": [', b'"cells": [' + b"{}," * 300_000, 1),
    "thirty megabytes": lambda data: data + b" " * (30 << 20),
    "long number": lambda data: data.replace(b'"nbformat": 4', b'"nbformat": 4' + b"0" * 100_000, 1),
}
