"""Where nbgrader reads a submission: this exporter takes the place of nbconvert's in `Autograde`.

Reading does not go through nbformat, so a byte order mark, UTF-16 and nbformat 3 are no matter, and what cannot be read
at all becomes a notebook without answers and an explicit zero. Nothing here executes.

`Autograde` makes an exporter for each of its runs, when it knows what it is to grade. Three things are done then: the
gradebook gets the assignment as the source has it now, so neither "generate" nor an older source stands in the way;
links and devices in a student's folder are kept from being copied; and, when the first verdict is asked for, all that
the run is about is judged side by side, so that nbgrader's loop over the class finds records.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from traitlets import Bool, Dict, Integer

from grading.bridge.reaching import course_of, database_of, is_file, not_to_be_copied, who_and_what
from grading.bridge.rebuilt import rebuilt
from grading.bridge.records import judge_all
from grading.course import Course, Exercise
from grading.engines import pool_of
from grading.gradebook import Book
from grading.handins import HandIn
from grading.lateness import submitted_at
from grading.record import Record, read_record
from grading.running.plan import Limits
from grading.submission import Submission, files_of, pick_all

Resources = dict[str, Any]


class RebuildingExporter(NotebookExporter):
    """Gives nbgrader the rebuilt notebook of a submission, and its preprocessors the verdict on it."""

    jobs = Integer(0, help="submissions judged at once; 0 for the number of processors").tag(config=True)
    limits = Dict({}, help="budgets of a submission, by the names of grading.running.plan.Limits").tag(config=True)
    allow_unsandboxed = Bool(False, help="run also where no sandbox works; every result says so").tag(config=True)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self.run: Run | None = None
        if hasattr(self.parent, "coursedir") and hasattr(self.parent, "assignments"):
            self.run = Run(self.parent, Limits(**self.limits), self.jobs, self.allow_unsandboxed)

    def from_filename(self, filename: str, resources: Resources | None = None, **options: Any) -> tuple[Any, Any]:
        """A file as nbgrader goes on with it: a submission rebuilt, what was rebuilt before as it is."""
        notebook = self.run.notebook(Path(filename)) if self.run else None
        if notebook is None:
            return super().from_filename(filename, resources, **options)
        resources = {**(resources or {}), "metadata": {"name": Path(filename).stem, "path": str(Path(filename).parent)}}
        return self.from_notebook_node(notebook, resources, **options)  # type: ignore[no-untyped-call, no-any-return]

    def verdict(self, resources: Resources) -> tuple[Exercise, Record]:
        """The exercise and the record of the submission that nbgrader is at."""
        if self.run is None:
            raise ValueError("exporter: it was not made by nbgrader's Autograde")
        about = resources["nbgrader"]
        return self.run.record(about["student"], about["assignment"], about["notebook"])


class Run:
    """One run of `Autograde`: what it is to grade, and the records of that."""

    def __init__(self, autograde: Any, limits: Limits, jobs: int, allow_unsandboxed: bool) -> None:
        self.folders, self.log = autograde.coursedir, autograde.log
        self.course: Course = course_of(self.folders)
        self.database = database_of(self.folders)
        self.instructors = files_of(self.course.source)
        self.limits, self.engine = limits, pool_of(jobs, allow_unsandboxed)
        self.allow_unsandboxed = allow_unsandboxed
        self.exercises: dict[str, dict[str, Exercise]] = {}  # by assignment and notebook
        self.items: dict[tuple[str, str, str], HandIn] = {}
        self.judged, self.refusal = False, None  # type: bool, ValueError | None
        for folder, notebooks in autograde.assignments.items():
            student, assignment = who_and_what(self.folders, folder)
            for notebook in (Path(path).stem for path in notebooks):
                if notebook in self._exercises(assignment):  # another is passed over, as nbgrader does
                    self.items[student, assignment, notebook] = self._hand_in(student, assignment, notebook)
        self.by_path = {item.path: item for item in self.items.values()}
        if self.database is not None and self.items:
            Book(self.database, [one for several in self.exercises.values() for one in several.values()]).close()
        autograde.init_assignment = self._without_links(autograde.init_assignment)

    def notebook(self, path: Path) -> Any:
        """The rebuilt notebook of a submitted file; None when it is none of this run."""
        item = self.by_path.get(path.absolute())
        if item is None:
            return None
        about = item.exercise
        source, released = (home / about.assignment / path.name for home in (self.course.source, self.course.release))
        try:
            return rebuilt(about, item.read(), source, released)
        except Exception:  # the grader's fault: the verdict says so, on a notebook without answers
            self.log.exception("%s of %s could not be rebuilt", about.key, item.student)
            return rebuilt(about, Submission((), "", problem="It could not be rebuilt."), source, released)

    def record(self, student: str, assignment: str, notebook: str) -> tuple[Exercise, Record]:
        """The record of one submission; the first time all of the run are judged."""
        if self.refusal is not None:
            raise self.refusal
        if not self.judged:
            try:
                judge_all(self.course, list(self.items.values()), self.limits, self.engine, self.allow_unsandboxed)
            except ValueError as problem:  # no sandbox, say: the workers would refuse for each student anew
                self.refusal = problem
                raise
            self.judged = True
        item = self.items[student, assignment, notebook]
        record = read_record(item.record(self.course))
        if record is None:
            raise ValueError(f"record: there is none for {item.exercise.key} of {student}")
        return item.exercise, record

    def submitted_at(self, student: str, exercise: Exercise) -> tuple[datetime | None, str]:
        """When a submission was handed in, and what is wrong with the file that says so."""
        return submitted_at(
            self.items[student, exercise.assignment, exercise.name].folder, self.course.submitted.absolute()
        )

    def _hand_in(self, student: str, assignment: str, notebook: str) -> HandIn:
        """The file of the exact name, which is the only one that nbgrader takes, with what there is to say about it."""
        exercises = self._exercises(assignment)
        top = self.course.submitted.absolute()
        path = top / student / assignment / f"{notebook}.ipynb"
        picks = pick_all(path.parent, list(exercises.values()), top)
        notes = next((found.notes for found in picks if found.path == path), ())
        return HandIn(student, exercises[notebook], path, notes, top, self.instructors)

    def _exercises(self, assignment: str) -> dict[str, Exercise]:
        """The notebooks of an assignment, from the source where there is one."""
        if assignment not in self.exercises:
            homes = (home / assignment for home in (self.course.source, self.course.release))
            names = {path.stem for home in homes for path in home.glob("*.ipynb")}
            self.exercises[assignment] = {name: self.course.exercise(assignment, name) for name in sorted(names)}
        return self.exercises[assignment]

    def _without_links(self, init_assignment: Callable[[str, str], None]) -> Callable[[str, str], None]:
        """nbgrader's step that copies what lies beside a notebook, passing over what is no file."""

        def init(assignment_id: str, student_id: str) -> None:
            top = self.course.submitted
            folder = top / student_id / assignment_id
            stamp = folder / "timestamp.txt"
            if os.path.lexists(stamp) and not is_file(stamp):  # nbgrader would read it, a pipe for ever
                raise ValueError(f"{stamp}: is no file")
            with self._ignoring(not_to_be_copied(folder, top)), self._reading_times(folder):
                init_assignment(assignment_id, student_id)

        return init

    @contextmanager
    def _reading_times(self, folder: Path) -> Iterator[None]:
        """Has nbgrader take the time of submission from `submitted_at`, which a file that holds none does not stop."""

        def existing(_: str) -> datetime | None:
            time, wrong = submitted_at(folder, self.course.submitted)
            if wrong:
                self.log.warning("%s", wrong)
            return time

        self.folders.get_existing_timestamp = existing
        try:
            yield
        finally:
            del self.folders.get_existing_timestamp

    @contextmanager
    def _ignoring(self, patterns: list[str]) -> Iterator[None]:
        before = self.folders.ignore
        self.folders.ignore = [*before, *patterns]
        try:
            yield
        finally:
            self.folders.ignore = before
