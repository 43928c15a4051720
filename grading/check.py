"""One verdict for the one who wrote the answer: for reading, or as JSON for a program.

What the student's code printed or raised is in these texts, so each is made visible before it reaches a terminal, and a
text of several lines is set in as a whole: none can pass for a line of the grader's.
"""

from __future__ import annotations

import json
import sys
from textwrap import indent
from typing import Any

from rich.console import Console

from grading.verdict import WORDS, Verdict, number, shown, unguarded, what_stopped, which_ran
from grading.visible import visible

DEEP = " " * 12


def as_json(verdict: Verdict) -> dict[str, Any]:
    """The result that `check --json` prints; other programs rely on these keys and no others."""
    tests = [
        {"id": t.id, "points": t.points, "max_points": t.max_points, "status": t.status, "message": t.message}
        for t in verdict.tests
    ]
    return {"exercise": verdict.exercise, "score": verdict.score, "max_score": verdict.max_score, "tests": tests}


def print_json(verdict: Verdict) -> None:
    """The result to the output; to the error output what its keys have no place for."""
    print(json.dumps(as_json(verdict), ensure_ascii=True, indent=2))
    said = [verdict.message, *map(what_stopped, verdict.stopped), *_notes(verdict), *_ends(verdict)]
    print("\n".join(_block(line) for line in said if line), file=sys.stderr)


def print_verdict(title: str, verdict: Verdict) -> None:
    """The result for reading: the mark, what was repaired and what stopped once each, then test by test."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(f"{_line(title)}: {number(verdict.score)} of {number(verdict.max_score)} points", style="bold")
    if verdict.headline:
        console.print(_block(verdict.headline), style="green" if verdict.full else "red")
    for cell in verdict.stopped:
        console.print(_block(what_stopped(cell)), style="red")
    for line in _notes(verdict):
        console.print(_block(line), style="yellow")
    for test in verdict.tests:
        style = "green" if test.status == "ok" else "red"
        mark = f"{number(test.points):>4} / {number(test.max_points):<4}"
        console.print(f"{mark} {_line(test.id)}: {WORDS[test.status]}", style=style)
        if test.message not in ("", verdict.headline):
            console.print(indent(visible(test.message), DEEP, lambda line: True))
        for passed in test.lines:
            console.print(f"{DEEP}{_line(shown(passed))}")
    for line in _ends(verdict):
        console.print(_block(line))


def _line(text: str) -> str:
    """A text that stays on one line."""
    return visible(text.replace("\n", " "))


def _block(text: str) -> str:
    """A text of which all lines but the first are set in."""
    first, *more = visible(text).split("\n")
    return "\n".join([first, *(line if line.startswith("    ") else f"    {line}" for line in more)])


def _ends(verdict: Verdict) -> list[str]:
    return [line for line in (unguarded(verdict), which_ran(verdict)) if line]


def _notes(verdict: Verdict) -> list[str]:
    """What was repaired, and what the grader said when it failed."""
    fault = [f"The grader failed: {verdict.fault}"] if verdict.fault else []
    return [*(f"Note: {note}" for note in verdict.notes), *fault]
