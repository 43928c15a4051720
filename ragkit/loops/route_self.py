"""A router that asks the model itself: "do you need to look this up?", and how far its word can be trusted.

After Kadavath et al., *Language Models (Mostly) Know What They Know* (2022), who read a model's confidence off the
probabilities of its answer to a question about itself. Large models are fairly calibrated there; small ones are near
chance, which an accuracy alone can hide: where 85 of 100 questions need retrieval, always saying "yes" is right 85
times. So the report is a calibration curve, with the accuracy of the constant answer beside it.

Two readings: what the model writes (yes or no, and a percentage), and the probabilities of its first token, which are
its real confidence. Left out: their trained head for "I know".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragkit.base import LLM
from ragkit.loops.routes import Calibration, Decision, RouterCost, calibration
from ragkit.models.shapes import Completion
from ragkit.text import count_tokens, fill

PROMPT = """\
Do the documents of a company have to be searched to answer the message below, or can it be answered without them?
Reply with "yes" if they must be searched or "no" if not, then with how sure you are, from 0% to 100%.

Message: $question
Search:"""

_YES = r"yes|true|search|retrieve|look(?:ing)? (?:it )?up|(?:is |are )?need(?:ed|s)?|required|necessary"
_NO = r"no|false|none|not(?! (?:sure|certain))|without|unnecessary|can be answered|don'?t need"
_VERDICT = re.compile(rf"\b(?:(?P<no>{_NO})|(?P<yes>{_YES}))\b", re.I)
_SURE = re.compile(
    r"(?<![\w.])(\d{1,3}(?:[.,]\d+)?)\s*(?:%|per ?cent|/\s*100\b|out of 100\b)|(?<![\w.])([01]?[.,]\d+)(?!\w)"
)


class Assessment(NamedTuple):
    """Whether the model says that it must search (None: it did not say), and how sure it claims to be (0 to 1)."""

    search: bool | None
    sure: float | None

    @property
    def need(self) -> float | None:
        """The stated probability that a search is needed; a verdict without a number counts as 1 or 0."""
        if self.search is None:
            return None
        sure = 1.0 if self.sure is None else self.sure
        return sure if self.search else 1.0 - sure


def self_assessment_prompt(question: str) -> str:
    """The prompt that asks the model for its verdict."""
    return fill(PROMPT, question=question.strip())


def read_assessment(reply: str) -> Assessment:
    """Read the verdict: the first yes or no counts, and the first percentage or fraction of 1.

    A reply without a verdict is ``Assessment(None, …)``. A number above 100% is 100%.

    >>> read_assessment("No, 85% sure."), read_assessment("Yes."), read_assessment("**Search needed** (0.7)")
    (Assessment(search=False, sure=0.85), Assessment(search=True, sure=None), Assessment(search=True, sure=0.7))
    """
    text = re.sub(r"^\W*search:\s*", "", reply, flags=re.I)
    verdict = _VERDICT.search(text)
    number = _SURE.search(text)
    sure = None
    if number:
        percent, share = number.groups()
        sure = float((percent or share).replace(",", ".")) / (100 if percent else 1)
    return Assessment(None if verdict is None else verdict["yes"] is not None, None if sure is None else min(sure, 1.0))


def yes_share(completion: Completion) -> float | None:
    """p(yes) / (p(yes) + p(no)) at the first token that offers either, from its most probable alternatives.

    Case and blanks are ignored, and the variants of a word are added up. None where no token offers one: ask for more
    alternatives (``top=20``), or the model says something else.
    """
    for token in completion.tokens:
        mass = {"yes": 0.0, "no": 0.0}
        for text, probability in token.top or ((token.text, token.probability),):
            word = text.strip().strip("\"'*.,").lower()
            if word in mass:
                mass[word] += probability
        if total := mass["yes"] + mass["no"]:
            return mass["yes"] / total
    return None


def self_router(
    llm: LLM, *, search: str = "search", direct: str = "direct", threshold: float = 0.5
) -> Callable[[str], Decision]:
    """A router by what the model writes; ``search`` is taken when its stated need is at least ``threshold``.

    A reply without a verdict searches: looking something up in vain costs less than inventing an answer. One call a
    question, whose tokens are the router's own cost.
    """
    _check(threshold)

    def route(question: str) -> Decision:
        prompt = self_assessment_prompt(question)
        reply = llm(prompt)
        need = read_assessment(reply).need
        cost = RouterCost(1, count_tokens(prompt), count_tokens(reply))
        return _decide(need, threshold, search, direct, cost)

    return route


def probability_router(
    generate: Callable[[str], Completion], *, search: str = "search", direct: str = "direct", threshold: float = 0.5
) -> Callable[[str], Decision]:
    """A router by the probabilities of "yes" and "no"; ``generate`` gives them, as in
    ``partial(Local(max_tokens=4).generate, top=20)``."""
    _check(threshold)

    def route(question: str) -> Decision:
        completion = generate(self_assessment_prompt(question))
        written = completion.completion_tokens or len(completion.tokens)
        read = completion.prompt_tokens or count_tokens(self_assessment_prompt(question))
        return _decide(yes_share(completion), threshold, search, direct, RouterCost(1, read, written))

    return route


def needs(decisions: Sequence[Decision], search: str = "search") -> list[float]:
    """The probability of needing a search that stands behind every decision; 0.5 for one without a verdict."""
    return [
        0.5 if d.confidence is None else d.confidence if d.route == search else 1.0 - d.confidence for d in decisions
    ]


def assess(
    decisions: Sequence[Decision], needed: Sequence[bool], search: str = "search", bins: int = 10
) -> Calibration:
    """Calibration of the decisions against whether a search was ``needed`` (the answer without one was wrong)."""
    return calibration(needs(decisions, search), needed, bins)


def _decide(need: float | None, threshold: float, search: str, direct: str, cost: RouterCost) -> Decision:
    if need is None:
        return Decision(search, None, cost, "no verdict")
    return Decision(search, need, cost) if need >= threshold else Decision(direct, 1.0 - need, cost)


def _check(threshold: float) -> None:
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold must lie in [0, 1], got {threshold!r}")
