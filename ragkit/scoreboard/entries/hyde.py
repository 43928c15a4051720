"""Chapter 6: a hypothetical passage in the place of the query, for dense search and for BM25."""

from __future__ import annotations

from functools import partial

from ragkit.query import hyde_search, query2doc_search
from ragkit.recorded.queries import questions
from ragkit.scoreboard.technique import Find, Stage, Technique, by_text

CHAPTER = "06-hyde"
ANSWERERS = ("hand", "135M")


def hyde(stage: Stage) -> Find:
    """Dense search with the mean of the question's vector and the passage's."""
    return by_text(partial(hyde_search, dense=stage.world.dense, llm=stage.ask("hyde")))


def query2doc(stage: Stage) -> Find:
    """BM25 with the question repeated before the passage."""
    return by_text(partial(query2doc_search, retriever=stage.world.bm25, llm=stage.ask("query2doc")))


TECHNIQUES = (
    Technique("HyDE", CHAPTER, hyde, ANSWERERS, questions=partial(questions, "hyde")),
    Technique("Query2doc", CHAPTER, query2doc, ANSWERERS, questions=partial(questions, "query2doc")),
)
