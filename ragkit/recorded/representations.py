"""Representations made at indexing time: a summary a document, and the questions that each passage answers."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ragkit import corpus
from ragkit.base import Passage
from ragkit.index import questions_prompt, summary_prompt
from ragkit.models.recording_tasks import Settings


def whole_documents() -> list[Passage]:
    """Every document of the corpus as one passage, its sections joined by blank lines."""
    return [
        Passage(document.id, "\n\n".join(passage.text for passage in document.passages), document.title)
        for document in corpus.load().documents
    ]


def summaries() -> Iterator[tuple[str, str]]:
    """Document id and the prompt that asks for its summary."""
    for document in whole_documents():
        yield document.id, summary_prompt(document)


def questions() -> Iterator[tuple[str, str]]:
    """Passage id and the prompt that asks for three questions."""
    for passage in corpus.load().passages:
        yield passage.id, questions_prompt(passage)


def questions_sample(n: int = 20, seed: int = 0) -> Iterator[tuple[str, str]]:
    """The prompts of ``n`` passages drawn by ``seed``: enough to set a small model's questions beside written ones."""
    yield from sorted(random.Random(seed).sample(sorted(questions()), n))


TASKS = {"summaries": summaries, "questions": questions, "questions_sample": questions_sample}

SETTINGS = {"questions_sample": Settings(max_tokens=120)}
