"""A rebuilt notebook as plain Python, with what that leaves out said in few words; and notes kept to a readable few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grading.magics import plain
from grading.running.plan import PlanCell
from grading.submission.opening import shown

MAX_LINES = 8
MAX_LISTED = 8
MAX_NOTES = 40


def as_python(cells: Sequence[PlanCell]) -> tuple[tuple[PlanCell, ...], list[str]]:
    """All cells as plain Python, and notes on what that leaves out of the student's."""
    made, parts, whole = [], [], []
    for cell in cells:
        python = plain(cell.source)
        made.append(replace(cell, source=python.text) if python.text != cell.source else cell)
        if cell.own and python.whole:
            whole.append(f"{_where(cell)} (%%{shown(python.magic)})")
        elif cell.own and (python.lines or python.magic):
            lines = ["the first line"] if python.magic else []
            lines += [f"line {number}" for number in python.lines[:MAX_LINES]]
            more = [f"{len(python.lines) - MAX_LINES} more"] if len(python.lines) > MAX_LINES else []
            parts.append(f"{_where(cell)} ({', '.join(lines + more)})")
    notes = []
    if parts:
        notes.append(f"What only a notebook understands (magic, shell and help lines) was left out: {_listed(parts)}.")
    if whole:
        notes.append(f"Cells that are no Python were left out: {_listed(whole)}.")
    return tuple(made), notes


def _where(cell: PlanCell) -> str:
    return cell.id if cell.id.startswith("your ") else f"“{shown(cell.id)}”"


def _listed(items: Sequence[str]) -> str:
    return "; ".join([*items[:MAX_LISTED], *([f"{len(items) - MAX_LISTED} more"] if len(items) > MAX_LISTED else [])])


def few(notes: Sequence[str]) -> tuple[str, ...]:
    """Notes without repetition, and not more than anybody reads."""
    notes = list(dict.fromkeys(notes))
    left = len(notes) - MAX_NOTES
    return (*notes[:MAX_NOTES], f"And {left} more notes like these.") if left > 0 else tuple(notes)
