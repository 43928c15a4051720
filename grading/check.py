"""One verdict for the one who wrote the answer: for reading, or as JSON for a program."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console

from grading.verdict import WORDS, Verdict, number, shown, what_stopped, which_ran


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
    said = [verdict.message, *map(what_stopped, verdict.stopped), *_notes(verdict), which_ran(verdict)]
    print("\n".join(line for line in said if line), file=sys.stderr)


def print_verdict(title: str, verdict: Verdict) -> None:
    """The result for reading: the mark, what was repaired and what stopped once each, then test by test."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(f"{title}: {number(verdict.score)} of {number(verdict.max_score)} points", style="bold")
    if verdict.headline:
        console.print(verdict.headline, style="green" if verdict.full else "red")
    for cell in verdict.stopped:
        console.print(what_stopped(cell), style="red")
    for line in _notes(verdict):
        console.print(line, style="yellow")
    for test in verdict.tests:
        style = "green" if test.status == "ok" else "red"
        mark = f"{number(test.points):>4} / {number(test.max_points):<4}"
        console.print(f"{mark} {test.id}: {WORDS[test.status]}", style=style)
        if test.message not in ("", verdict.headline):
            console.print(f"            {test.message}")
        for passed in test.lines:
            console.print(f"            {shown(passed)}")
    console.print(which_ran(verdict))


def _notes(verdict: Verdict) -> list[str]:
    """What was repaired, and what the grader said when it failed."""
    fault = [f"The grader failed: {verdict.fault}"] if verdict.fault else []
    return [*(f"Note: {note}" for note in verdict.notes), *fault]
