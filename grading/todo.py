"""What of a class has been graded and what has not: the records here, and jobs and records for workers elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from grading.course import Course, Exercise
from grading.course.withdrawn import keep_withdrawn
from grading.handins import HandIn, hand_ins
from grading.jobs import Job, read_record_line
from grading.judge import blame_grader
from grading.record import Record, read_record, record_path, write_record
from grading.running.plan import Level, Limits
from grading.submission import hidden_parts
from grading.worker import failing, known


def open_jobs(course: Course, again: bool = False, limits: Limits | None = None) -> Iterator[Job]:
    """What there is to grade, for workers elsewhere: the instructor's own answers, then what has no record that holds
    (`again`: everything).

    Raises `ValueError` when the course has nothing to grade.
    """
    exercises = graded_exercises(course)
    _, files = hand_ins(course, exercises)
    if not again:
        files = [item for item, old in with_records(course, exercises, files, limits or Limits()) if old is None]
    yield from own_answers(files)
    yield from map(job_of, files)


def take_in(course: Course, files: Sequence[HandIn], path: Path) -> dict[str, list[str]]:
    """Keep the records of a file, a line each, as if they had been made here; gives by exercise the tests that fail on
    the instructor's own answer.

    Records of what is not handed in here are left alone. Raises `ValueError` that names the file and the line when one
    is no record.
    """
    there = {(item.student, item.exercise.assignment, item.exercise.name) for item in files}
    broken = {record.verdict.exercise: failing(record) for record in _lines(path) if not record.student}
    for record in _lines(path):
        if (record.student, record.assignment, record.notebook) in there:
            write_record(kept_at(course, record), blamed(record, broken.get(record.verdict.exercise, [])))
    return {exercise: tests for exercise, tests in broken.items() if tests}


def graded_exercises(course: Course) -> list[Exercise]:
    """The exercises of a course, which is about to be graded. Raises `ValueError` when there is none."""
    exercises = course.exercises()
    if not exercises:
        where = f"{course.source.name}/ or {course.release.name}/"
        raise ValueError(f"course: no notebook with tests under {where} of {course.root}")
    remember_hidden(course, exercises)
    return exercises


def remember_hidden(course: Course, exercises: Iterable[Exercise]) -> None:
    """Keep the hidden parts of tests that are about to run: a file that holds one is the instructor's own notebook
    still when the source has changed."""
    for exercise in exercises:
        if exercise.from_source:
            parts = hidden_parts(exercise.cells)
            keep_withdrawn(course.build, exercise.assignment, exercise.name, parts)


def with_records(
    course: Course,
    exercises: Sequence[Exercise],
    files: Iterable[HandIn],
    limits: Limits,
    allow_unsandboxed: bool = False,
) -> Iterator[tuple[HandIn, Record | None]]:
    """Every hand-in with its record, where that still holds. What ran without a sandbox holds only where that is
    allowed."""
    least: Level = "none" if allow_unsandboxed else "landlock"
    now = {exercise.key: known(exercise, limits) for exercise in exercises}
    for item in files:
        old, about = read_record(item.record(course)), now[item.exercise.key]
        if old is not None and not old.holds_for(item.sha256, about.source, about.grader, about.pins, least):
            old = None
        yield item, old


def kept_at(course: Course, record: Record) -> Path:
    """Where a record is kept."""
    return record_path(course.build / "records", record.student, record.assignment, record.notebook)


def job_of(item: HandIn) -> Job:
    """The job of a hand-in."""
    return Job(item.student, item.exercise.assignment, item.exercise.name, str(item.path.absolute()), item.notes)


def own_answers(todo: Iterable[HandIn]) -> list[Job]:
    """Jobs for the instructor's own answers to what is to be graded now."""
    touched = {item.exercise.key: item.exercise for item in todo}
    return [Job("", exercise.assignment, exercise.name, "") for exercise in touched.values()]


def blamed(record: Record, broken: list[str]) -> Record:
    """The record with the failures of broken tests marked as the grader's."""
    return replace(record, verdict=blame_grader(record.verdict, broken)) if broken else record


def _lines(path: Path) -> Iterator[Record]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield read_record_line(line)
            except ValueError as problem:
                raise ValueError(f"records: line {number} of {path}: {problem}") from None
