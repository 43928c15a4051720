"""Query transforms: one prompt a question of the classes that a transform is for, and of one that it cannot help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ragkit import corpus
from ragkit.corpus import Question
from ragkit.models.recording_tasks import Settings
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


PROMPT_OF: dict[str, Callable[[Question], str]] = {
    "standalone": lambda question: standalone_question_prompt(question.history, question.text),
    "rewrite": lambda question: rewrite_query_prompt(question.text),
    "paraphrases": lambda question: paraphrases_prompt(question.text),
    "step_back": lambda question: step_back_prompt(question.text),
    "decompose": lambda question: sub_questions_prompt(question.text),
    "hyde": lambda question: hypothetical_document_prompt(question.text),
    "query2doc": lambda question: pseudo_document_prompt(question.text),
}
"""Task -> the prompt that it sends about a question."""


def prompts(task: str) -> Iterator[tuple[str, str]]:
    """Question id and prompt, for every question that ``task`` is recorded for."""
    yield from ((question.id, PROMPT_OF[task](question)) for question in questions(task))


TASKS = {
    "standalone": partial(prompts, "standalone"),
    "rewrite": partial(prompts, "rewrite"),
    "paraphrases": partial(prompts, "paraphrases"),
    "step_back": partial(prompts, "step_back"),
    "decompose": partial(prompts, "decompose"),
    "hyde": partial(prompts, "hyde"),
    "query2doc": partial(prompts, "query2doc"),
}

SETTINGS = {
    **dict.fromkeys(TASKS, Settings(max_tokens=96)),
    **dict.fromkeys(("hyde", "query2doc"), Settings(max_tokens=120)),
}
