"""The feedback page of one submission.

It says which property failed and the likely slip (the test's message), shows the student's own lines that an error
passed through, what was repaired in the notebook, and what the cells printed. It holds no test code, no hidden input
and no other student's name: everything on it comes from the verdict, and what the verdict says to the student comes
from a process that was never sent a hidden input.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from grading.course import Exercise
from grading.overview import index_page, write_index
from grading.pages import page, text
from grading.verdict import WORDS, TestVerdict, Verdict, number, shown, what_stopped, which_ran

__all__ = ["feedback_page", "index_page", "page_path", "write_index", "write_page"]

LOOK = """The grader saw something that a person has to look at. Until then the tests above that it concerns count as \
nothing; if you can explain it, tell your instructor."""


def feedback_page(exercise: Exercise, student: str, verdict: Verdict) -> str:
    """The page of one submission."""
    parts = [
        f"<h1>{text(exercise.title)}</h1>",
        f"<p>{text(student)}: <strong>{number(verdict.score)} of {number(verdict.max_score)} points</strong>.</p>",
    ]
    if verdict.headline:
        parts.append(f'<p class="{"ok" if verdict.full else "no"}">{text(verdict.headline)}</p>')
    if verdict.stopped:
        parts.append("<h2>What stopped</h2>")
        parts += [f"<pre>{text(what_stopped(cell))}</pre>" for cell in verdict.stopped]
    parts.append("<h2>Tests</h2>")
    if verdict.tests:
        parts.append(_list((_test(test, verdict.headline) for test in verdict.tests), "tests"))
    if "suspicious" in (verdict.status, *(test.status for test in verdict.tests)):
        parts.append(f'<p class="look">{LOOK}</p>')
    parts.append(f"<p>{text(which_ran(verdict))}</p>")
    if verdict.manual:
        asked = (f"<li>{text(part.id)}: up to {number(part.max_points)} points</li>" for part in verdict.manual)
        parts += ["<h2>Graded by a person</h2>", _list(asked)]
    if verdict.notes:
        parts += ["<h2>Notes on the notebook</h2>", _list(f"<li>{text(note)}</li>" for note in verdict.notes)]
    printed = [cell for cell in verdict.cells if cell.own and cell.printed.strip()]
    if printed:
        parts.append("<h2>What your cells printed</h2>")
        parts += [f"<p>{text(cell.id)}</p><pre>{text(cell.printed)}</pre>" for cell in printed]
    return page(f"{exercise.title}: {student}", "\n".join(parts))


def _list(items: Iterable[str], kind: str = "") -> str:
    return f"<ul{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{''.join(items)}</ul>"


def _test(test: TestVerdict, headline: str) -> str:
    """One test; what the headline says is not said again at each."""
    colour = {"ok": "ok", "suspicious": "look"}.get(test.status, "no")
    parts = [
        f'<span class="points">{number(test.points)} of {number(test.max_points)}</span>'
        f'<h3>{text(test.id)}</h3> <span class="{colour}">{WORDS[test.status]}</span>'
    ]
    if test.message not in ("", headline):
        parts.append(f"<p>{text(test.message)}</p>")
    if test.lines:
        parts.append(f"<pre>{text(chr(10).join(map(shown, test.lines)))}</pre>")
    return f"<li>{''.join(parts)}</li>"


def page_path(folder: Path, exercise: Exercise, student: str) -> Path:
    """Where nbgrader keeps the feedback on one submission."""
    return folder / student / exercise.assignment / f"{exercise.name}.html"


def write_page(folder: Path, exercise: Exercise, student: str, verdict: Verdict, name: str = "") -> Path:
    """Write the page of one submission; gives its path."""
    path = page_path(folder, exercise, student)
    home = folder / student
    if home.is_file():  # a student goes by the name of the index: the index moves out of the way
        home.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(feedback_page(exercise, name or student, verdict), encoding="utf-8", errors="replace")
    return path
