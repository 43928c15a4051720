"""The sample class: notebooks of invented students, made from the released exercises, with the damage real ones have.

`sample_class/class.toml` names the students; each piece of work names an answers file, what is done to the notebook,
and the mark it must get. The notebooks are made anew each time, so that they always fit the exercises.
"""

from __future__ import annotations

import ast
import json
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading.course import Course, Exercise, text_of, top_level_names

Notebook = dict[str, Any]
CLASS = Path(__file__).parent / "sample_class" / "class.toml"


@dataclass(frozen=True)
class Work:
    """One hand-in of the sample: `answers` is "solution", "blank" or the path of a Python file (from the course's
    folder, or from the folder of class.toml); `damage` names operations below; `expected` is the mark."""

    exercise: str
    answers: str
    expected: float
    damage: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pupil:
    id: str
    name: str
    work: tuple[Work, ...]


def read_class(path: Path = CLASS) -> list[Pupil]:
    """The students of a class file. Raises `ValueError` naming a student who is there twice, or an unknown damage."""
    pupils = []
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["student"]:
        work = []
        for exercise, piece in entry["work"].items():
            damage = piece.get("damage", [])
            damage = (damage,) if isinstance(damage, str) else tuple(damage)
            for name in damage:
                if name not in DAMAGE and name not in BYTES:
                    raise ValueError(f"damage: {name!r} of {entry['id']} is not known")
            work.append(Work(exercise, piece["answers"], float(piece["expected"]), damage))
        pupils.append(Pupil(entry["id"], entry["name"], tuple(work)))
    if len({pupil.id for pupil in pupils}) < len(pupils):
        raise ValueError("student: two have the same id")
    return pupils


def make_class(course: Course, pupils: list[Pupil], base: Path = CLASS.parent) -> None:
    """Write every hand-in under the course's folder of submissions, which is emptied first."""
    shutil.rmtree(course.submitted, ignore_errors=True)
    exercises = {exercise.name: exercise for exercise in course.exercises()}
    for pupil in pupils:
        (course.submitted / pupil.id).mkdir(parents=True)
        for work in pupil.work:
            exercise = exercises[work.exercise]
            path = course.submitted / pupil.id / exercise.assignment / f"{exercise.name}.ipynb"
            path.parent.mkdir()
            path.write_bytes(make_notebook(course, exercise, work, base))


def make_notebook(course: Course, exercise: Exercise, work: Work, base: Path) -> bytes:
    """The bytes of one hand-in."""
    released = course.release / exercise.assignment / f"{exercise.name}.ipynb"
    notebook = json.loads(released.read_text(encoding="utf-8"))
    answers = read_answers(course, exercise, work.answers, base)
    for cell in notebook["cells"]:
        name = mark_of(cell).get("grade_id")
        if name in answers:
            cell["source"] = answers[name]
    for name in work.damage:
        if name in DAMAGE:
            DAMAGE[name](notebook)
    data = json.dumps(notebook, ensure_ascii=False, indent=1).encode()
    for name in work.damage:
        if name in BYTES:
            data = BYTES[name](data)
    return data


def read_answers(course: Course, exercise: Exercise, answers: str, base: Path) -> dict[str, str]:
    """The text of each answer cell. A Python file goes into the cells by the names it defines, shared lines into the
    first."""
    if answers == "blank":
        return {}
    if answers == "solution":
        return {cell.id: cell.solution for cell in exercise.answers}
    path = course.root / answers if (course.root / answers).is_file() else base / answers
    source = path.read_text(encoding="utf-8")
    if len(exercise.answers) == 1:
        return {exercise.answers[0].id: source}
    lines = source.split("\n")
    tree = ast.parse(source)
    owner = {name: cell.id for cell in exercise.answers for name in cell.binds}
    parts: dict[str, list[str]] = {}
    first = exercise.answers[0].id
    start = 0
    for node in tree.body:  # each statement with the comments above it
        text = "\n".join(lines[start : node.end_lineno])
        start = node.end_lineno or start
        names = [name for name in top_level_names(ast.unparse(node)) if name in owner]
        parts.setdefault(owner[names[0]] if names else first, []).append(text)
    return {name: "\n".join(pieces).strip("\n") for name, pieces in parts.items()}


def mark_of(cell: Notebook) -> dict[str, Any]:
    mark = cell.get("metadata", {}).get("nbgrader", {})
    return mark if isinstance(mark, dict) else {}


def _tests(notebook: Notebook) -> list[Notebook]:
    return [cell for cell in notebook["cells"] if mark_of(cell).get("grade")]


def _answers(notebook: Notebook) -> list[Notebook]:
    return [cell for cell in notebook["cells"] if mark_of(cell).get("solution")]


def _delete_test(notebook: Notebook) -> None:
    notebook["cells"].remove(_tests(notebook)[-1])


def _duplicate(notebook: Notebook, cell: Notebook) -> None:
    notebook["cells"].insert(notebook["cells"].index(cell) + 1, json.loads(json.dumps(cell)))


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


def expected_marks(pupils: list[Pupil]) -> dict[tuple[str, str], float]:
    return {(pupil.id, work.exercise): work.expected for pupil in pupils for work in pupil.work}
