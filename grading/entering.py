"""Takes in the records of a class as they come: a page for each, and in chunks the gradebook.

Nothing of a record stays but its entry in the overview. A gradebook that is locked or damaged stops nothing: it is left
alone from then on, pages are written all the same, and the records are kept, so that a later run enters them.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from grading.course import Course, Exercise
from grading.export import Marks
from grading.feedback import page_path, write_page
from grading.judge import without_run
from grading.lateness import Penalty, submitted_at
from grading.overview import Entry, entry_of
from grading.record import Record
from grading.verdict import Verdict

if TYPE_CHECKING:
    from grading.gradebook import Book

CHUNK = 250
WAIT = 10.0  # seconds for another program to leave the gradebook
NOT_HANDED_IN = "This notebook was not handed in."


class GradebookError(ValueError):
    """The gradebook could not be written; the text says why. The records are kept."""


class Entries:
    """Where the records of a class go (a context manager). `index`: what the overview needs of each; `seconds`: spent
    so far on the gradebook and on pages; `notes`: what the instructor should know; `waiting`: what the
    gradebook, in the end, asks a person to mark, by student and exercise."""

    def __init__(
        self,
        course: Course,
        exercises: Sequence[Exercise],
        names: Mapping[str, str],
        folders: Mapping[tuple[str, str], Path] | None = None,
    ) -> None:
        """`names`: every student of the class, with a name or ""; `folders`: where each has handed in an assignment,
        by student and assignment."""
        self.course, self.names, self.folders = course, names, folders or {}
        self.notes: list[str] = []
        self.waiting: set[tuple[str, str]] = set()
        self.exercises = {exercise.key: exercise for exercise in exercises}
        self.index: dict[tuple[str, str], Entry] = {}
        self.seconds = {"gradebook": 0.0, "feedback": 0.0}
        self._book: Book | None = None
        self._waiting: list[tuple[str, Verdict]] = []
        self._problem: GradebookError | None = None

    def __enter__(self) -> Entries:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Enter what was added, also when the run is stopped."""
        try:
            self._enter()
        finally:
            if self._book is not None:
                self._book.__exit__(kind, value, trace)

    def get_ready(self) -> None:
        """Load what the gradebook needs, and open it: both take a second, in which workers get ready as well. One that
        cannot be opened now may be when there is something to write."""
        from sqlalchemy.exc import SQLAlchemyError

        import grading.gradebook  # noqa: F401

        gc.freeze()  # so much stays loaded that to look through it again and again would take a second too
        start = time.perf_counter()
        with contextlib.suppress(ValueError, OSError, SQLAlchemyError):
            self._opened()
        self.seconds["gradebook"] += time.perf_counter() - start

    def add(self, record: Record) -> None:
        """Take in one record."""
        key = record.student, record.verdict.exercise
        self.index[key] = entry_of(record)
        start = time.perf_counter()
        exercise = self.exercises[record.verdict.exercise]
        write_page(self.course.feedback, exercise, record.student, record.verdict, self.names.get(record.student, ""))
        self.seconds["feedback"] += time.perf_counter() - start
        self._waiting.append((record.student, record.verdict))
        if len(self._waiting) >= CHUNK:
            self._enter()

    def finish(self) -> Marks:
        """Take out of the gradebook and the pages what is not handed in (any more); gives the marks that the gradebook
        then has. Raises `GradebookError` when it could not be written, now or before."""
        start = time.perf_counter()
        for student in self.names:
            for key, exercise in self.exercises.items():
                if (student, key) not in self.index:
                    page_path(self.course.feedback, exercise, student).unlink(missing_ok=True)
        self.seconds["feedback"] += time.perf_counter() - start
        self._enter()
        marks: dict[tuple[str, str], float] = {}

        def withdraw(book: Book) -> None:
            self._withdraw(book)
            book.penalise(Penalty(self.course.root / "nbgrader_config.py"))
            marks.update(book.marks())
            self.waiting = book.waiting()

        self._write(withdraw)
        if self._problem is not None:
            raise self._problem
        return marks

    def _withdraw(self, book: Book) -> None:
        """nbgrader enters whole assignments: a notebook that is missing from one is worth nothing, one of which nothing
        is there goes."""
        handed_in = {(student, self.exercises[key].assignment) for student, key in self.index}
        gone = book.entries() - handed_in
        for student, assignment in gone:  # students whose whole folder is gone are known from here alone
            for exercise in self.exercises.values():
                if exercise.assignment == assignment:
                    page_path(self.course.feedback, exercise, student).unlink(missing_ok=True)
        book.remove_many(gone)
        book.write_many(
            (student, without_run(exercise, "not_attempted", NOT_HANDED_IN))
            for student in self.names
            for key, exercise in self.exercises.items()
            if (student, key) not in self.index and (student, exercise.assignment) in handed_in
        )

    def _enter(self) -> None:
        """Write what waits into the gradebook."""
        waiting, self._waiting = self._waiting, []
        self._write(lambda book: book.write_many(waiting, times=self._times(waiting)))

    def _times(self, pairs: Sequence[tuple[str, Verdict]]) -> dict[tuple[str, str], datetime | None]:
        """When each was handed in."""
        times: dict[tuple[str, str], datetime | None] = {}
        for student, verdict in pairs:
            key = student, self.exercises[verdict.exercise].assignment
            if key in self.folders and key not in times:
                times[key], wrong = submitted_at(self.folders[key], self.course.submitted)
                if wrong and wrong not in self.notes:
                    self.notes.append(wrong)
        return times

    def _opened(self) -> Book:
        """The gradebook, with every student in it."""
        from grading.gradebook import Book

        if self._book is None:
            book = Book(self.course.database, self.exercises.values(), WAIT, hashes=self.course.build / "entered")
            try:
                book.add_students(self.names.items())
            except BaseException:
                book.close()
                raise
            self._book = book
        return self._book

    def _write(self, work: Callable[[Book], object]) -> None:
        """Do something to the gradebook. What goes wrong there is kept for later, and the gradebook then left alone."""
        from sqlalchemy.exc import SQLAlchemyError

        if self._problem is not None:
            return
        start = time.perf_counter()
        try:
            work(self._opened())
        except (ValueError, OSError, SQLAlchemyError) as problem:
            said = str(problem)
            if not said.startswith("gradebook"):
                said = f"gradebook: {self.course.database} cannot be written ({said}); the records are kept"
            self._problem = GradebookError(said)
        self.seconds["gradebook"] += time.perf_counter() - start
