"""Grades a class: finds what was handed in, has it judged, records, enters it in the gradebook and writes feedback.

What is written (records, gradebook, pages) is written by this one process, whatever judges.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from grading.course import Course, Exercise
from grading.export import Marks, marks_csv
from grading.feedback import index_page, page_path, write_page
from grading.gradebook import Book
from grading.handins import HandIn, hand_ins
from grading.judge import blame_grader, without_run
from grading.pool import check_all, judge_all
from grading.record import Record, grader_sha256, read_record, write_record
from grading.running.plan import Limits
from grading.verdict import Verdict

Students = Sequence[tuple[str, str]]  # (id, name), the name "" where it is not known
Records = Mapping[tuple[str, str], Record]  # by student and exercise


@dataclass(frozen=True)
class Outcome:
    """A graded class: students as (id, name), records in the order of hand_ins, what the gradebook says, how many
    records were read and not made, and by exercise the tests that fail on the instructor's own answers."""

    students: tuple[tuple[str, str], ...]
    exercises: tuple[Exercise, ...]
    records: tuple[Record, ...]
    marks: Marks
    reused: int
    broken: Mapping[str, list[str]]
    csv: Path
    index: Path


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
) -> Outcome:
    """Grade everything handed in.

    Args:
        names: what to call each student, by id.
        jobs: submissions judged at once; 0 for the number of processors.
        again: run also what has a record.

    Raises `ValueError` when the course has nothing to grade, or `jobs` is below 0.
    """
    if jobs < 0:
        raise ValueError(f"jobs: {jobs} is below 0")
    exercises = course.exercises()
    if not exercises:
        where = f"{course.source.name}/ or {course.release.name}/"
        raise ValueError(f"course: no notebook with tests under {where} of {course.root}")
    limits, jobs = limits or Limits(), jobs or os.cpu_count() or 1
    ids, files = hand_ins(course, exercises)
    students = tuple((student, (names or {}).get(student, "")) for student in ids)
    records = {} if again else _kept_records(course, files, limits)
    reused = len(records)
    todo = [item for item in files if (item.student, item.exercise.key) not in records]
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn()
    with Progress(*columns, console=console or Console(stderr=True)) as progress:
        broken = _check_tests(todo, limits, jobs, progress)
        task = progress.add_task("Submissions", total=len(files), completed=reused)
        for item, judged in judge_all(todo, limits, jobs):
            verdict = blame_grader(judged, broken.get(item.exercise.key, []))
            record = _record(item, grader_sha256(limits), verdict)
            write_record(item.record(course), record)
            records[item.student, item.exercise.key] = record
            progress.advance(task)
    marks = _enter(course, students, exercises, records)
    ordered = tuple(records[item.student, item.exercise.key] for item in files)
    table = _write(course.build / "marks.csv", marks_csv(exercises, students, marks))
    index = _write(course.feedback / "index.html", index_page(exercises, students, ordered))
    return Outcome(students, tuple(exercises), ordered, marks, reused, broken, table, index)


def _kept_records(course: Course, files: Sequence[HandIn], limits: Limits) -> dict[tuple[str, str], Record]:
    """The records that still hold, by student and exercise."""
    grader = grader_sha256(limits)
    kept: dict[tuple[str, str], Record] = {}
    for item in files:
        old = read_record(item.record(course))
        if old is not None and old.holds_for(item.sha256, item.exercise.sha256, grader):
            kept[item.student, item.exercise.key] = old
    return kept


def _check_tests(todo: Sequence[HandIn], limits: Limits, jobs: int, progress: Progress) -> dict[str, list[str]]:
    """The tests that fail on the instructor's own answers, by exercise, of those that are to be graded now."""
    touched = list({item.exercise.key: item.exercise for item in todo}.values())
    task = progress.add_task("Tests on the instructor's answers", total=len(touched))
    broken = {}
    for exercise, failing in check_all(touched, limits, jobs):
        progress.advance(task)
        if failing:
            broken[exercise.key] = failing
            said = escape(f"{exercise.key}: the instructor's own answer fails {', '.join(failing)}")
            progress.console.print(f"[bold red]{said}")
    return broken


def _record(item: HandIn, grader: str, verdict: Verdict) -> Record:
    exercise = item.exercise
    return Record(item.student, exercise.assignment, exercise.name, exercise.sha256, grader, verdict)


def _enter(course: Course, students: Students, exercises: Sequence[Exercise], records: Records) -> Marks:
    """Write every verdict into the gradebook and on a page; what was withdrawn goes from both. Gives the marks that the
    gradebook then has."""
    with Book(course.database, exercises) as book:
        for student, name in students:
            book.add_student(student, name)
            handed_in = {exercise.assignment for exercise in exercises if (student, exercise.key) in records}
            for exercise in exercises:
                record = records.get((student, exercise.key))
                if record is not None:
                    book.write(student, record.verdict)
                    write_page(course.feedback, exercise, student, record.verdict, name)
                    continue
                if exercise.assignment in handed_in:  # nbgrader enters whole assignments: no old mark may stay
                    book.write(student, without_run(exercise, "not_attempted", "This notebook was not handed in."))
                else:
                    book.remove(student, exercise)
                page_path(course.feedback, exercise, student).unlink(missing_ok=True)
        present = {student for student, _ in students}
        by_key = {exercise.key: exercise for exercise in exercises}
        for row in book.rows():
            if row["student"] not in present:  # the whole folder is gone
                book.remove(row["student"], by_key[row["exercise"]])
        return {(row["student"], row["exercise"]): float(row["score"]) for row in book.rows()}


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="replace")
    return path
