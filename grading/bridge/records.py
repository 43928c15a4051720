"""Judges hand-ins by workers of their own and keeps the records; what has one that still holds is not judged again.

The workers are processes apart, as for a whole class: formgrader runs inside the Jupyter server, and nothing of a
student's, nor the judge, runs in there.
"""

from __future__ import annotations

from collections.abc import Sequence

from grading.course import Course
from grading.engines import OpenEngine
from grading.handins import HandIn
from grading.judged import judged
from grading.record import Record, write_record
from grading.running.plan import Limits
from grading.todo import kept_at, remember_hidden, with_records


def judge_all(
    course: Course, files: Sequence[HandIn], limits: Limits, engine: OpenEngine, allow_unsandboxed: bool = False
) -> None:
    """Have a record for each hand-in, on the marks that `grading grade` would give. A record of a run without a sandbox
    holds where that is allowed."""
    exercises = list({item.exercise.key: item.exercise for item in files}.values())
    remember_hidden(course, exercises)
    todo = [item for item, old in with_records(course, exercises, files, limits, allow_unsandboxed) if old is None]
    if not todo:
        return
    with engine(course, limits) as workers:
        for found in judged(todo, workers, limits):
            if isinstance(found, Record):
                write_record(kept_at(course, found), found)
