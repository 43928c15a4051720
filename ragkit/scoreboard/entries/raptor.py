"""Chapter 9: the tree of summaries; its nodes as they are found, and unfolded into passages."""

from __future__ import annotations

from ragkit.index import Raptor
from ragkit.recorded import raptor
from ragkit.scoreboard.technique import Find, K, Stage, Technique, by_text

CHAPTER = "09-raptor"


def tree(stage: Stage) -> Raptor:
    """The company's tree. Tickets are leaves without a parent."""
    return raptor.tree(stage.written("raptor"), stage.world.corpus.index)


def nodes(stage: Stage) -> Find:
    """The nearest nodes of all layers. A summary is no passage, so it takes a place and earns nothing."""
    return by_text(tree(stage))


def unfolded(stage: Stage) -> Find:
    """The same ranking with each summary replaced by the passages below it, nearest first."""
    found = tree(stage)
    return lambda question: found.passages(question.text, K)


TECHNIQUES = (
    Technique("RAPTOR, nodes", CHAPTER, nodes, indexed="hand"),
    Technique("RAPTOR, unfolded", CHAPTER, unfolded, indexed="hand"),
)
