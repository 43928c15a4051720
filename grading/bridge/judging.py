"""In the place of nbgrader's `Execute` and `SaveAutoGrades`: the verdict written into the notebook and the gradebook.

For each test the notebook gets exactly the outputs that nbgrader reads a score from (`nbgrader.utils.determine_grade`):
none of these for full marks, an error for nothing, a number as the result of the cell for a part of the points. So
whatever else of nbgrader's asks the notebook gets the grader's answer. The texts are those of the feedback page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades

from grading.gradebook import Book
from grading.verdict import WORDS, TestVerdict, Verdict, number, shown, unguarded, what_stopped, which_ran
from grading.visible import visible

Node = Any  # nbformat has no types
v4: Any = nbformat.v4
PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


class JudgeInstead(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Judges a submission and writes into its notebook what was found."""

    def preprocess(self, nb: Node, resources: dict[str, Any]) -> tuple[Node, dict[str, Any]]:
        """Write the verdict on the submission that nbgrader is at into its rebuilt notebook."""
        _, record = self.parent.verdict(resources)
        write_outputs(nb, record.verdict)
        return nb, resources


class SaveVerdict(SaveAutoGrades):  # type: ignore[misc]  # nbgrader has no types
    """Enters the verdict into the gradebook by the one writer into it; a gradebook in another database than SQLite gets
    what nbgrader reads from the notebook."""

    def preprocess(self, nb: Node, resources: dict[str, Any]) -> tuple[Node, dict[str, Any]]:
        """Enter a score for every test of the submission that nbgrader is at."""
        exercise, record = self.parent.verdict(resources)
        database: Path | None = self.parent.run.database
        if database is None:
            return super().preprocess(nb, resources)  # type: ignore[no-any-return]
        time, _ = self.parent.run.submitted_at(record.student, exercise)
        exercises = self.parent.run.exercises[exercise.assignment].values()
        with Book(database, exercises, hashes=self.parent.run.course.build / "entered") as book:
            book.write(record.student, record.verdict, {(record.student, exercise.assignment): time})
        return nb, resources


def write_outputs(notebook: Node, verdict: Verdict) -> None:
    """Put the outputs of each test and each cell into a rebuilt notebook, and a summary at its head."""
    tests = {test.id: test for test in verdict.tests}
    runs = {cell.id: cell for cell in verdict.cells}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        mark = cell.metadata.get("nbgrader", {})
        cell.outputs, cell.execution_count = [], None
        if mark.get("grade") and not mark.get("solution"):
            cell.outputs = test_outputs(tests.get(mark["grade_id"]), float(mark["points"]))
        elif mark.get("grade_id") in runs:
            run = runs[mark["grade_id"]]
            cell.outputs = _stream(run.printed)
            if run.own and run.error is not None and not run.error.not_attempted:
                cell.outputs.append(_error(run.error.type, what_stopped(run)))
    notebook.cells.insert(0, v4.new_markdown_cell(summary(verdict)))


def test_outputs(test: TestVerdict | None, points: float) -> list[Node]:
    """The outputs of a test cell worth `points`; a test that the verdict lacks is worth nothing."""
    if test is None:
        return [_error("not_attempted", "This test was not run.")]
    said = "\n".join([test.message or WORDS[test.status], *map(shown, test.lines)])
    if test.points >= points and (test.status == "ok" or points > 0):
        return [] if test.status == "ok" and not test.message else _stream(f"{said}\n")
    if test.points <= 0:
        return [_error(test.status, said)]
    result = v4.new_output("execute_result", {"text/plain": repr(float(test.points))})
    return [*_stream(f"{said}\n"), result]


test_outputs.__test__ = False  # type: ignore[attr-defined]  # the name is no invitation to pytest


def summary(verdict: Verdict) -> str:
    """The mark, why it is what it is, and what was repaired, as Markdown in which nothing of a student's acts."""
    mark = f"**{number(verdict.score)} of {number(verdict.max_score)} points**"
    said = [verdict.headline, unguarded(verdict), which_ran(verdict)]
    notes = [f"* {plain(note)}" for note in verdict.notes]
    return "\n\n".join([mark, *map(plain, filter(None, said)), *(["\n".join(notes)] if notes else [])])


def plain(text: str) -> str:
    """A text that Markdown shows letter by letter, on one line."""
    return PUNCTUATION.sub(r"\\\1", " ".join(visible(text).split()))


def _stream(text: str) -> list[Node]:
    return [v4.new_output("stream", name="stdout", text=visible(text))] if text.strip() else []


def _error(kind: str, text: str) -> Node:
    shown_text = visible(text)
    first = shown_text.split("\n")[0]
    return v4.new_output("error", ename=visible(kind), evalue=first, traceback=shown_text.split("\n"))
