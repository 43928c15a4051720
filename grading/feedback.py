"""Feedback pages: one a submission, and an index of the class for the instructor.

A page says which property failed and the likely slip (the test's message), shows the student's own lines that an error
passed through, what was repaired in the notebook, and what the cells printed. It holds no test code, no hidden input
and no other student's name. Everything that a student wrote is escaped; the pages run no script and load nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from grading.course import Exercise
from grading.record import Record
from grading.verdict import WORDS, TestVerdict, Verdict, number, shown, what_stopped, which_ran

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
body {{ color: #1c1c1c; background: #fff; }}
h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.15rem; margin-top: 2rem; }}
table {{ border-collapse: collapse; width: 100%; }} caption {{ text-align: left; padding-bottom: .5rem; }}
th, td {{ text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #ccc; vertical-align: top; }}
th, td {{ overflow-wrap: anywhere; }} thead th {{ overflow-wrap: normal; white-space: nowrap; }}
.wide {{ overflow-x: auto; }} .wide td {{ overflow-wrap: normal; }}
.points {{ white-space: nowrap; }} .ok {{ color: #0a5c2f; }} .no {{ color: #8f1d14; }}
pre {{ background: #f4f4f4; padding: .5rem .75rem; overflow-x: auto; margin: .5rem 0 0; }}
@media (prefers-color-scheme: dark) {{
  body {{ color: #e8e8e8; background: #161616; }} pre {{ background: #262626; }} th, td {{ border-color: #555; }}
  .ok {{ color: #7fd6a0; }} .no {{ color: #ff9b90; }} a {{ color: #9ec5ff; }} }}
</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def feedback_page(exercise: Exercise, student: str, verdict: Verdict) -> str:
    """The page of one submission."""
    parts = [
        f"<h1>{escape(exercise.title)}</h1>",
        f"<p>{escape(student)}: <strong>{number(verdict.score)} of {number(verdict.max_score)} points</strong>.</p>",
    ]
    if verdict.headline:
        parts.append(f'<p class="{"ok" if verdict.full else "no"}">{escape(verdict.headline)}</p>')
    if verdict.stopped:
        parts.append("<h2>What stopped</h2>")
        parts += [f"<pre>{escape(what_stopped(cell))}</pre>" for cell in verdict.stopped]
    parts += ["<h2>Tests</h2>", _tests(verdict), f"<p>{escape(which_ran(verdict))}</p>"]
    if verdict.manual:
        items = "".join(
            f"<li>{escape(part.id)}: up to {number(part.max_points)} points</li>" for part in verdict.manual
        )
        parts.append(f"<h2>Graded by a person</h2><ul>{items}</ul>")
    if verdict.notes:
        parts.append(
            "<h2>Notes on the notebook</h2><ul>" + "".join(f"<li>{escape(n)}</li>" for n in verdict.notes) + "</ul>"
        )
    printed = [cell for cell in verdict.cells if cell.printed.strip()]
    if printed:
        parts.append("<h2>What your cells printed</h2>")
        parts += [f"<p>{escape(cell.id)}</p><pre>{escape(cell.printed)}</pre>" for cell in printed]
    return PAGE.format(title=escape(f"{exercise.title}: {student}"), body="\n".join(parts))


def _tests(verdict: Verdict) -> str:
    """The table of the tests; what the headline says is not said again in each row."""
    rows = "".join(_row(test, verdict.headline) for test in verdict.tests)
    head = '<tr><th scope="col">Test</th><th scope="col">Points</th><th scope="col">What it found</th></tr>'
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _row(test: TestVerdict, headline: str) -> str:
    colour = "ok" if test.status == "ok" else "no"
    found = f'<span class="{colour}">{WORDS[test.status]}</span>'
    if test.message not in ("", headline):
        found += f"<br>{escape(test.message)}".replace("\n", "<br>")
    if test.lines:
        found += f"<pre>{escape(chr(10).join(map(shown, test.lines)))}</pre>"
    points = f"{number(test.points)} / {number(test.max_points)}"
    return f'<tr><th scope="row">{escape(test.id)}</th><td class="points">{points}</td><td>{found}</td></tr>'


def index_page(exercises: Sequence[Exercise], students: Sequence[tuple[str, str]], records: Sequence[Record]) -> str:
    """The class at a glance: students (id, name) down, exercises across, each mark a link to its page."""
    found = {(record.student, record.verdict.exercise): record for record in records}
    head = "".join(f'<th scope="col">{escape(exercise.key)}</th>' for exercise in exercises)
    rows = []
    for student, name in students:
        cells = []
        for exercise in exercises:
            record = found.get((student, exercise.key))
            if record is None:
                cells.append("<td>none</td>")
                continue
            verdict = record.verdict
            colour = "ok" if verdict.full else "no"
            link = quote(f"{student}/{exercise.assignment}/{exercise.name}.html")
            mark = f"{number(verdict.score)} / {number(verdict.max_score)}"
            cells.append(f'<td class="points"><a class="{colour}" href="{link}">{mark}</a></td>')
        rows.append(f'<tr><th scope="row">{escape(name or student)}</th>{"".join(cells)}</tr>')
    top = f'<thead><tr><th scope="col">Student</th>{head}</tr></thead>'
    table = f'<div class="wide"><table>{top}<tbody>{"".join(rows)}</tbody></table></div>'
    return PAGE.format(title="Marks and feedback", body=f"<h1>Marks and feedback</h1>\n{table}")


def page_path(folder: Path, exercise: Exercise, student: str) -> Path:
    """Where nbgrader keeps the feedback on one submission."""
    return folder / student / exercise.assignment / f"{exercise.name}.html"


def write_page(folder: Path, exercise: Exercise, student: str, verdict: Verdict, name: str = "") -> Path:
    """Write the page of one submission; gives its path."""
    path = page_path(folder, exercise, student)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(feedback_page(exercise, name or student, verdict), encoding="utf-8", errors="replace")
    return path
