"""One notebook of an assignment, as the grader needs it: its cells by what they are for, its points, its stubs.

nbgrader's own metadata is the format: `solution` cells are answers, `grade` cells are tests, both together are graded
by hand.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from grading.course.notebook import clear_solution, grade_id, hidden_ranges, mark_of, text_of, without_lines
from grading.running.late import late_parts
from grading.running.preparing import imported_modules
from grading.syntax import parse, top_level_names

Kind = Literal["text", "setup", "answer", "test", "manual"]


@dataclass(frozen=True)
class SourceCell:
    """A cell of the instructor's notebook. `source` is what runs in grading (an answer's is its stub), `solution` the
    instructor's answer, `hidden_lines` the first and last lines of hidden parts, `binds` the names an answer
    defines."""

    kind: Kind
    id: str
    source: str
    points: float = 0.0
    locked: bool = False
    code: bool = True
    solution: str = ""
    hidden_lines: tuple[tuple[int, int], ...] = ()
    binds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exercise:
    """An exercise. `from_source`: read from the instructor's notebook (with hidden tests), not from the released one;
    `forbidden`: dotted names that an answer may not import; `files`: what lies beside the notebook, as paths;
    `withdrawn`: hidden parts of tests that the source had before."""

    assignment: str
    name: str
    title: str
    cells: tuple[SourceCell, ...]
    forbidden: tuple[str, ...]
    from_source: bool
    files: tuple[str, ...] = ()
    kernel: dict[str, Any] = field(default_factory=dict)
    withdrawn: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """How tables name it: the assignment, and the notebook where that has another name."""
        return self.name if self.name == self.assignment else f"{self.assignment}/{self.name}"

    @property
    def answers(self) -> tuple[SourceCell, ...]:
        """The code cells that a student fills in."""
        return tuple(cell for cell in self.cells if cell.kind == "answer")

    @property
    def tests(self) -> tuple[SourceCell, ...]:
        """The cells that a machine grades."""
        return tuple(cell for cell in self.cells if cell.kind == "test")

    @property
    def manual(self) -> tuple[SourceCell, ...]:
        """The cells that a person grades."""
        return tuple(cell for cell in self.cells if cell.kind == "manual")

    @property
    def max_score(self) -> float:
        """Points of all tests; what a person grades is not in it."""
        return sum(cell.points for cell in self.tests)

    @property
    def all_points(self) -> float:
        """Points of all tests and of what a person grades: the most that a mark can be, as nbgrader counts."""
        return self.max_score + sum(cell.points for cell in self.manual)

    @property
    def names(self) -> tuple[str, ...]:
        """What the answers should define."""
        return tuple(dict.fromkeys(name for cell in self.answers for name in cell.binds))

    @functools.cached_property
    def preload(self) -> tuple[str, ...]:
        """Names of the installed modules that the cells import, those that only a hidden part imports aside: a process
        that is told them knows nothing of what is hidden. Of parts of packages those that come late (`late_parts`)."""
        texts = [without_lines(cell.source, cell.hidden_lines) for cell in self.cells if cell.code]
        texts += [cell.solution for cell in self.answers]
        names = {name for text in texts for name in imported_modules(parse(text))}
        found = {name for name in names - {Path(file).stem for file in self.files} if _installed(name)}
        return tuple(sorted(found | late_parts(found, texts)))

    @functools.cached_property
    def sha256(self) -> str:
        """Hash of everything above, the contents of `files` included; their folder does not count, and neither does
        what the source had before."""
        contents = {Path(file).name: _sha256(Path(file)) for file in self.files}
        now = {name: value for name, value in asdict(self).items() if name != "withdrawn"}
        text = json.dumps({**now, "files": contents}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def read_exercise(path: Path, released: Path | None = None, from_source: bool = True) -> Exercise:
    """Read an instructor's notebook. Stubs come from the released notebook where there is one.

    Raises `ValueError` that names the file when one of the two is no notebook or has two cells of one grade_id.
    """
    notebook = _read_notebook(path)
    stubs = {grade_id(cell): text_of(cell) for cell in _read_notebook(released)["cells"]} if released else {}
    metadata = notebook.get("metadata") or {}
    about = metadata.get("exercise") or {}
    if not isinstance(about, dict):
        raise ValueError(f"{path}: metadata.exercise is no table but {about!r}")
    cells = tuple(_read_cell(cell, index, stubs, path) for index, cell in enumerate(notebook["cells"]))
    seen: set[str] = set()
    for cell in cells:
        if cell.id in seen:
            raise ValueError(f"{path}: two cells have the grade_id {cell.id!r}")
        seen.add(cell.id)
    beside = [file for file in path.parent.iterdir() if file.is_file() and file.suffix not in (".ipynb", ".pyc")]
    return Exercise(
        assignment=path.parent.name,
        name=path.stem,
        title=str(about.get("title") or path.stem),
        cells=cells,
        forbidden=tuple(about.get("forbidden") or ()),
        from_source=from_source,
        files=tuple(str(file.resolve()) for file in sorted(beside)),
        kernel=metadata.get("kernelspec") or {},
    )


def _read_notebook(path: Path) -> dict[str, Any]:
    """The JSON of an instructor's notebook, nbformat 4. Raises `ValueError` that names the file."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as problem:
        raise ValueError(f"{path}: cannot be read as a notebook: {problem}") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise ValueError(f"{path}: is JSON but no notebook of nbformat 4: it has no list of cells")
    return dict(notebook)


def _read_cell(cell: dict[str, Any], index: int, stubs: dict[str, str], path: Path) -> SourceCell:
    mark, source, code = mark_of(cell), text_of(cell), cell.get("cell_type") == "code"
    name = grade_id(cell) or f"cell-{index}"
    grade, solution, task = (bool(mark.get(kind)) for kind in ("grade", "solution", "task"))
    points = _points(mark, name, path) if grade or task else 0.0
    locked = bool(mark.get("locked")) or (grade and not solution)
    if task or (grade and solution) or (grade and not code):
        return SourceCell("manual", name, stubs.get(name, clear_solution(source, code)), points, locked, code, source)
    if solution:
        stub = stubs.get(name, clear_solution(source, code))
        names = top_level_names(source) or top_level_names(stub)
        return SourceCell("answer" if code else "text", name, stub, 0.0, False, code, source, (), names)
    if grade:
        return SourceCell("test", name, source, points, True, code, hidden_lines=hidden_ranges(source))
    return SourceCell("setup" if code else "text", name, source, 0.0, locked, code)


def _points(mark: dict[str, Any], name: str, path: Path) -> float:
    try:
        points = float(mark.get("points") or 0)
    except (TypeError, ValueError):
        raise ValueError(f"{path}: the points of {name!r} are no number: {mark.get('points')!r}") from None
    if not 0 <= points < float("inf"):
        raise ValueError(f"{path}: {name!r} has {points:g} points")
    return points


def _installed(name: str) -> bool:
    """Whether a top-level module can be found, without importing it."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # `__main__` has no spec
        return False


def _sha256(path: Path) -> str:
    """Hash of a file; "" for one that cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
