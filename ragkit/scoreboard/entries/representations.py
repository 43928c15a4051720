"""Chapter 7: passages found by the questions they answer, written before anybody asks."""

from __future__ import annotations

from ragkit.index import doc2query_index, hypothetical_questions, question_representations, representations_index
from ragkit.scoreboard.technique import Find, Stage, Technique, by_text
from ragkit.search import BM25, fuse_retrievers

CHAPTER = "07-representations"


def written_questions(stage: Stage) -> Find:
    """Both searches over passages with their questions, fused."""
    world = stage.world
    written = hypothetical_questions(world.corpus.passages, stage.written("questions"))
    entries = question_representations(world.corpus.passages, written)
    words = doc2query_index(world.corpus.index, written, BM25)
    vectors = representations_index(
        world.corpus.index, entries, lambda passages: type(world.dense)(passages, world.embed)
    )
    return by_text(fuse_retrievers([words, vectors]))


TECHNIQUES = (Technique("written questions", CHAPTER, written_questions, indexed="hand"),)
