"""Takes in what a student handed in, and rebuilds the notebook around the instructor's source.

`read` opens a file carefully (a regular file, no link, a size cap, UTF-8 with or without a byte order mark or UTF-16,
nbformat 3 or 4, or plain Python) and gives its cells. `rebuild` takes the answers out of them, by grade_id, else by the
names they define, else by likeness, and sets them into the instructor's cells. So a deleted, duplicated, edited or
retagged test changes nothing. Every repair is a note that the student gets to read.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading.course import Exercise, SourceCell, text_of, top_level_names
from grading.runner import PlanCell

MAX_BYTES = 20 << 20
LIKE = 0.6


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


@dataclass(frozen=True)
class Paper:
    """A submission set into the instructor's cells: what is run, what was repaired, the parts for a person."""

    cells: tuple[PlanCell, ...]
    notes: tuple[str, ...]
    manual: dict[str, str]


def read(path: Path) -> Submission:
    """Read a submission. Never raises for what a student can hand in: `problem` says what was wrong."""
    data = b""
    try:
        data = read_bytes(path)
        digest = hashlib.sha256(data).hexdigest()
        text = decode(data)
        if path.suffix == ".py":
            return Submission((StudentCell("", text, True),), digest, plain=True)
        return Submission(tuple(notebook_cells(text)), digest)
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
    with os.fdopen(descriptor, "rb") if stat.S_ISREG(os.fstat(descriptor).st_mode) else _refuse(descriptor) as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UnreadableError(f"The file is larger than {MAX_BYTES >> 20} MB; clear its outputs and hand it in again.")
    if not data.strip():
        raise UnreadableError("The file is empty.")
    return data


def _refuse(descriptor: int) -> Any:
    os.close(descriptor)
    raise UnreadableError("This is a folder or a device, not a file; hand in the notebook itself.")


def decode(data: bytes) -> str:
    """Text of UTF-8 (with or without a byte order mark) or UTF-16. Raises `UnreadableError`."""
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
    return text.replace("\r\n", "\n")


def notebook_cells(text: str) -> list[StudentCell]:
    """The cells of a notebook's JSON, nbformat 4 or 3. Raises `UnreadableError`."""
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableError(
            "The file is not a notebook: it is not JSON. It may have been cut off or renamed."
        ) from None
    raw: Any = None
    if isinstance(notebook, dict):
        raw = notebook.get("cells")
        if raw is None and isinstance(notebook.get("worksheets"), list):
            raw = [c for sheet in notebook["worksheets"] if isinstance(sheet, dict) for c in sheet.get("cells") or []]
    if not isinstance(raw, list):
        raise UnreadableError("The file is JSON but not a notebook: it has no cells.")
    cells = []
    for cell in raw:
        if isinstance(cell, dict):
            metadata = cell.get("metadata")
            mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
            name = mark.get("grade_id", "") if isinstance(mark, dict) else ""
            source = text_of(cell).encode("utf-8", "replace").decode()
            cells.append(StudentCell(name if isinstance(name, str) else "", source, cell.get("cell_type") == "code"))
    return cells


def rebuild(exercise: Exercise, submission: Submission) -> Paper:
    """Set the answers of a submission into the exercise's own cells."""
    if submission.plain:
        return _around_plain(exercise, submission.cells[0].source)
    notes: list[str] = []
    students = list(submission.cells)
    claimed: set[int] = set()
    chosen: dict[str, int] = {}
    for cell in exercise.cells:
        if cell.kind in ("answer", "manual"):
            where = [index for index, own in enumerate(students) if own.mark == cell.id]
            claimed.update(where)
            if where:
                chosen[cell.id] = _choose(cell, where, students, notes)
    for cell in exercise.answers:
        if cell.id not in chosen:
            index = _resembling(cell, exercise, students, claimed)
            if index is None:
                notes.append(f"The answer cell “{cell.id}” was missing; the empty one was graded in its place.")
            else:
                claimed.add(index)
                chosen[cell.id] = index
                notes.append(f"The answer cell “{cell.id}” had lost its label; cell {index + 1} was taken for it.")
    _note_tests(exercise, students, notes)
    extras = _extras(exercise, students, claimed, chosen)
    answers = {name: students[index].source for name, index in chosen.items()}
    cells: list[PlanCell] = []
    for position, cell in enumerate(exercise.cells):
        cells += _plan_cell(cell, answers.get(cell.id))
        cells += [
            PlanCell("extra", f"your cell {index + 1}", students[index].source) for index in extras.get(position, ())
        ]
    first = [PlanCell("extra", f"your cell {index + 1}", students[index].source) for index in extras.get(-1, ())]
    manual = {cell.id: answers.get(cell.id, "") for cell in exercise.manual}
    return Paper((*first, *cells), tuple(notes), manual)


def _around_plain(exercise: Exercise, source: str) -> Paper:
    """A plain Python file stands in the place of the first answer cell; the others are left out."""
    cells: list[PlanCell] = []
    placed = False
    for cell in exercise.cells:
        if cell.kind != "answer":
            cells += _plan_cell(cell, None)
        elif not placed:
            cells.append(PlanCell("answer", "your file", source, binds=exercise.names))
            placed = True
    return Paper(tuple(cells), (), {cell.id: "" for cell in exercise.manual})


def _plan_cell(cell: SourceCell, answer: str | None) -> list[PlanCell]:
    if cell.kind == "answer":
        return [PlanCell("answer", cell.id, cell.source if answer is None else answer, binds=cell.binds)]
    if cell.kind == "test":
        return [PlanCell("test", cell.id, cell.source, cell.points, cell.hidden)]
    return [PlanCell("setup", cell.id, cell.source, binds=top_level_names(cell.source))] if cell.kind == "setup" else []


def _choose(cell: SourceCell, where: list[int], students: list[StudentCell], notes: list[str]) -> int:
    """Of several cells with one label, the last that is no stub: what a run from top to bottom would leave."""
    written = [index for index in where if not is_stub(students[index].source, cell)]
    index = (written or where)[-1]
    if len(where) > 1:
        notes.append(
            f"The answer cell “{cell.id}” was there {len(where)} times; the last one with an answer was graded."
        )
    if cell.code and not students[index].code:
        notes.append(f"The answer cell “{cell.id}” had become a text cell; it was run as code.")
    return index


def is_stub(source: str, cell: SourceCell) -> bool:
    """Whether an answer is empty or still the stub, comments and the text of NotImplementedError aside."""
    return not source.strip() or _bare(source) == _bare(cell.source)


def _bare(source: str) -> list[str]:
    lines = [
        re.sub(r"raise NotImplementedError.*", "raise NotImplementedError", line.rstrip())
        for line in source.split("\n")
    ]
    return [line for line in lines if line and not line.lstrip().startswith("#")]


def _resembling(cell: SourceCell, exercise: Exercise, students: list[StudentCell], claimed: set[int]) -> int | None:
    """An unlabelled code cell that defines what this answer should, or that looks most like its stub."""
    known = {source.id for source in exercise.cells}
    free = [i for i, own in enumerate(students) if own.code and i not in claimed and own.mark not in known]
    defining = [i for i in free if set(cell.binds) & set(top_level_names(students[i].source))]
    if defining:
        return defining[-1]
    likeness = [(difflib.SequenceMatcher(None, students[i].source[:5000], cell.source[:5000]).ratio(), i) for i in free]
    best = max(likeness, default=(0.0, -1))
    return best[1] if best[0] >= LIKE else None


def _note_tests(exercise: Exercise, students: list[StudentCell], notes: list[str]) -> None:
    for cell in exercise.tests:
        same = [own for own in students if own.mark == cell.id]
        visible = _without(cell)
        if not same:
            notes.append(f"The test cell “{cell.id}” was missing; it was put back.")
        elif len(same) > 1:
            notes.append(f"The test cell “{cell.id}” was there {len(same)} times; it counts once.")
        elif same[0].source.strip() not in (visible.strip(), cell.source.strip()) or not same[0].code:
            notes.append(f"The test cell “{cell.id}” had been changed; the original was used.")


def _without(cell: SourceCell) -> str:
    """A test's visible part: what nbgrader leaves in the released notebook."""
    lines = cell.source.split("\n")
    hidden = {number for first, last in cell.hidden for number in range(first, last + 1)}
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in hidden)


def _extras(
    exercise: Exercise, students: list[StudentCell], claimed: set[int], chosen: dict[str, int]
) -> dict[int, list[int]]:
    """Code cells of the student's own, by the position of the instructor's cell they follow (-1: before the first)."""
    positions = {cell.id: position for position, cell in enumerate(exercise.cells)}
    by_index = {index: positions[name] for name, index in chosen.items()}
    texts = {
        cell.source.strip(): position for position, cell in enumerate(exercise.cells) if cell.kind in ("setup", "text")
    }
    tests = {_without(cell).strip() for cell in exercise.tests}
    after, extras = -1, dict[int, list[int]]()
    for index, own in enumerate(students):
        place = by_index.get(index, positions.get(own.mark) if index not in claimed else None)
        if place is None:
            place = texts.get(own.source.strip())
        if place is not None:
            after = place
        elif own.code and index not in claimed and own.source.strip() and own.source.strip() not in tests:
            extras.setdefault(after, []).append(index)
    return extras
