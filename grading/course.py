"""Reads the instructor's side of a course: where things are, and what a notebook asks for.

Points, tests and metadata always come from here and never from a submission. The source notebooks (with solutions and
hidden tests) are used where they are present; else the released ones, and `Exercise.hidden` says which it was.
nbgrader's own metadata is the format: `solution` cells are answers, `grade` cells are tests, both together are graded
by hand.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Kind = Literal["text", "setup", "answer", "test", "manual"]
CODE_STUB = "# YOUR CODE HERE\nraise NotImplementedError()"


@dataclass(frozen=True)
class SourceCell:
    """A cell of the instructor's notebook. `source` is what runs in grading (an answer's is its stub), `solution` the
    instructor's answer, `hidden` the first and last lines of hidden parts, `binds` the names an answer defines."""

    kind: Kind
    id: str
    source: str
    points: float = 0.0
    locked: bool = False
    code: bool = True
    solution: str = ""
    hidden: tuple[tuple[int, int], ...] = ()
    binds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exercise:
    """One notebook of an assignment, as the grader needs it."""

    assignment: str
    name: str
    title: str
    cells: tuple[SourceCell, ...]
    forbidden: tuple[str, ...]
    hidden: bool
    files: tuple[str, ...] = ()
    kernel: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return self.name if self.name == self.assignment else f"{self.assignment}/{self.name}"

    @property
    def answers(self) -> tuple[SourceCell, ...]:
        return tuple(cell for cell in self.cells if cell.kind == "answer")

    @property
    def tests(self) -> tuple[SourceCell, ...]:
        return tuple(cell for cell in self.cells if cell.kind == "test")

    @property
    def manual(self) -> tuple[SourceCell, ...]:
        return tuple(cell for cell in self.cells if cell.kind == "manual")

    @property
    def max_score(self) -> float:
        return sum(cell.points for cell in self.tests)

    @property
    def names(self) -> tuple[str, ...]:
        """What the answers should define."""
        return tuple(dict.fromkeys(name for cell in self.answers for name in cell.binds))

    @property
    def sha256(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Course:
    """The folders of a course."""

    root: Path
    source: Path
    release: Path
    submitted: Path
    build: Path
    database: Path
    feedback: Path

    def exercises(self) -> list[Exercise]:
        """Every notebook with something to grade, in the order of their names."""
        folder = self.source if self.source.is_dir() else self.release
        found = []
        for path in sorted(folder.glob("*/*.ipynb")):
            exercise = self.exercise(path.parent.name, path.stem)
            if exercise.tests or exercise.manual:
                found.append(exercise)
        return found

    def exercise(self, assignment: str, name: str = "") -> Exercise:
        """Read one exercise. Raises `ValueError` naming it when the course has none of that name."""
        name = name or assignment
        if not re.fullmatch(r"[\w.-]+", assignment) or not re.fullmatch(r"[^/\\]+", name):
            raise ValueError(f"exercise: {assignment!r} is no name of an exercise")
        source, released = (folder / assignment / f"{name}.ipynb" for folder in (self.source, self.release))
        if not source.is_file() and not released.is_file():
            known = sorted(
                {path.parent.name for folder in (self.source, self.release) for path in folder.glob("*/*.ipynb")}
            )
            raise ValueError(f"exercise: no {assignment!r} in this course (it has: {', '.join(known) or 'none'})")
        return read_exercise(source if source.is_file() else released, released if released.is_file() else None,
                             hidden=source.is_file())  # fmt: skip


def open_course(root: Path, bundled: bool = False) -> Course:
    """The course in a folder. Folder names come from its nbgrader_config.py where that sets them as plain strings.

    A bundled course keeps everything it makes under `_build/course`; any other keeps nbgrader's own layout.
    """
    names = {"source_directory": "source", "release_directory": "release", "submitted_directory": "submitted",
             "feedback_directory": "feedback"}  # fmt: skip
    config = root / "nbgrader_config.py"
    if config.is_file():
        for node in ast.walk(ast.parse(config.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                for target in node.targets:
                    if isinstance(target, ast.Attribute) and target.attr in names:
                        names[target.attr] = node.value.value
    build = root / "_build" / "course"
    home = build if bundled else root
    return Course(
        root=root,
        source=root / names["source_directory"],
        release=root / names["release_directory"],
        submitted=build / "submitted" if bundled else root / names["submitted_directory"],
        build=build,
        database=home / "gradebook.db",
        feedback=home / ("feedback" if bundled else names["feedback_directory"]),
    )


def read_exercise(path: Path, released: Path | None = None, hidden: bool = True) -> Exercise:
    """Read an instructor's notebook. Stubs come from the released notebook where there is one."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    stubs: dict[str, str] = {}
    if released is not None:
        for cell in json.loads(released.read_text(encoding="utf-8"))["cells"]:
            stubs[_mark(cell).get("grade_id", "")] = text_of(cell)
    about = notebook.get("metadata", {}).get("exercise", {})
    cells = tuple(_read_cell(cell, index, stubs) for index, cell in enumerate(notebook["cells"]))
    _check(cells, path)
    beside = [file for file in path.parent.iterdir() if file.is_file() and file.suffix not in (".ipynb", ".pyc")]
    return Exercise(
        assignment=path.parent.name,
        name=path.stem,
        title=str(about.get("title") or path.stem),
        cells=cells,
        forbidden=tuple(about.get("forbidden", ())),
        hidden=hidden,
        files=tuple(str(file.resolve()) for file in sorted(beside)),
        kernel=notebook.get("metadata", {}).get("kernelspec", {}),
    )


def text_of(cell: dict[str, Any]) -> str:
    """A cell's text, stored as one string or as a list of lines; nbformat 3 calls a code cell's text `input`."""
    text = cell.get("source", cell.get("input", ""))
    if isinstance(text, list):
        text = "".join(part for part in text if isinstance(part, str))
    return text.replace("\r\n", "\n").replace("\r", "\n") if isinstance(text, str) else ""


def clear_solution(source: str, code: bool = True) -> str:
    """The stub that nbgrader would make: the marked region, or else the whole cell, becomes its default stub."""
    stub = CODE_STUB if code else "YOUR ANSWER HERE"
    lines, inside, found = [], False, False
    for line in source.split("\n"):
        if "BEGIN SOLUTION" in line:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + part for part in stub.split("\n")]
            inside = found = True
        elif "END SOLUTION" in line:
            inside = False
        elif not inside:
            lines.append(line)
    return "\n".join(lines) if found else stub


def hidden_lines(source: str) -> tuple[tuple[int, int], ...]:
    """First and last lines (from 1) of each hidden part, the markers included."""
    ranges, first = [], 0
    for number, line in enumerate(source.split("\n"), 1):
        if "BEGIN HIDDEN TESTS" in line:
            first = number
        elif "END HIDDEN TESTS" in line and first:
            ranges.append((first, number))
            first = 0
    return tuple(ranges)


def top_level_names(source: str) -> tuple[str, ...]:
    """Names a cell defines, in order: "def f(): ...\\nx = 1" -> ("f", "x"); () for what is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ()
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.append(node.name)
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            names += [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return tuple(dict.fromkeys(names))


def _mark(cell: dict[str, Any]) -> dict[str, Any]:
    mark = cell.get("metadata", {}).get("nbgrader", {})
    return mark if isinstance(mark, dict) else {}


def _read_cell(cell: dict[str, Any], index: int, stubs: dict[str, str]) -> SourceCell:
    mark, source, code = _mark(cell), text_of(cell), cell["cell_type"] == "code"
    name = str(mark.get("grade_id") or f"cell-{index}")
    grade, solution = bool(mark.get("grade")), bool(mark.get("solution"))
    points = float(mark.get("points", 0) or 0) if grade or mark.get("task") else 0.0
    locked = bool(mark.get("locked")) or (grade and not solution)
    if mark.get("task") or (grade and solution) or (grade and not code):
        return SourceCell("manual", name, stubs.get(name, clear_solution(source, code)), points, locked, code, source)
    if solution:
        stub = stubs.get(name, clear_solution(source, code))
        names = top_level_names(source) or top_level_names(stub)
        return SourceCell("answer" if code else "text", name, stub, 0.0, False, code, source, (), names)
    if grade:
        return SourceCell("test", name, source, points, True, code, hidden=hidden_lines(source))
    return SourceCell("setup" if code else "text", name, source, 0.0, locked, code)


def _check(cells: tuple[SourceCell, ...], path: Path) -> None:
    seen: set[str] = set()
    for cell in cells:
        if cell.id in seen:
            raise ValueError(f"{path.name}: two cells have the grade_id {cell.id!r}")
        seen.add(cell.id)
        if cell.points < 0:
            raise ValueError(f"{path.name}: {cell.id!r} has negative points")
