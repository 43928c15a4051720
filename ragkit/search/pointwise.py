"""Pointwise reranking by a language model: one call a passage, each asking for a number.

The relevance generation of Liang et al., *Holistic Evaluation of Language Models* (2022), with the graded scale of
Zhuang et al., *Beyond Yes and No* (NAACL 2024), which separates passages better than a yes or no. Both papers read the
probabilities of the answer's tokens; hosted models often give none, so this reads the number that is written, and
small models write it in many ways. Left out: those probabilities, worked examples, comparing passages in pairs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragkit.base import LLM, Hit
from ragkit.search.rerank import Reranker, by_scores
from ragkit.text import fill

PROMPT = """\
How well does the passage answer the question? Give a whole number from 0 to $scale: 0 if it is about something else,
$scale if it answers the question fully. A passage that shares words with the question and does not answer it is near 0.
Reply with the number only.

Question: $question
Passage: $passage
Number:"""

_NUMBER = r"(?<![\w.,/–-])[-–−]?(?:\d+(?:[.,]\d+)?|\.\d+)"
# "from 0 to 10", "(1-5)", "a scale of 10": the scale is described, nothing is rated.
_RANGE = re.compile(
    r"(?:\b(?:scale|range)\s+(?:of|from)\s+)?(?<![\w.,/–-])[01]\s*(?:to|and|[-–])\s*(?:1|5|10|100)(?![\w%/]|[.,]\d)"
    r"|\b(?:scale|range)\s+of\s+\d+",
    re.I,
)
_SHARE = r"(?:\s+(?!out\b)[a-z]+)?\s*(?:/|\bout\s+of\b)\s*"  # "7/10", "7 out of 10", "3 stars out of 5"
_RATIO = re.compile(rf"({_NUMBER}){_SHARE}(1|5|10|100)(?:[.,]0+)?(?![\w/]|[.,]\d)", re.I)
_PERCENT = re.compile(rf"({_NUMBER})\s*(?:%|per\s?cent\b)", re.I)
_LABELLED = re.compile(
    rf"\b(?:score|relevance|rating|rate|number|answer)\b[\s*_\"'`]*(?::|=|is|of|as)?[\s*_\"'`]*({_NUMBER})(?![\w/])",
    re.I,
)
_BARE = re.compile(rf"({_NUMBER})(?![\w/])")


def relevance_prompt(question: str, passage: str, scale: int = 10) -> str:
    """The prompt that asks for one passage's relevance as a whole number from 0 to ``scale``."""
    if scale < 1:
        raise ValueError(f"scale must be at least 1, got {scale}")
    return fill(PROMPT, question=question.strip(), passage=passage.strip(), scale=scale)


def read_score(reply: str, scale: float = 10) -> float | None:
    """The number in a reply, in [0, 1]; ``None`` where there is none, as in a refusal.

    Looked for in this order: a share of 1, 5, 10, 100 or ``scale`` ("0.85/1", "7 out of 10"), a percentage, a number
    behind a label ("Relevance: 7"), the first number. A plain number is one of ``scale``, with two exceptions: a
    decimal between 0 and 1 is taken as it is, and a number beyond the scale as one out of 10, else out of 100. What
    then leaves [0, 1] is clamped. Digits inside a word or a code, and a description of the scale, are no score.

    >>> [read_score(reply) for reply in ("Relevance: 0.85/1", "85%", "7", "I'd say 7 out of 10.", "I cannot tell.")]
    [0.85, 0.85, 0.7, 0.7, None]
    """
    text = _RANGE.sub(" ", reply)
    own = re.compile(rf"({_NUMBER}){_SHARE}({re.escape(f'{scale:g}')})(?![\w/]|[.,]\d)", re.I)
    if found := _RATIO.search(text) or own.search(text):
        return _clamp(_value(found[1]) / float(found[2]))
    if found := _PERCENT.search(text):
        return _clamp(_value(found[1]) / 100)
    found = _LABELLED.search(text) or _BARE.search(text)
    if not found:
        return None
    value = _value(found[1])
    if 0 < value < 1:
        return value
    return _clamp(value / next((s for s in sorted({scale, 10.0, 100.0}) if s >= scale and value <= s), 100.0))


def _value(number: str) -> float:
    return float(number.replace(",", ".").replace("–", "-").replace("−", "-"))


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model said about one hit. ``score`` is in [0, 1], ``None`` where its reply could not be read."""

    id: str
    reply: str
    score: float | None


def judge(query: str, hits: Sequence[Hit], llm: LLM, scale: int = 10) -> list[Judgement]:
    """One call a hit, in the order of the hits; a hit with a blank text gets 0 and a blank query gives ``[]``."""
    if not query.strip():
        return []
    judged = []
    for hit in hits:
        reply = llm(relevance_prompt(query, hit.text, scale)) if hit.text.strip() else "0"
        judged.append(Judgement(hit.id, reply, read_score(reply, scale)))
    return judged


def pointwise(llm: LLM, scale: int = 10, unread: float = 0.0) -> Reranker:
    """A `Reranker` by one model call a hit; exactly as many calls as there are hits with text.

    A reply without a number says nothing about the passage. It counts as ``unread``: at 0 the hit goes to the end, and
    a model that refuses everything leaves the old order. Pages that print the replies use `judge`.
    """
    if not 0 <= unread <= 1:
        raise ValueError(f"unread must lie in [0, 1], got {unread!r}")
    relevance_prompt("", "", scale)

    def reranker(query: str, hits: Sequence[Hit]) -> list[Hit]:
        if not query.strip():
            return list(hits)
        return by_scores(hits, [unread if j.score is None else j.score for j in judge(query, hits, llm, scale)])

    return reranker
