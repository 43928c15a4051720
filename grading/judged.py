"""Has hand-ins judged by workers, wherever these are: the instructor's own answers, and then a record for each.

An answer that holds no record, or that of another job, is the grader's failure, and a record says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from grading.engines import Engine
from grading.handins import HandIn
from grading.jobs import Answer, answers, read_record_line
from grading.record import Record
from grading.running.plan import Limits
from grading.todo import blamed, job_of, own_answers
from grading.worker import Known, failed, failing, known


@dataclass(frozen=True)
class Checked:
    """An exercise whose own answer has been run, and the tests that fail on it."""

    exercise: str
    broken: list[str]


def judged(todo: Sequence[HandIn], workers: Engine, limits: Limits) -> Iterator[Checked | Record]:
    """The record of each hand-in, in the order in which they come, and before the first of an exercise what its own
    answer gets: the tests that fail there are the grader's fault."""
    about = _known(todo, limits)
    return _in_order(workers.run(chain(own_answers(todo), map(job_of, todo))), about)


def _in_order(found: Iterator[Answer], about: Mapping[str, Known]) -> Iterator[Checked | Record]:
    broken: dict[str, list[str]] = {}
    early: dict[str, list[Record]] = {}  # of exercises whose own answer is still being run: a few
    for answer in found:
        exercise = answer.job.exercise
        record = _record(answer, about[exercise])
        if not answer.job.path:
            broken[exercise] = failing(record)
            yield Checked(exercise, broken[exercise])
            yield from (blamed(one, broken[exercise]) for one in early.pop(exercise, ()))
        elif exercise in broken:
            yield blamed(record, broken[exercise])
        else:
            early.setdefault(exercise, []).append(record)
    for waiting in early.values():  # whose own answer nobody ran: no record is lost for that
        yield from waiting


def _known(todo: Sequence[HandIn], limits: Limits) -> dict[str, Known]:
    return {key: known(exercise, limits) for key, exercise in {i.exercise.key: i.exercise for i in todo}.items()}


def _record(answer: Answer, about: Known) -> Record:
    fault = answer.fault
    if answer.line:
        try:
            record = read_record_line(answer.line)
            if answers(answer.job, record):
                return record
            fault = f"A worker answered another job: {answer.line[:200]}"
        except ValueError as problem:
            fault = str(problem)
    return failed(answer.job, about, "its process ended", fault)
