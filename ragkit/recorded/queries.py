"""Query transforms: one prompt a question of the classes that a transform is for, and of one that it cannot help."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ragkit import corpus
from ragkit.corpus import Question
from ragkit.query import (
    hypothetical_document_prompt,
    paraphrases_prompt,
    pseudo_document_prompt,
    rewrite_query_prompt,
    standalone_question_prompt,
    step_back_prompt,
    sub_questions_prompt,
)

CLASSES = {
    "standalone": ("follow_up",),
    "rewrite": ("vocabulary_gap", "vague", "exact_code"),
    "paraphrases": ("vocabulary_gap", "vague", "single_fact"),
    "step_back": ("vocabulary_gap", "fragmented_entity", "single_fact"),
    "decompose": ("compound", "relational", "multi_hop"),
    "hyde": ("vocabulary_gap", "single_fact", "exact_code", "temporal"),
    "query2doc": ("vocabulary_gap", "single_fact", "exact_code", "temporal"),
}
"""Task -> the classes whose questions it is recorded for."""


def questions(task: str) -> list[Question]:
    """The questions that ``task`` is recorded for, class by class in the order of the corpus."""
    world = corpus.load()
    return [question for cls in CLASSES[task] for question in world.select(cls=cls)]


def _tasks() -> dict[str, Callable[[], Iterator[tuple[str, str]]]]:
    prompt_of: dict[str, Callable[[Question], str]] = {
        "standalone": lambda question: standalone_question_prompt(question.history, question.text),
        "rewrite": lambda question: rewrite_query_prompt(question.text),
        "paraphrases": lambda question: paraphrases_prompt(question.text),
        "step_back": lambda question: step_back_prompt(question.text),
        "decompose": lambda question: sub_questions_prompt(question.text),
        "hyde": lambda question: hypothetical_document_prompt(question.text),
        "query2doc": lambda question: pseudo_document_prompt(question.text),
    }

    def pairs(task: str) -> Callable[[], Iterator[tuple[str, str]]]:
        return lambda: ((question.id, prompt_of[task](question)) for question in questions(task))

    return {task: pairs(task) for task in prompt_of}


TASKS = _tasks()
