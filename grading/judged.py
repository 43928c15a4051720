"""Has hand-ins judged by workers, wherever these are: the instructor's own answers, and then a record for each.

An answer that holds no record, or that of another job, is the grader's failure, and a record says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from grading.engines import Engine
from grading.handins import HandIn
from grading.jobs import Answer, answers, read_record_line
from grading.record import Record
from grading.running.plan import Limits
from grading.todo import blamed, job_of, own_answers
from grading.worker import Known, failed, failing, known


def broken_tests(todo: Sequence[HandIn], workers: Engine, limits: Limits) -> Iterator[tuple[str, list[str]]]:
    """Each exercise of what is to be graded, with the tests that fail on the instructor's own answer."""
    about = _known(todo, limits)
    for answer in workers.run(own_answers(todo)):
        exercise = answer.job.exercise
        yield exercise, failing(_record(answer, about[exercise]))


def judged(
    todo: Sequence[HandIn], workers: Engine, limits: Limits, broken: Mapping[str, list[str]]
) -> Iterator[Record]:
    """The record of each hand-in, in the order in which they come; what `broken` tests found is the grader's fault."""
    about = _known(todo, limits)
    for answer in workers.run(map(job_of, todo)):
        exercise = answer.job.exercise
        yield blamed(_record(answer, about[exercise]), broken.get(exercise, []))


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
