"""Judges submissions side by side. Each runs in processes of its own; what waits for them here is a thread each.

One that makes the grader itself fail gets a verdict that says so, and the rest goes on.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from grading.course import Exercise
from grading.handins import HandIn
from grading.judge import check_source, judge, without_run
from grading.running.plan import Limits
from grading.verdict import Verdict


def judge_all(items: Sequence[HandIn], limits: Limits, jobs: int) -> Iterator[tuple[HandIn, Verdict]]:
    """The verdict on each hand-in, in the order in which they are done; `jobs` of them at once."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(judge, item.exercise, item.path, limits): item for item in items}
        try:
            for future in as_completed(futures):
                yield futures[future], _verdict(future, futures[future])
        finally:
            pool.shutdown(cancel_futures=True)  # when the one who asks goes away, the rest is not begun


def check_all(exercises: Sequence[Exercise], limits: Limits, jobs: int) -> Iterator[tuple[Exercise, list[str]]]:
    """The tests of each exercise that fail on the instructor's own answers."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from zip(exercises, pool.map(lambda exercise: check_source(exercise, limits), exercises), strict=True)


def _verdict(future: Future[Verdict], item: HandIn) -> Verdict:
    """A verdict, also when the grader failed on this one."""
    try:
        return future.result()
    except Exception as problem:
        text = f"The grader failed on this file ({type(problem).__name__}); tell your instructor."
        fault = "".join(traceback.format_exception(problem))
        return without_run(item.exercise, "grader_error", text, item.sha256, fault=fault)
