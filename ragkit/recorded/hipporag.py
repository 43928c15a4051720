"""The entities of a question, one prompt a question: where HippoRAG's walk starts.

The prompt is the one that reads passages, given the question in the passage's place (``model_entities``). It is
recorded for three classes that the walk is meant for, and for two that it is not.
"""

from __future__ import annotations

from collections.abc import Iterator

from ragkit import corpus
from ragkit.corpus import Question
from ragkit.graph.extract import extraction_prompt
from ragkit.models.recording_tasks import Settings

CLASSES = ("multi_hop", "relational", "fragmented_entity", "single_fact", "vocabulary_gap")
"""The classes whose questions are recorded."""


def questions() -> list[Question]:
    """Their questions, class by class in the order of the corpus."""
    world = corpus.load()
    return [question for cls in CLASSES for question in world.select(cls=cls)]


def query_entities() -> Iterator[tuple[str, str]]:
    """Question id and prompt."""
    for question in questions():
        yield question.id, extraction_prompt(question.text)


TASKS = {"query_entities": query_entities}

SETTINGS = {"query_entities": Settings(max_tokens=96)}
