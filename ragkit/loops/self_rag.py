"""Self-RAG: a model trained to write reflection tokens, and the decisions that their probabilities make.

Asai et al., *Self-RAG: Learning to Retrieve, Generate, and Critique ...* (ICLR 2024), sections 3.1 and 3.3, and the
authors' ``run_short_form.py``. The trained weights are not here, so everything works on stored token probabilities: a
`Segment` is what the model wrote with one passage, and what it thought of it.

Where the released code differs: its retrieval gate divides *log*-probabilities (here probabilities, as in the paper;
FlashRAG mended the same, issue 113); a relevance group of which neither token is listed becomes 0.5 (here 0); its long
form reads the utility group under the names of the support group, so that utility always counts 0. Left out: training.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp

from ragkit.base import Hit, Retriever, check_k
from ragkit.loops.self_rag_tokens import (
    NO_RETRIEVE,
    RELEVANCE,
    RETRIEVE,
    SUPPORT,
    UTILITY,
    Probabilities,
    Segment,
    group_score,
)
from ragkit.loops.trace import Trace
from ragkit.text import normalize_answer


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the three groups, as the paper's experiments set them."""

    relevance: float = 1.0
    support: float = 1.0
    utility: float = 0.5


PAPER_WEIGHTS = Weights()


def segment_score(segment: Segment, weights: Weights = PAPER_WEIGHTS, sequence: bool = False) -> float:
    """``w_rel s_rel + w_sup s_sup + w_use s_use`` (section 3.3), between -0.5 and 2.5 with the paper's weights.

    ``sequence`` adds the geometric mean of the tokens' probabilities, the paper's p(y | x, d); the released code has it
    as an option that is off.
    """
    score = weights.relevance * group_score(segment.relevance, RELEVANCE)
    score += weights.support * group_score(segment.support, SUPPORT)
    score += weights.utility * group_score(segment.utility, UTILITY)
    if sequence and segment.log_probability is None:
        raise ValueError("segment holds no log_probability, which sequence=True needs")
    return score + (exp(segment.log_probability) if sequence and segment.log_probability is not None else 0.0)


def retrieval_share(probabilities: Probabilities) -> float:
    """p(Retrieval) / (p(Retrieval) + p(No Retrieval)), 0 where both are missing.

    >>> retrieval_share({"[Retrieval]": 0.25, "[No Retrieval]": 0.25, "[Continue to Use Evidence]": 0.5})
    0.5
    """
    return group_score(probabilities, {RETRIEVE: 1.0, NO_RETRIEVE: 0.0})


def should_retrieve(probabilities: Probabilities, threshold: float = 0.2) -> bool:
    """Whether the share of `retrieval_share` lies above ``threshold`` (0.2 in most of the paper's experiments)."""
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold must lie in [0, 1], got {threshold}")
    return retrieval_share(probabilities) > threshold


def closed_answer(segments: Sequence[Segment], weights: Weights = PAPER_WEIGHTS) -> dict[str, float]:
    """For tasks with few possible answers: the scores of equal answers added up, best first, ties by first mention.

    Answers are equal if `ragkit.text.normalize_answer` makes them so; the first spelling is the key. That form drops
    articles, and with them the answer option "A", so an answer that it empties is compared by case and punctuation
    alone. The released code compares the raw strings.
    """
    spelling: dict[str, str] = {}
    total: dict[str, float] = {}
    for segment in segments:
        bare = segment.text.casefold().strip(string.punctuation + string.whitespace)
        answer = spelling.setdefault(normalize_answer(segment.text) or bare or segment.text, segment.text)
        total[answer] = total.get(answer, 0.0) + segment_score(segment, weights)
    return dict(sorted(total.items(), key=lambda pair: -pair[1]))


@dataclass(frozen=True)
class SelfRAGResult:
    """The answer, whether passages were retrieved, each segment with its score (in the order of passages), the log."""

    answer: str
    retrieved: bool
    scored: tuple[tuple[Segment, float], ...]
    trace: Trace


def self_rag(
    question: str,
    *,
    retriever: Retriever,
    gate: Callable[[str], Probabilities],
    write: Callable[[str, Hit | None], Segment],
    k: int = 5,
    threshold: float = 0.2,
    closed: bool = False,
    weights: Weights = PAPER_WEIGHTS,
) -> SelfRAGResult:
    """The short form: ask the gate, write once with each of ``k`` passages, and choose by score.

    ``gate(question)`` gives the probabilities of the retrieval tokens, ``write(question, hit)`` a segment (``None``:
    without a passage). ``closed`` adds up equal answers; else the best segment wins, ties by rank. Where the gate stays
    shut or the search finds nothing, one segment is written without a passage. A blank question gives a blank answer.
    """
    check_k(k)
    trace = Trace(limit=2 * k + 10)
    if not question.strip():
        return SelfRAGResult("", False, (), trace)
    probabilities = gate(question)
    wanted = should_retrieve(probabilities, threshold)
    trace.add("gate", question, score=retrieval_share(probabilities), note="retrieve" if wanted else "do not retrieve")
    hits = retriever(question, k) if wanted else []
    if wanted:
        trace.add("retrieve", question, hits)
    segments = [write(question, hit) for hit in hits] or [write(question, None)]
    scored = [(segment, segment_score(segment, weights)) for segment in segments]
    for i, (segment, score) in enumerate(scored):
        trace.add("generate", segment.text, hits[i : i + 1], score)
    if closed:
        answer = next(iter(closed_answer([segment for segment, _ in scored], weights)))
    else:
        answer = max(scored, key=lambda pair: pair[1])[0].text
    return SelfRAGResult(answer, bool(hits), tuple(scored), trace)
