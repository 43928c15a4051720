"""Grades a class: finds what was handed in, judges it with several processes, and records, enters and writes feedback.

Submissions are judged side by side, each in processes of its own; what is written (records, gradebook, pages) is
written by this one process. A submission that makes the grader itself fail is entered as the grader's error, and the
rest goes on.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from grading.course import Course, Exercise
from grading.export import Marks, marks_csv
from grading.feedback import index_page, write_page
from grading.gradebook import Book
from grading.judge import TestVerdict, Verdict, blame_grader, check_source, judge
from grading.proxy import Limits
from grading.record import Record, grader_sha256, read_record, record_path, write_record
from grading.submission import UnreadableError, read_bytes


@dataclass(frozen=True)
class HandIn:
    """One file to grade."""

    student: str
    exercise: Exercise
    path: Path


@dataclass(frozen=True)
class Outcome:
    """A graded class: students as (id, name), records in the order of hand_ins, what the gradebook says, broken
    tests."""

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
        speed = task.finished_speed or task.speed
        return Text("–/s" if speed is None else f"{speed:.1f}/s")


def hand_ins(course: Course, exercises: Sequence[Exercise]) -> tuple[list[str], list[HandIn]]:
    """Every student with a folder, and every file handed in for an exercise (a .py file where there is no notebook)."""
    students, found = [], []
    folders = sorted(course.submitted.iterdir()) if course.submitted.is_dir() else []
    for folder in folders:
        if not folder.is_dir() or folder.is_symlink() or folder.name.startswith("."):
            continue
        students.append(folder.name)
        for exercise in exercises:
            base = folder / exercise.assignment
            for suffix in (".ipynb", ".py"):
                path = base / f"{exercise.name}{suffix}"
                if path.is_symlink() or path.exists():
                    found.append(HandIn(folder.name, exercise, path))
                    break
    return students, found


def grade_class(
    course: Course,
    names: Mapping[str, str] | None = None,
    jobs: int = 0,
    again: bool = False,
    limits: Limits | None = None,
    console: Console | None = None,
) -> Outcome:
    """Grade everything handed in. Raises `ValueError` when the course has nothing to grade.

    Args:
        names: what to call each student, by id.
        jobs: submissions judged at once; 0 for the number of processors.
        again: run also what has a record.
    """
    exercises = course.exercises()
    if not exercises:
        raise ValueError(f"course: no notebook with tests under {course.source.name}/ or {course.release.name}/")
    limits, console = limits or Limits(), console or Console(stderr=True)
    jobs = jobs if jobs > 0 else os.cpu_count() or 1
    students, files = hand_ins(course, exercises)
    named = tuple((student, (names or {}).get(student, "")) for student in students)
    sources = {exercise.key: exercise.sha256 for exercise in exercises}
    grader = grader_sha256(limits)
    records: dict[tuple[str, str], Record] = {}
    todo: list[HandIn] = []
    for item in files:
        old = None if again else read_record(_path(course, item))
        if old is not None and old.holds_for(_digest(item.path), sources[item.exercise.key], grader):
            records[item.student, item.exercise.key] = old
        else:
            todo.append(item)
    reused = len(records)
    with Book(course.database, exercises) as book, ThreadPoolExecutor(jobs) as pool, _progress(console) as progress:
        touched = sorted({item.exercise.key for item in todo})
        by_key = {exercise.key: exercise for exercise in exercises}
        task = progress.add_task("Tests on the instructor's answers", total=len(touched))
        broken: dict[str, list[str]] = {}
        for key, failing in zip(touched, pool.map(lambda key: check_source(by_key[key], limits), touched), strict=True):
            progress.advance(task)
            if failing:
                broken[key] = failing
                progress.console.print(f"[bold red]{key}: the instructor's own answer fails {', '.join(failing)}")
        for student, name in named:
            book.add_student(student, name)
        task = progress.add_task("Submissions", total=len(files), completed=reused)
        futures = {pool.submit(_safely, judge, item, limits): item for item in todo}
        for future in as_completed(futures):
            item = futures[future]
            verdict = blame_grader(_result(future, item), broken.get(item.exercise.key, []))
            record = Record(
                item.student, item.exercise.assignment, item.exercise.name, sources[item.exercise.key], grader, verdict
            )
            write_record(_path(course, item), record)
            records[item.student, item.exercise.key] = record
            progress.advance(task)
        _enter(course, book, named, exercises, records)
        marks = {(row["student"], row["exercise"]): float(row["score"]) for row in book.rows()}
    course.build.mkdir(parents=True, exist_ok=True)
    table = course.build / "marks.csv"
    table.write_text(marks_csv(exercises, named, marks), encoding="utf-8", errors="replace")
    index = course.feedback / "index.html"
    ordered = tuple(records[item.student, item.exercise.key] for item in files)
    index.parent.mkdir(parents=True, exist_ok=True)
    index.write_text(index_page(exercises, named, ordered), encoding="utf-8", errors="replace")
    return Outcome(named, tuple(exercises), ordered, marks, reused, broken, table, index)


def _enter(
    course: Course,
    book: Book,
    students: Sequence[tuple[str, str]],
    exercises: Sequence[Exercise],
    records: Mapping[tuple[str, str], Record],
) -> None:
    """Write every verdict into the gradebook and on a page; what was withdrawn goes from both."""
    for student, name in students:
        for exercise in exercises:
            record = records.get((student, exercise.key))
            if record is not None:
                book.write(student, record.verdict)
                write_page(course.feedback, exercise, student, record.verdict, name)
            elif not any(
                (student, other.key) in records for other in exercises if other.assignment == exercise.assignment
            ):
                book.remove(student, exercise)
                (course.feedback / student / exercise.assignment / f"{exercise.name}.html").unlink(missing_ok=True)
    present = {student for student, _ in students}
    for row in book.rows():
        if row["student"] not in present:  # the whole folder is gone
            book.remove(row["student"], next(exercise for exercise in exercises if exercise.key == row["exercise"]))


def _safely(grade: Callable[[Exercise, Path, Limits], Verdict], item: HandIn, limits: Limits) -> Verdict:
    return grade(item.exercise, item.path, limits)


def _result(future: Future[Verdict], item: HandIn) -> Verdict:
    """A verdict, also when the grader failed on this one."""
    try:
        return future.result()
    except Exception as problem:
        text = f"The grader failed on this file ({type(problem).__name__}); tell your instructor."
        tests = tuple(TestVerdict(t.id, 0.0, t.points, "grader_error", text) for t in item.exercise.tests)
        most, digest = item.exercise.max_score, _digest(item.path)
        return Verdict(item.exercise.key, "grader_error", text, 0.0, most, tests, (), (), (), False, digest)


def _digest(path: Path) -> str:
    """The hash that `submission.read` would give the file."""
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest()
    except UnreadableError:
        return hashlib.sha256(b"").hexdigest()


def _path(course: Course, item: HandIn) -> Path:
    return record_path(course.build / "records", item.student, item.exercise.assignment, item.exercise.name)


def _progress(console: Console) -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn()
    return Progress(*columns, console=console)
