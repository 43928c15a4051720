"""What the outcomes say about an exercise's tests: figures for each graded answer, and everything that is not as it
should be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grading.course import Exercise
from grading.proof.attempts import Attempt, graded_answers
from grading.proof.judging import Outcome
from grading.verdict import number

RIGHT, WRONG = 2, 8  # files that every graded answer needs, the instructor's own aside


@dataclass(frozen=True)
class Row:
    """Figures for one graded answer. `right` counts runs, under every seed and order; `hard_coded` says what the best
    hard-coded answer earned, "" where there is none."""

    exercise: str
    answer: str
    right: int
    right_full: int
    wrong: int
    wrong_caught: int
    made: int
    killed: int
    waived: int
    survived: int
    hard_coded: str
    harmless: int
    elsewhere: int


@dataclass(frozen=True)
class Proof:
    """What is known of one exercise: figures, wrong answers with the tests that they fail, and what is amiss."""

    rows: tuple[Row, ...]
    wrong: tuple[Outcome, ...]
    problems: tuple[str, ...]


def proof(
    exercise: Exercise,
    made: Sequence[Attempt],
    outcomes: Iterable[Outcome],
    waivers: Mapping[str, Mapping[str, str]],
) -> Proof:
    """Put together the outcomes of an exercise's attempts, of which `made` holds all and `outcomes` perhaps a part."""
    outcomes = tuple(outcomes)
    answers = graded_answers(exercise)
    rows = tuple(_row(exercise, answer, outcomes, answers) for answer in answers)
    problems = [f"{exercise.key}: {text}" for text in _problems(exercise, outcomes, waivers, made)]
    if len(outcomes) == len(made):
        problems += [f"{exercise.key}: {text}" for text in _missing(exercise, outcomes)]
    return Proof(rows, tuple(own for own in outcomes if own.attempt.kind == "wrong"), tuple(problems))


def _row(exercise: Exercise, answer: str, outcomes: Sequence[Outcome], answers: Mapping[str, frozenset[str]]) -> Row:
    right = [own for own in outcomes if own.attempt.kind == "right"]
    wrong = [own for own in outcomes if own.attempt.kind == "wrong" and spoiled(own, answers) == [answer]]
    mutants = [own for own in outcomes if own.attempt.kind == "mutant" and own.attempt.answer == answer]
    lookups = [own for own in outcomes if own.attempt.kind == "hard-coded" and own.attempt.answer == answer]
    others = [own for own in outcomes if own.attempt.answer not in ("", answer)]
    lived = [own for own in mutants if not own.caught]
    best = max((own.score for own in lookups), default=None)
    return Row(
        exercise=exercise.key,
        answer=answer,
        right=len(right),
        right_full=sum(own.full for own in right),
        wrong=len(wrong),
        wrong_caught=sum(own.caught for own in wrong),
        made=len(mutants),
        killed=len(mutants) - len(lived),
        waived=sum(bool(own.attempt.waived) for own in lived),
        survived=sum(not own.attempt.waived for own in lived),
        hard_coded="" if best is None else f"{number(best)} of {number(exercise.max_score)}",
        harmless=sum(not set(own.failed) & (answers[answer] - answers[own.attempt.answer]) for own in others),
        elsewhere=len(others),
    )


def spoiled(outcome: Outcome, answers: Mapping[str, frozenset[str]]) -> list[str]:
    """The answers that have a test which did not pass."""
    return [answer for answer, tests in answers.items() if tests & set(outcome.failed)]


def _problems(
    exercise: Exercise,
    outcomes: Sequence[Outcome],
    waivers: Mapping[str, Mapping[str, str]],
    made: Sequence[Attempt],
) -> Iterator[str]:
    """Whatever is not as it should be, a sentence each."""
    answers = graded_answers(exercise)
    visible = {test.id for test in exercise.tests if not test.hidden_lines}
    for own in outcomes:
        answer = own.attempt.answer
        name = f"{own.attempt.kind} {own.attempt.name}{f' of {answer}' if answer else ''}"
        if own.fault:
            yield f"{name}: {own.fault}"
        elif own.attempt.kind == "mutant":
            yield from _of_mutant(own)
        elif own.attempt.kind == "right":
            variant = f" ({own.attempt.variant})" if own.attempt.variant else ""
            said = f": {own.said}" if own.said else ""
            yield from [] if own.full else [f"{name}{variant} does not pass {', '.join(own.failed)}{said}"]
        elif not own.caught:
            yield f"{name} has full marks"
        elif own.attempt.kind == "wrong" and len(spoiled(own, answers)) > 1:
            yield f"{name} is wrong in one answer and costs points in {' and '.join(spoiled(own, answers))}"
        elif own.attempt.kind == "hard-coded" and visible & set(own.failed):
            yield f"{name} does not pass what it was made from: {', '.join(sorted(visible & set(own.failed)))}"
        elsewhere = set(own.failed) - answers.get(answer, frozenset(own.failed))
        if elsewhere:
            yield f"{name} costs points elsewhere: {', '.join(sorted(elsewhere))}"
    for answer, reasons in waivers.items():
        known = {own.name for own in made if own.kind == "mutant" and own.answer == answer}
        yield from (
            f"{name} of {answer} is waived, and there is no such mutant" for name in reasons if name not in known
        )


def _of_mutant(own: Outcome) -> Iterator[str]:
    """A mutant that nothing catches, or a waiver that nothing needs."""
    name = f"mutant {own.attempt.name} of {own.attempt.answer}"
    if own.caught and own.attempt.waived:
        yield f"{name} is waived, and loses points all the same"
    elif not own.caught and not own.attempt.waived:
        yield f"{name} survives: {own.attempt.change}"


def _missing(exercise: Exercise, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What there is too little of, once everything has been tried."""
    answers = graded_answers(exercise)
    wrong = [own for own in outcomes if own.attempt.kind == "wrong"]
    right = [own for own in outcomes if own.attempt.kind == "right" and not own.attempt.variant]
    if len(right) <= RIGHT:  # the instructor's is one of them
        yield f"there are {len(right) - 1} right answers of another style, and {RIGHT} are asked for"
    for answer in answers:
        count = sum(spoiled(own, answers) == [answer] for own in wrong)
        if count < WRONG:
            yield f"there are {count} wrong answers to {answer}, and {WRONG} are asked for"
    failed = {test for own in wrong for test in own.failed}
    yield from (f"no wrong answer fails {test.id}" for test in exercise.tests if test.id not in failed)
