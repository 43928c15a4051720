"""Judges attempts side by side, each worker a process with a runner of its own."""

from __future__ import annotations

import functools
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing.util import Finalize

from grading.course import Exercise
from grading.judge import judge_submission
from grading.proof.attempts import Attempt
from grading.running.plan import Limits
from grading.running.runner import Runner
from grading.submission import Submission
from grading.verdict import Verdict

LIMITS = Limits(test_seconds=30, total_seconds=180, memory=2 << 30)  # what should pass is not to fail by a busy machine
IMPATIENT = replace(LIMITS, cell_seconds=4, test_seconds=4, total_seconds=40)  # many a mutant never ends


@dataclass(frozen=True)
class Outcome:
    """What an attempt earned, and the tests that it did not pass. `said`: what the first of them found; `fault`: what
    the grader said when it failed."""

    attempt: Attempt
    score: float
    max_score: float
    failed: tuple[str, ...] = ()
    said: str = ""
    fault: str = ""

    @property
    def full(self) -> bool:
        """Whether it passed every test."""
        return not self.failed and self.score == self.max_score

    @property
    def caught(self) -> bool:
        """Whether it cost points."""
        return self.score < self.max_score


def judge_all(attempts: Sequence[Attempt], jobs: int, allow_unsandboxed: bool = False) -> Iterator[Outcome]:
    """The outcome of each attempt, in the order in which they are done.

    Raises `ValueError` where there is no sandbox and none of the attempts may run without.
    """
    preload = tuple(sorted({module for own in attempts for module in own.exercise.preload}))
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = {}
        for own in attempts:
            limits = LIMITS if own.kind in ("right", "wrong") or own.waived else IMPATIENT
            futures[pool.submit(_judge, own.exercise, own.submission, limits, preload, allow_unsandboxed)] = own
        try:
            for future in as_completed(futures):
                yield outcome(futures[future], future.result())
        finally:
            pool.shutdown(cancel_futures=True)


def outcome(attempt: Attempt, verdict: Verdict) -> Outcome:
    """What a verdict says about an attempt."""
    failed = [test for test in verdict.tests if test.status != "ok" or test.points < test.max_points]
    fault = verdict.fault or ("the grader failed" if verdict.status == "grader_error" else "")
    said = failed[0].message if failed else ""
    return Outcome(attempt, verdict.score, verdict.max_score, tuple(test.id for test in failed), said, fault)


def _judge(
    exercise: Exercise, submission: Submission, limits: Limits, preload: tuple[str, ...], allow_unsandboxed: bool
) -> Verdict:
    """Judge one submission, in a worker."""
    return judge_submission(exercise, submission, limits, _runner(preload, allow_unsandboxed))


@functools.cache
def _runner(preload: tuple[str, ...], allow_unsandboxed: bool) -> Runner:
    """The one runner of this worker, closed when the worker ends."""
    runner = Runner(preload, LIMITS, allow_unsandboxed)
    Finalize(runner, runner.close, exitpriority=10)
    return runner
