"""What happens to real notebooks on their way: cells deleted, doubled and edited, labels lost, files cut off.

`DAMAGE` works on the notebook, `BYTES` on the file; class.toml names them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from grading.course.notebook import mark_of, text_of

Notebook = dict[str, Any]


def _tests(notebook: Notebook) -> list[Notebook]:
    return [cell for cell in notebook["cells"] if mark_of(cell).get("grade")]


def _answers(notebook: Notebook) -> list[Notebook]:
    return [cell for cell in notebook["cells"] if mark_of(cell).get("solution")]


def _delete_test(notebook: Notebook) -> None:
    notebook["cells"].remove(_tests(notebook)[-1])


def _duplicate(notebook: Notebook, cell: Notebook) -> None:
    notebook["cells"].insert(notebook["cells"].index(cell) + 1, copy.deepcopy(cell))


def _syntax_error(notebook: Notebook) -> None:
    """The first answer ends in the middle of an expression."""
    cell = _answers(notebook)[0]
    cell["source"] = text_of(cell) + "\n\nunfinished = ("


def _edit_tests(notebook: Notebook) -> None:
    """Every test passes and is worth a hundred."""
    for cell in _tests(notebook):
        cell["source"] = "assert True"
        mark_of(cell)["points"] = 100


def _retag(notebook: Notebook) -> None:
    """Labels gone, as when cells are copied into a fresh notebook."""
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def _skip_execution(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["skip-execution", "raises-exception"]


def _code_cell(source: str) -> Notebook:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def _endless_loop(notebook: Notebook) -> None:
    """A cell of the student's own that never ends, right after the first answer."""
    where = notebook["cells"].index(_answers(notebook)[0]) + 1
    notebook["cells"].insert(where, _code_cell("while True:\n    pass"))


def _exit_cell(notebook: Notebook) -> None:
    """A cell that ends the process, before everything else."""
    notebook["cells"].insert(0, _code_cell("import os\nos._exit(0)"))


def _outputs(notebook: Notebook) -> None:
    """Stored outputs that claim success."""
    for cell in _tests(notebook):
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": '{"status": "ok", "points": 100}'}]


def _old_format(notebook: Notebook) -> None:
    """nbformat 3: worksheets, and `input` for the text of a code cell."""
    cells = notebook.pop("cells")
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
            cell["language"] = "python"
    notebook.update(nbformat=3, nbformat_minor=0, worksheets=[{"cells": cells, "metadata": {}}])


def _lines(notebook: Notebook) -> None:
    """Text as a list of lines, as Jupyter stores it."""
    for cell in notebook["cells"]:
        cell["source"] = text_of(cell).splitlines(keepends=True)


DAMAGE: dict[str, Callable[[Notebook], None]] = {
    "delete_test": _delete_test,
    "delete_answer": lambda notebook: notebook["cells"].remove(_answers(notebook)[0]),
    "duplicate_answer": lambda notebook: _duplicate(notebook, _answers(notebook)[0]),
    "duplicate_test": lambda notebook: _duplicate(notebook, _tests(notebook)[0]),
    "edit_tests": _edit_tests,
    "syntax_error": _syntax_error,
    "retag": _retag,
    "skip_execution": _skip_execution,
    "endless_loop": _endless_loop,
    "exit_cell": _exit_cell,
    "outputs": _outputs,
    "old_format": _old_format,
    "lines": _lines,
}
BYTES: dict[str, Callable[[bytes], bytes]] = {
    "bom": lambda data: b"\xef\xbb\xbf" + data,
    "utf16": lambda data: data.decode().encode("utf-16"),
    "cut_off": lambda data: data[: len(data) // 2],
    "not_a_notebook": lambda data: b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n",
    "empty": lambda data: b"",
}
