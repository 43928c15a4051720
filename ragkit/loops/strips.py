"""CRAG's knowledge refinement: cut documents into strips, drop the irrelevant ones, join what is left.

Yan et al., *Corrective Retrieval Augmented Generation* (2024), section 4.4 and appendix B.2: strips of a few sentences,
a document of one or two is a strip by itself, strips below -0.5 are filtered out, at most 5 are kept, "recomposed via
concatenation in order". The released ``select_relevants`` filters by no threshold, keeps 5 by default (6 or 10 where it
is called, as the revisions go), and joins with "; " in the order of *scores*: ``order="score"`` does that.

The released splitter cuts at every ". " and "?" and loses them, so "Dr. Hale" is cut; `ragkit.text.sentences` cuts
neither that nor 3.14. Left out: strips of 50 words (the code's ``word_num``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeAlias

from ragkit.base import Hit
from ragkit.loops.context import same_text
from ragkit.text import sentences

Evaluator: TypeAlias = Callable[[str, str], float]
"""``(question, text)`` in, relevance from -1 to 1 out, as the fine-tuned T5 of the paper gives it."""

Order = Literal["document", "score"]

MIN_WORDS = 4
"""A strip of fewer words says too little to be scored; the released code gives it -1."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A piece of a document: its passage's id, the text, and its score."""

    passage: str
    text: str
    score: float


def checked_score(evaluate: Evaluator, question: str, text: str) -> float:
    """What ``evaluate`` says, clamped to [-1, 1]; `ValueError` where it is not a finite number."""
    score = float(evaluate(question, text))
    if not isfinite(score):
        raise ValueError(f"evaluate must give a finite number, got {score} for {text!r:.80}")
    return min(max(score, -1.0), 1.0)


def cut_strips(text: str, size: int = 3) -> list[str]:
    """Strips of ``size`` sentences, the last one shorter; those of fewer than four words are left out.

    >>> cut_strips("It holds 3.14 litres. It is red. Dr. Hale built it. It was made in Riverside.", size=3)
    ['It holds 3.14 litres. It is red. Dr. Hale built it.', 'It was made in Riverside.']
    """
    if size < 1:
        raise ValueError(f"size must be at least 1 sentence, got {size}")
    parts = [" ".join(sentence.split()) for sentence in sentences(text)]
    joined = [" ".join(parts[i : i + size]) for i in range(0, len(parts), size)]
    return [strip for strip in joined if len(strip.split()) >= MIN_WORDS]


def refine(
    question: str,
    hits: Sequence[Hit],
    evaluate: Evaluator,
    *,
    size: int = 3,
    keep: int = 5,
    threshold: float = -0.5,
    order: Order = "document",
) -> list[Strip]:
    """The strips of ``hits`` that pass, at most ``keep`` of them, the best by score.

    A strip passes with a score of at least ``threshold``; -1 lets all pass, as the released code does. ``order`` says
    how they come back: ``document`` as they stand in the hits (the paper), ``score`` best first (the released code).
    Ties keep the document's order. A strip met twice is scored once. No hits, and hits of short strips alone, give
    ``[]``. Costs one evaluation a strip.
    """
    if keep < 0:
        raise ValueError(f"keep must be at least 0, got {keep}")
    if order not in ("document", "score"):
        raise ValueError(f"order must be 'document' or 'score', got {order!r}")
    pieces: dict[str, tuple[str, str]] = {}
    for hit in hits:
        for text in cut_strips(hit.text, size):
            pieces.setdefault(same_text(text), (hit.id, text))
    scored = [Strip(an_id, text, checked_score(evaluate, question, text)) for an_id, text in pieces.values()]
    passing = [i for i, strip in enumerate(scored) if strip.score >= threshold]
    best = sorted(passing, key=lambda i: -scored[i].score)[:keep]
    return [scored[i] for i in (best if order == "score" else sorted(best))]


def join(strips: Sequence[Strip], separator: str = "; ") -> str:
    """The texts of strips as one text, joined as in the released code."""
    return separator.join(strip.text for strip in strips)
