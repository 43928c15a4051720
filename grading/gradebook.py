"""The one writer into nbgrader's gradebook.

It writes every cell of the source, so a test that a submission lost is an explicit zero, and it writes every test's
score anew each time, so none survives from an earlier hand-in. A mark that a person has given is left alone and flagged
for review, as nbgrader itself does. A student whose file is gone loses the entry.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from nbgrader.api import BaseCell, Comment, Grade, Gradebook, MissingEntry
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from grading.course import Exercise, SourceCell
from grading.verdict import Verdict


class Book:
    """nbgrader's gradebook for one course, opened for writing (a context manager)."""

    def __init__(self, database: Path, exercises: Iterable[Exercise]) -> None:
        """Open a gradebook, a new one where there is none, and enter the exercises.

        Raises `ValueError` that names the file when it cannot be opened or is locked.
        """
        database.parent.mkdir(parents=True, exist_ok=True)
        here = str(Path(sys.executable).parent)  # nbgrader runs `alembic` by its bare name
        if here not in os.environ.get("PATH", "").split(os.pathsep):
            os.environ["PATH"] = f"{here}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        self.exercises = {exercise.key: exercise for exercise in exercises}
        try:
            self.book = Gradebook(f"sqlite:///{database.resolve()}")
            for exercise in self.exercises.values():
                self._describe(exercise)
        except SQLAlchemyError as problem:
            reason = getattr(problem, "orig", None) or problem
            raise ValueError(
                f"gradebook: {database} cannot be written ({reason}); the records are kept, so grading again is quick"
            ) from problem

    def __enter__(self) -> Book:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.book.close()

    def add_student(self, student: str, name: str = "") -> None:
        """Enter a student; a name is given as "Last, First" or in one piece."""
        last, _, first = name.partition(", ")
        names = {"last_name": last, "first_name": first} if name else {}
        self.book.update_or_create_student(student, **names)

    def write(self, student: str, verdict: Verdict) -> None:
        """Write one verdict: a score for every test, a flag for every part that a person grades."""
        exercise = self.exercises[verdict.exercise]
        with warnings.catch_warnings():  # nbgrader builds a submission before it adds it to the session, and says so
            warnings.simplefilter("ignore", SAWarning)
            self.book.update_or_create_submission(exercise.assignment, student)
        notebook = self.book.find_submission_notebook(exercise.name, exercise.assignment, student)
        scores = {test.id: test for test in verdict.tests}
        answers = {part.id: part.answer for part in verdict.manual}
        grades = {grade.name: grade for grade in notebook.grades}
        for cell in exercise.cells:
            if cell.kind not in ("test", "manual"):
                continue
            grade = grades.get(cell.id)
            if grade is None:
                base = self.book.find_graded_cell(cell.id, exercise.name, exercise.assignment)
                grade = Grade(cell_id=base.id, notebook=notebook)
                self.book.db.add(grade)
            if cell.kind == "test":
                test = scores.get(cell.id)
                grade.auto_score = test.points if test else 0.0
                failed = test is not None and test.status == "grader_error"
                grade.needs_manual_grade = grade.manual_score is not None or failed
            else:
                blank = answers.get(cell.id, "").strip() in ("", cell.source.strip())
                grade.auto_score = 0.0 if blank and cell.solution else None
                grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        by_answer = _messages(exercise, verdict)
        for comment in notebook.comments:
            comment.auto_comment = by_answer.get(comment.name) or None
        self.book.db.commit()

    def remove(self, student: str, exercise: Exercise) -> None:
        """Take out the entry of a student who has handed in nothing (any more)."""
        with contextlib.suppress(MissingEntry):
            self.book.remove_submission(exercise.assignment, student)

    def rows(self) -> list[dict[str, Any]]:
        """What the gradebook says, one row a student and notebook: student, exercise, score, max_score."""
        rows = []
        for exercise in self.exercises.values():
            for row in self.book.notebook_submission_dicts(exercise.name, exercise.assignment):
                mark = {name: row[name] for name in ("student", "score", "max_score")}
                rows.append({**mark, "exercise": exercise.key})
        return rows

    def _describe(self, exercise: Exercise) -> None:
        """Enter an assignment, its notebook and its cells; cells that the source no longer has go."""
        book, where = self.book, (exercise.name, exercise.assignment)
        book.update_or_create_assignment(exercise.assignment)
        notebook = book.update_or_create_notebook(*where, kernelspec=json.dumps(exercise.kernel))
        graded = {cell.id: cell for cell in exercise.cells if cell.kind in ("test", "manual")}
        answers = {
            cell.id for cell in exercise.cells if cell.kind == "answer" or (cell.kind == "manual" and cell.solution)
        }
        kept = {
            "grade_cells": graded.keys(),
            "solution_cells": answers,
            "source_cells": {cell.id for cell in exercise.cells},
        }
        for kind, names in kept.items():
            for old in list(getattr(notebook, kind)):
                if old.name not in names:
                    if isinstance(old, BaseCell):
                        book.db.query(Grade).filter(Grade.cell_id == old.id).delete()
                        book.db.query(Comment).filter(Comment.cell_id == old.id).delete()
                    book.db.delete(old)
        book.db.commit()
        for name, cell in graded.items():
            book.update_or_create_grade_cell(name, *where, max_score=cell.points, cell_type=_type(cell))
        for name in answers:
            book.update_or_create_solution_cell(name, *where)
        for cell in exercise.cells:
            if not cell.id.startswith("cell-"):
                book.update_or_create_source_cell(
                    cell.id, *where, cell_type=_type(cell), locked=cell.locked, source=cell.source
                )


def _type(cell: SourceCell) -> str:
    return "code" if cell.code else "markdown"


def _messages(exercise: Exercise, verdict: Verdict) -> dict[str, str]:
    """What to say at each answer cell: the messages of the tests between it and the next answer."""
    tests = {test.id: test for test in verdict.tests}
    said: dict[str, list[str]] = {}
    answer = next((cell.id for cell in exercise.answers), "")
    for cell in exercise.cells:
        if cell.kind == "answer":
            answer = cell.id
        elif cell.kind == "test" and cell.id in tests and tests[cell.id].message:
            said.setdefault(answer, []).append(f"{cell.id}: {tests[cell.id].message}")
    return {name: "\n".join(lines) for name, lines in said.items()}
