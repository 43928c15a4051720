"""Chapter 5: a better query, or several, over hybrid search; each on the classes that its task is recorded for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ragkit.query import decompose_search, multi_query_search, rewrite_search, standalone_question, step_back_search
from ragkit.recorded.queries import questions
from ragkit.scoreboard.technique import Find, K, Stage, Technique, by_text

CHAPTER = "05-rewriting"
ANSWERERS = ("hand", "135M")


def conversational(stage: Stage) -> Find:
    """A follow-up made to stand alone, then searched."""
    llm = stage.ask("standalone")
    return lambda question: stage.world.hybrid(standalone_question(question.history, question.text, llm), K)


def transformed(task: str, search: Callable[..., Any]) -> Callable[[Stage], Find]:
    """One of the package's ``*_search`` functions over hybrid search."""
    return lambda stage: by_text(partial(search, retriever=stage.world.hybrid, llm=stage.ask(task)))


def entry(name: str, task: str, make: Callable[[Stage], Find]) -> Technique:
    """A row of this chapter."""
    return Technique(name, CHAPTER, make, ANSWERERS, questions=partial(questions, task))


TECHNIQUES = (
    entry("conversational", "standalone", conversational),
    entry("rewrite", "rewrite", transformed("rewrite", rewrite_search)),
    entry("multi-query", "paraphrases", transformed("paraphrases", multi_query_search)),
    entry("step-back", "step_back", transformed("step_back", step_back_search)),
    entry("decompose", "decompose", transformed("decompose", decompose_search)),
)
