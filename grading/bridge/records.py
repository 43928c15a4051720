"""Judges hand-ins by workers of their own and keeps the records; what has one that still holds is not judged again.

The workers are processes apart, as for a whole class: formgrader runs inside the Jupyter server, and nothing of a
student's, nor the judge, runs in there.
"""

from __future__ import annotations

from collections.abc import Sequence

from grading.course import Course
from grading.engines import OpenEngine
from grading.handins import HandIn
from grading.jobs import Answer, answers, read_record_line
from grading.record import Record, write_record
from grading.running.plan import Limits
from grading.todo import blamed, job_of, kept_at, own_answers, with_records
from grading.worker import Known, failed, failing, known


def judge_all(course: Course, files: Sequence[HandIn], limits: Limits, engine: OpenEngine) -> None:
    """Have a record for each hand-in, on the marks that `grading grade` would give."""
    exercises = list({item.exercise.key: item.exercise for item in files}.values())
    todo = [item for item, old in with_records(course, exercises, files, limits) if old is None]
    if not todo:
        return
    about = {exercise.key: known(exercise, limits) for exercise in exercises}
    with engine(course, limits) as workers:
        broken = {}
        for answer in workers.run(own_answers(todo)):
            broken[answer.job.exercise] = failing(_record(answer, about[answer.job.exercise]))
        for answer in workers.run(map(job_of, todo)):
            exercise = answer.job.exercise
            record = blamed(_record(answer, about[exercise]), broken.get(exercise, []))
            write_record(kept_at(course, record), record)


def _record(answer: Answer, about: Known) -> Record:
    """The record in an answer; one that says so where there is none."""
    try:
        record = read_record_line(answer.line) if answer.line else None
    except ValueError as problem:
        return failed(answer.job, about, "its process ended", str(problem))
    if record is None or not answers(answer.job, record):
        return failed(answer.job, about, "its process ended", answer.fault or f"another job: {answer.line[:200]}")
    return record
