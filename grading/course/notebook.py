"""nbgrader's notebook format, as far as grading needs it: a cell's text and label, stubs, hidden parts.

The rules are those of nbgrader's metadata (schema 3) and of its preprocessors ClearSolutions and ClearHiddenTests.
Files come from the instructor and from students alike, so nothing here takes a field's type for granted.
"""

from __future__ import annotations

from typing import Any

CODE_STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
TEXT_STUB = "YOUR ANSWER HERE"


def text_of(cell: dict[str, Any]) -> str:
    """A cell's text, stored as one string or as a list of lines; nbformat 3 calls a code cell's text `input`."""
    text = cell.get("source", cell.get("input", ""))
    if isinstance(text, list):
        text = "".join(part for part in text if isinstance(part, str))
    return text.replace("\r\n", "\n").replace("\r", "\n") if isinstance(text, str) else ""


def mark_of(cell: dict[str, Any]) -> dict[str, Any]:
    """nbgrader's part of a cell's metadata; {} where there is none."""
    metadata = cell.get("metadata")
    mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return mark if isinstance(mark, dict) else {}


def grade_id(cell: dict[str, Any]) -> str:
    """The label of a cell, or ""."""
    name = mark_of(cell).get("grade_id")
    return name if isinstance(name, str) else ""


def clear_solution(source: str, code: bool = True) -> str:
    """The stub that nbgrader would make: the marked region, or else the whole cell, becomes its default stub."""
    stub = CODE_STUB if code else TEXT_STUB
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


def hidden_ranges(source: str) -> tuple[tuple[int, int], ...]:
    """First and last lines (from 1) of each hidden part, the markers included; one without an end reaches to the
    end."""
    lines = source.split("\n")
    ranges, first = [], 0
    for number, line in enumerate(lines, 1):
        if "BEGIN HIDDEN TESTS" in line:
            first = first or number
        elif "END HIDDEN TESTS" in line and first:
            ranges.append((first, number))
            first = 0
    return (*ranges, (first, len(lines))) if first else tuple(ranges)


def without_lines(source: str, ranges: tuple[tuple[int, int], ...]) -> str:
    """A text without some ranges of lines: what nbgrader leaves of a test in the released notebook."""
    left_out = {number for first, last in ranges for number in range(first, last + 1)}
    return "\n".join(line for number, line in enumerate(source.split("\n"), 1) if number not in left_out)
