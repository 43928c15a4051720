"""Chapter 3: a second look at the candidates of hybrid search. Orders by slow rerankers are read from a stored run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ragkit.base import Hit
from ragkit.corpus import Question
from ragkit.recorded import reranking as stored
from ragkit.scoreboard.technique import Find, K, Stage, Technique
from ragkit.search import Reranker, listwise, pointwise, reciprocal_rank_fusion

CHAPTER = "03-reranking"
DEPTH = 30
"""Candidates that are reranked; a model that is asked sees `stored.PROMPT_DEPTH`."""


def kept(method: str, stage: Stage) -> Find:
    """The best of ``DEPTH`` candidates as a stored run ordered them."""
    return lambda question: _hits(stored.run(method, DEPTH, [question])[question.id])


def voiced(method: str, stage: Stage) -> Find:
    """The stored order and that of the search, fused by rank."""

    def find(question: Question) -> Sequence[Hit]:
        orders = [stored.run(way, DEPTH, [question])[question.id] for way in ("first", method)]
        return _hits([name for name, _ in reciprocal_rank_fusion(orders)])

    return find


def asking(task: str, make: Callable[..., Reranker], stage: Stage) -> Find:
    """A reranker that asks the row's answerer."""
    reranker = make(stage.ask(task))
    return lambda question: reranker(question.text, stored.candidates(question, stored.PROMPT_DEPTH))[:K]


def _hits(ids: Sequence[str]) -> list[Hit]:
    return [Hit(name, "", 1 / rank) for rank, name in enumerate(ids[:K], start=1)]


def _read(name: str, make: Callable[[Stage], Find], questions: Callable[[], Sequence[Question]]) -> Technique:
    return Technique(name, CHAPTER, make, questions=questions, timed=False)


TECHNIQUES = (
    _read("MaxSim", partial(kept, "maxsim"), stored.asked),
    _read("cross-encoder head", partial(kept, "head"), stored.asked),
    _read("head fused with hybrid", partial(voiced, "head"), stored.asked),
    _read("query likelihood, sample", partial(kept, "likelihood"), stored.sample),
    Technique(
        "pointwise, sample", CHAPTER, partial(asking, "rerank_pointwise", pointwise), ("hand",), questions=stored.sample
    ),
    Technique(
        "listwise, sample", CHAPTER, partial(asking, "rerank_listwise", listwise), ("hand",), questions=stored.sample
    ),
)
