"""A router by token uncertainty: answer without retrieval first, and retrieve where the answer was unsure.

The signal of FLARE (Jiang et al., EMNLP 2023) used once for a whole answer. The answer from memory is the router: its
lowest or mean token log-probability is held against a threshold that was chosen on the development split. So the
router's own cost is one full call for every question, also for those that are then looked up; a router that reads only
the question is cheaper.

Left out: several samples and their agreement (semantic entropy), which cost as many calls again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite, isnan, log
from typing import Literal, NamedTuple

from ragkit.loops.routes import Decision, RouterCost, roc_auc
from ragkit.loops.sentence import TINY, lowest_probability, mean_log_probability
from ragkit.loops.trace import Trace
from ragkit.models.shapes import Completion
from ragkit.text import count_tokens, fill

PROMPT = """\
Answer the question in a few words.

Question: $question
Answer:"""

Measure = Literal["lowest", "mean"]


@dataclass(frozen=True)
class UncertainAnswer:
    """The answer, the first one from memory, the decision with its cost, and the log."""

    answer: str
    first: str
    decision: Decision
    trace: Trace


class Threshold(NamedTuple):
    """A threshold, the mean value it earns on the questions it was chosen on, and the share that it retrieves for."""

    value: float
    mean: float
    retrieved: float


def closed_book_prompt(question: str) -> str:
    """The prompt that asks without any passage."""
    return fill(PROMPT, question=question.strip())


def log_probability(completion: Completion, measure: Measure = "lowest") -> float:
    """The confidence of an answer: the lowest or the mean natural log-probability of its tokens, at most 0.

    Tokens of white space alone and the end-of-text token are no words and do not count. An answer without tokens is
    as unsure as can be (``-inf``): a blank answer must be looked up.
    """
    if measure not in ("lowest", "mean"):
        raise ValueError(f"measure must be 'lowest' or 'mean', got {measure!r}")
    words = [token for token in completion.tokens if token.text.strip()]
    if not words:
        if completion.text.strip():
            raise ValueError("completion must have token probabilities, got a text without tokens")
        return -inf
    return log(max(lowest_probability(words), TINY)) if measure == "lowest" else mean_log_probability(words)


def uncertainty_router(
    generate: Callable[[str], Completion],
    threshold: float,
    *,
    measure: Measure = "lowest",
    search: str = "search",
    direct: str = "direct",
) -> Callable[[str], tuple[Decision, str]]:
    """A router that gives its decision and the answer from memory that it rests on.

    ``threshold`` is a log-probability: below it the route is ``search``. ``-inf`` never searches (except after a blank
    answer, which has no confidence), ``inf`` always.
    """
    if isnan(threshold):
        raise ValueError("threshold must be a number, got nan")

    def route(question: str) -> tuple[Decision, str]:
        prompt = closed_book_prompt(question)
        completion = generate(prompt)
        sure = log_probability(completion, measure)
        written = completion.completion_tokens or len(completion.tokens)
        cost = RouterCost(1, completion.prompt_tokens or count_tokens(prompt), written)
        unsure = sure < threshold or sure == -inf
        note = f"{measure} log-probability {sure:.3f}"
        return Decision(search if unsure else direct, exp(sure), cost, note), completion.text.strip()

    return route


def uncertainty_answer(
    question: str,
    *,
    generate: Callable[[str], Completion],
    retrieve: Callable[[str], str],
    threshold: float,
    measure: Measure = "lowest",
) -> UncertainAnswer:
    """Answer from memory; where that was unsure, ``retrieve(question)`` answers instead. Two calls at most.

    A blank question gives a blank answer and costs nothing.
    """
    trace = Trace()
    if not question.strip():
        return UncertainAnswer("", "", Decision("direct", None, RouterCost(), "blank"), trace)
    decision, first = uncertainty_router(generate, threshold, measure=measure)(question)
    trace.add("generate", first, score=decision.confidence, note=decision.note)
    answer = first
    if decision.route == "search":
        answer = retrieve(question)
        trace.add("retrieve", answer, note="below the threshold")
    return UncertainAnswer(answer, first, decision, trace)


def choose_threshold(
    confidences: Sequence[float], direct: Sequence[float], searched: Sequence[float], price: float = 0.0
) -> Threshold:
    """The threshold with the best mean value on development questions.

    ``confidences`` are log-probabilities, ``direct`` and ``searched`` the scores (0 to 1) of the answer from memory
    and of that with retrieval, aligned by question; ``price`` is what one retrieval costs in units of score. Tried are
    the midpoints between neighbouring confidences, ``-inf`` (never) and ``inf`` (always). Ties go to the threshold
    that retrieves less. Sorting and one pass: ``O(n log n)``.

    >>> choose_threshold([-0.1, -2.0, -3.0], [1, 0, 0], [1, 1, 1])
    Threshold(value=-1.05, mean=1.0, retrieved=0.6666666666666666)
    """
    n = len(confidences)
    if not n or len(direct) != n or len(searched) != n:
        raise ValueError(f"confidences, direct and searched must be aligned, got {n}, {len(direct)}, {len(searched)}")
    if any(isnan(value) or value > 0 for value in confidences):
        raise ValueError("confidences must be log-probabilities, at most 0")
    if not (isfinite(price) and price >= 0):
        raise ValueError(f"price must be a finite number of at least 0, got {price!r}")
    order = sorted(range(n), key=lambda i: confidences[i])
    total = float(sum(direct))
    best = Threshold(-inf, total / n, 0.0)
    for place, i in enumerate(order, start=1):
        total += searched[i] - price - direct[i]
        last = place == n
        if not last and confidences[order[place]] == confidences[i]:
            continue  # no threshold separates equal confidences
        upper = confidences[order[place]] if not last else inf
        lower = confidences[i]
        between = inf if last else upper - 1e-9 if lower == -inf else (lower + upper) / 2
        if total / n > best.mean + 1e-12:
            best = Threshold(between, total / n, place / n)
    return best


def detection_auc(confidences: Sequence[float], wrong: Sequence[bool]) -> float | None:
    """ROC AUC of low confidence as a detector of wrong answers from memory: 0.5 is chance; None with one kind only."""
    finite = [max(value, log(TINY)) for value in confidences]
    return roc_auc([-value for value in finite], wrong)
