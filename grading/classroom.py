"""Grades a class: finds what was handed in, has it judged, records, enters it in the gradebook and writes feedback.

What is written (records, gradebook, pages) is written by this one process, whatever judges. It is written as it comes,
and what stays here of a submission is its place and its mark, so a class may be of any size; a run that is stopped goes
on from its records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from grading.course import Course, Exercise
from grading.engines import OpenEngine, pool_of
from grading.entering import Entries
from grading.export import Marks, marks_csv
from grading.feedback import write_index
from grading.handins import hand_ins
from grading.judged import Checked, judged
from grading.record import Record, read_record, write_record
from grading.running.plan import Limits
from grading.todo import graded_exercises, kept_at, take_in, with_records


class KeptRecords(Sequence[Record]):
    """The records of a class in their files, each read when it is asked for."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)

    def __len__(self) -> int:
        return len(self._paths)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> KeptRecords: ...
    def __getitem__(self, index: int | slice) -> Record | KeptRecords:
        """One record, or some. Raises `ValueError` that names the file when it is damaged or gone."""
        if isinstance(index, slice):
            return KeptRecords(self._paths[index])
        record = read_record(self._paths[index])
        if record is None:
            raise ValueError(f"record: {self._paths[index]} cannot be read any more")
        return record


@dataclass(frozen=True)
class Outcome:
    """A graded class: students as (id, name), records in the order of hand_ins, what the gradebook says, how many
    records were read and not made; by exercise the tests that fail on the instructor's own answers, by student and
    exercise what the grader said where it failed; the seconds that the gradebook and the pages took; `notes` for the
    instructor."""

    students: tuple[tuple[str, str], ...]
    exercises: tuple[Exercise, ...]
    records: Sequence[Record]
    marks: Marks
    reused: int
    broken: Mapping[str, list[str]]
    faults: Mapping[tuple[str, str], str]
    seconds: Mapping[str, float]
    csv: Path
    index: Path
    notes: tuple[str, ...] = ()


class Rate(ProgressColumn):
    """Submissions a second."""

    def render(self, task: Task) -> Text:
        """The rate so far, or a dash before there is one."""
        speed = task.finished_speed or task.speed
        return Text("–/s" if speed is None else f"{speed:.1f}/s")


def grade_class(
    course: Course,
    names: Mapping[str, str] | None = None,
    jobs: int = 0,
    again: bool = False,
    limits: Limits | None = None,
    console: Console | None = None,
    engine: OpenEngine | None = None,
    records: Path | None = None,
    allow_unsandboxed: bool = False,
) -> Outcome:
    """Grade everything handed in.

    Args:
        names: what to call each student, by id.
        jobs: submissions judged at once; 0 for the number of processors.
        again: run also what has a record.
        engine: what judges, in place of `jobs` workers on this machine.
        records: a file of records that workers have written elsewhere, a line each, taken in first.
        allow_unsandboxed: run without a sandbox where there is none, and let records of such runs count.

    Raises `ValueError` when the course has nothing to grade, `jobs` is below 0, or the workers refuse to work;
    `GradebookError` when everything else is done and the gradebook could not be written.
    """
    engine, limits = engine or pool_of(jobs, allow_unsandboxed), limits or Limits()
    exercises = graded_exercises(course)
    ids, files = hand_ins(course, exercises)
    students = {student: (names or {}).get(student, "") for student in ids}
    folders = {(item.student, item.exercise.assignment): item.folder for item in files}
    broken = take_in(course, files, records) if records else {}
    faults: dict[tuple[str, str], str] = {}
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn()
    with (
        Progress(*columns, console=console or Console(stderr=True)) as progress,
        Entries(course, exercises, students, folders) as entries,
        engine(course, limits) as workers,
    ):
        todo = list(files) if again else []
        for item, old in () if again else with_records(course, exercises, files, limits, allow_unsandboxed):
            if old is None:
                todo.append(item)
            else:
                entries.add(old)
        reused = len(files) - len(todo)
        own = progress.add_task("Tests on the instructor's answers", total=len({item.exercise.key for item in todo}))
        task = progress.add_task("Submissions", total=len(files), completed=reused)
        coming = judged(todo, workers, limits)
        entries.get_ready()  # while the workers do
        for found in coming:
            if isinstance(found, Checked):
                progress.advance(own)
                if found.broken:
                    broken[found.exercise] = found.broken
                    said = escape(f"{found.exercise}: the instructor's own answer fails {', '.join(found.broken)}")
                    progress.console.print(f"[bold red]{said}")
                continue
            write_record(kept_at(course, found), found)
            entries.add(found)
            if found.verdict.status == "grader_error":
                faults[found.student, found.verdict.exercise] = found.verdict.fault
            progress.advance(task)
        workers.dismiss()
        marks = None
        try:
            marks = entries.finish()
        finally:  # a gradebook that cannot be written leaves an overview all the same
            people = tuple(students.items())
            index = write_index(course.feedback, exercises, people, entries.index.values(), marks, entries.waiting)
    table = _write(course.build / "marks.csv", marks_csv(exercises, people, marks))
    kept = KeptRecords([item.record(course) for item in files])
    seconds = dict(entries.seconds)
    return Outcome(
        people, tuple(exercises), kept, marks, reused, broken, faults, seconds, table, index, tuple(entries.notes)
    )


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="replace")
    return path
