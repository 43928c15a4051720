"""The instructor's cells as they were given out, and whether an answer is still what was given."""

from __future__ import annotations

import re

from grading.course import SourceCell
from grading.course.notebook import without_lines


def given(cell: SourceCell) -> str:
    """The text of an instructor's cell as it was given out."""
    return without_lines(cell.source, cell.hidden_lines).strip()


def is_stub(source: str, cell: SourceCell) -> bool:
    """Whether an answer is empty or still the stub, comments and the text of NotImplementedError aside."""
    return not source.strip() or bare(source) == bare(cell.source)


def bare(source: str) -> tuple[str, ...]:
    """The lines of a text that say something: no empty ones, no comments, no words of NotImplementedError."""
    lines = [
        re.sub(r"raise NotImplementedError.*", "raise NotImplementedError", line.rstrip())
        for line in source.split("\n")
    ]
    return tuple(line for line in lines if line and not line.lstrip().startswith("#"))
