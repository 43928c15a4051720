"""Chapter 8: a written context in front of every passage of the documents, in both searches; and reranked."""

from __future__ import annotations

from ragkit.base import Hit
from ragkit.index import contexts as read_contexts
from ragkit.index import contextualised
from ragkit.recorded.contexts import asked, document_texts, reranked
from ragkit.scoreboard.technique import Find, K, Stage, Technique, by_text
from ragkit.search import BM25, Dense, fuse_retrievers

CHAPTER = "08-contextual"


def contextual(stage: Stage) -> Find:
    """Both searches over passages with their contexts, fused. Tickets have none: each is a document of its own."""
    world = stage.world
    written = read_contexts(document_texts(), world.corpus.passages, stage.written("contexts"))
    passages = contextualised(world.corpus.index, written)
    return by_text(fuse_retrievers([BM25(passages), Dense(passages, world.embed)]))


def with_maxsim(stage: Stage) -> Find:
    """The best of the candidates of `contextual` as a stored run of MaxSim ordered them."""
    stage.written("contexts")
    ranked = reranked("contexts")
    return lambda question: [Hit(name, "", 1 / n) for n, name in enumerate(ranked[question.id][:K], start=1)]


TECHNIQUES = (
    Technique("contextual hybrid", CHAPTER, contextual, indexed="hand"),
    Technique("contextual hybrid, MaxSim", CHAPTER, with_maxsim, indexed="hand", questions=asked, timed=False),
)
