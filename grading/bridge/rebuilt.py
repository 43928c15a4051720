"""The notebook that people look at in formgrader and in nbgrader's feedback: the instructor's cells with the student's
answers, as a rebuilt submission runs.

It goes to the student with the feedback, so it holds no hidden part of a test. It is opened in the instructor's
browser, so what a student wrote as text is cleaned of HTML that acts and of links. Outputs are not the student's: the
judge writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors.sanitize import SanitizeHTML
from nbgrader.utils import compute_checksum

from grading.course import Exercise, SourceCell
from grading.course.notebook import hidden_ranges, without_lines
from grading.submission import Submission, rebuild
from grading.submission.rebuilding import Paper
from grading.visible import visible

HIDDEN = "# What stands here is not shown."
SCHEME = re.compile(r"^[^\n]*BEGIN MARK SCHEME.*?(?:END MARK SCHEME[^\n]*\n?|\Z)", re.DOTALL | re.MULTILINE)
PYTHON = {"name": "python3", "display_name": "Python 3", "language": "python"}
Node = Any  # nbformat has no types
v4: Any = nbformat.v4
read_notebook: Any = nbformat.read
from_dict: Any = nbformat.from_dict
sanitizer: Any = SanitizeHTML


def rebuilt(exercise: Exercise, submission: Submission, source: Path, released: Path) -> Node:
    """A notebook of nbformat 4 for one submission: the labels of the source, texts of the released notebook. Either
    file may be absent, not both; without the released one, what is for the instructor's eyes is left out of the
    source's texts."""
    paper = Paper((), (), {}) if submission.problem or submission.suspicion else rebuild(exercise, submission)
    given = Given(_labelled(released), _labelled(source if source.is_file() else released))
    cells = [_cell(cell, text, given) for cell, text in _in_order(exercise, paper)]
    return v4.new_notebook(cells=cells, metadata={"kernelspec": dict(exercise.kernel) or PYTHON})


@dataclass(frozen=True)
class Given:
    """Cells of the instructor's notebooks by their labels."""

    released: dict[str, Node]
    source: dict[str, Node]


def _labelled(path: Path) -> dict[str, Node]:
    """The labelled cells of a notebook; {} when there is none."""
    if not path.is_file():
        return {}
    cells = read_notebook(path, as_version=4).cells
    return {cell.metadata["nbgrader"].get("grade_id", ""): cell for cell in cells if "nbgrader" in cell.metadata}


def _in_order(exercise: Exercise, paper: Paper) -> Iterator[tuple[SourceCell | None, str | None]]:
    """The instructor's cells with what the student put there (None: nothing), and cells of the student's own."""
    waiting = list(exercise.cells)
    plain = {cell.id for cell in paper.cells} - {cell.id for cell in exercise.cells}
    for cell in paper.cells:
        if cell.kind == "extra" or cell.id in plain:
            yield None, cell.source
            continue
        while waiting and waiting[0].id != cell.id:
            yield waiting[0], paper.manual.get(waiting.pop(0).id)
        yield waiting.pop(0), cell.source if cell.kind == "answer" else None
    for left in waiting:
        yield left, paper.manual.get(left.id)


def _cell(cell: SourceCell | None, handed_in: str | None, given: Given) -> Node:
    if cell is None:
        return v4.new_code_cell(visible(handed_in or ""))
    stub = str(given.released[cell.id].source) if cell.id in given.released else _without_secrets(cell.source)
    blank = handed_in is None or handed_in.strip() in ("", cell.source.strip(), stub.strip())
    make = v4.new_code_cell if cell.code else v4.new_markdown_cell
    made = make(stub if blank else (visible if cell.code else harmless)(handed_in or ""))
    if cell.id in given.source:
        mark = from_dict(dict(given.source[cell.id].metadata["nbgrader"]))
        made.metadata["nbgrader"] = mark
        mark["checksum"] = compute_checksum(make(stub, metadata={"nbgrader": mark}))  # "No response" where it agrees
    return made


def _without_secrets(text: str) -> str:
    """An instructor's text without hidden tests and without the scheme for marking it."""
    text = SCHEME.sub("", text)
    ranges = hidden_ranges(text)
    return f"{without_lines(text, ranges).rstrip()}\n{HIDDEN}" if ranges else text


def harmless(text: str) -> str:
    """A student's prose for an instructor's browser: no HTML that acts, no link, no picture from elsewhere."""
    cleaned: str = sanitizer(strip=False).sanitize_html_tags(visible(text))
    return re.sub(r"\](?=[(:\[])", "] ", cleaned)
