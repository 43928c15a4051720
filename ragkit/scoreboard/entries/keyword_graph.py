"""Chapter 11: the two-level keyword graph, asked on both levels at once."""

from __future__ import annotations

from ragkit.graph import KeywordSearch, extract_all, keyed
from ragkit.graph.keyword_graph import KeywordGraph
from ragkit.recorded.keyword_graph import questions
from ragkit.scoreboard.technique import Find, Stage, Technique, by_text

CHAPTER = "11-graphrag-production"


def keyword_graph(stage: Stage) -> Find:
    """Two-level search over the hand extraction; the answerer splits the question into keywords."""
    world = stage.world
    graph, found = KeywordGraph(world.embed), extract_all(world.corpus.passages, stage.written("extraction"))
    graph.insert_all({name: keyed(extraction) for name, extraction in found.items()})
    return by_text(KeywordSearch(graph, world.corpus.passages, stage.ask("query_keywords")))


TECHNIQUES = (
    Technique("keyword graph", CHAPTER, keyword_graph, ("hand", "135M"), indexed="hand", questions=questions),
)
