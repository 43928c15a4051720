"""From exercises and a folder of answers to what is known of the tests: makes the attempts, has them judged, and puts
together what came out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

from grading.course import Exercise
from grading.proof.attempts import Attempt, attempts, draw
from grading.proof.findings import Proof, proof
from grading.proof.judging import Outcome, judge_all
from grading.proof.waivers import read_waivers

ORDERS = 5


def prove(
    exercises: Sequence[Exercise],
    answers: Path,
    sample: int = 0,
    seed: int = 0,
    jobs: int = 0,
    orders: int = ORDERS,
    allow_unsandboxed: bool = False,
) -> list[Proof]:
    """Try the tests of some exercises. `answers` has a folder for each; of each kind at most `sample` attempts are made
    for each answer (0: all of them); right answers are tried under `orders` other seeds and orders of tests.

    Raises `ValueError` that names an exercise without its source or without a folder of answers.
    """
    for exercise in exercises:
        if not exercise.from_source:
            raise ValueError(f"exercise: the source of {exercise.key}, with its answers, is not here")
        if not (answers / exercise.name).is_dir():
            raise ValueError(f"answers: there is no folder {answers / exercise.name}")
    made = {exercise.key: attempts(exercise, answers / exercise.name, orders, seed) for exercise in exercises}
    drawn = [own for group in made.values() for own in (draw(group, sample, seed) if sample else group)]
    outcomes = _with_progress(drawn, jobs or os.cpu_count() or 1, allow_unsandboxed)
    return [
        proof(
            exercise,
            made[exercise.key],
            [own for own in outcomes if own.attempt.exercise.key == exercise.key],
            read_waivers(answers / exercise.name),
        )
        for exercise in exercises
    ]


def _with_progress(drawn: Sequence[Attempt], jobs: int, allow_unsandboxed: bool) -> list[Outcome]:
    """The outcomes, in one order whichever came first; a terminal sees how far it is."""
    console = Console(stderr=True)
    outcomes = track(
        judge_all(drawn, jobs, allow_unsandboxed),
        "judging",
        len(drawn),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    return sorted(outcomes, key=lambda own: (own.attempt.kind, own.attempt.answer, own.attempt.name))
