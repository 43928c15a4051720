"""Chapter 12: a walk over the graph of triples from the entities of the question."""

from __future__ import annotations

from ragkit.graph import extract_all, model_entities, triples_from
from ragkit.graph.hipporag import HippoRAG
from ragkit.recorded.hipporag import questions
from ragkit.scoreboard.technique import Find, Stage, Technique, by_text

CHAPTER = "12-hipporag"


def hipporag(stage: Stage) -> Find:
    """HippoRAG over the hand-made triples; the answerer names the entities of the question."""
    world = stage.world
    triples = triples_from(extract_all(world.corpus.passages, stage.written("extraction")))
    return by_text(HippoRAG(world.corpus.index, triples, world.embed, model_entities(stage.ask("query_entities"))))


TECHNIQUES = (Technique("HippoRAG", CHAPTER, hipporag, ("hand", "135M"), indexed="hand", questions=questions),)
