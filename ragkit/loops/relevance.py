"""A chat model as CRAG's evaluator: its prompt, and a number out of whatever it replies.

Yan et al. (2024) fine-tune a T5 whose output is a score from -1 to 1, and find ChatGPT's "yes" and "no" weaker (section
5.5, appendix A). A model asked for a number from 0 to 1 answers "Relevance: 0.85/1", "85%" or 7; what each of them, and
no number at all, shall mean is decided here. Left out: asking several times and averaging.
"""

from __future__ import annotations

import re

from ragkit.base import LLM
from ragkit.graph.replies import read_score
from ragkit.loops.strips import Evaluator
from ragkit.text import fill

PROMPT = """\
How well does the passage answer the question? Reply with a number from 0 (not at all) to 1 (completely).

Question: $question
Passage: $passage
Relevance:"""

_LABEL = re.compile(r"\b(?:relevance|scores?|rating)\b[^\d\n.+-]*", re.I)


def evaluator_prompt(question: str, passage: str) -> str:
    """The prompt that asks how relevant a passage or strip is."""
    return fill(PROMPT, question=question.strip(), passage=passage)


def read_relevance(reply: str) -> float | None:
    """A relevance from 0 to 1 out of a model's reply; None where it holds no number.

    A number after "relevance", "score" or "rating" counts before any other, a fraction and a percentage say their own
    scale, a decimal comma is a point, and what lies outside is clamped: 7 is 1.

    >>> [read_relevance(r) for r in ("Relevance: 0.85/1", "85%", "7", "-2", "8/10", "Passage 2 scores 0,4", "high")]
    [0.85, 0.85, 1.0, 0.0, 0.8, 0.4, None]
    """
    text = re.sub(r"(?<=\d),(?=\d)", ".", reply)
    label = _LABEL.search(text)
    labelled = read_score(text[label.end() :], scale=1.0) if label else None
    return labelled if labelled is not None else read_score(text, scale=1.0)


def model_evaluator(llm: LLM, failure: float = 0.0) -> Evaluator:
    """A chat model as an evaluator: its 0 to 1 is stretched onto -1 to 1.

    A reply without a number gives ``failure``. The default 0 means "not known": with thresholds on either side of 0 it
    leads to Ambiguous, so that a broken reply neither throws a document away nor vouches for it. The released code
    takes -1 (irrelevant).
    """
    if not -1.0 <= failure <= 1.0:
        raise ValueError(f"failure must lie in [-1, 1], got {failure}")

    def evaluate(question: str, text: str) -> float:
        relevance = read_relevance(llm(evaluator_prompt(question, text)))
        return failure if relevance is None else 2.0 * relevance - 1.0

    return evaluate
