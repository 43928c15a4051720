"""More experiments of the chapter on rewriting: a change of subject, and solved examples instead of instructions.

``change_of_subject`` puts a question that stands alone behind talk about something else: the right rewrite is
the question itself. ``few_shot_standalone`` and ``few_shot_decompose`` ask what ``standalone`` and ``decompose`` ask
with solved examples in the prompt. The examples come from outside the corpus, so no question is among them.

The two ``continued`` tasks have the same prompts, asked in another way: solved examples are a text to go on
with, and a chat template around it makes it a message to reply to. Their settings are ``raw``: the local model gets
the prompt without its template.
"""

from __future__ import annotations

from collections.abc import Iterator

from ragkit import corpus
from ragkit.corpus import Question
from ragkit.models.recording_tasks import Settings
from ragkit.query import few_shot_prompt, standalone_question_prompt

STANDALONE_INSTRUCTION = "Turn the last message of the conversation into a question that stands alone."
STANDALONE_LABELS = ("Conversation", "Question")
STANDALONE_EXAMPLES = (
    (
        "user: When does the ferry to Lund leave on Sundays? assistant: At nine. user: And on weekdays?",
        "When does the ferry to Lund leave on weekdays?",
    ),
    (
        "user: Who wrote the guide to the botanical garden? assistant: Its head gardener, Ada Pell. "
        "user: Is she still there?",
        "Is Ada Pell still at the botanical garden?",
    ),
    (
        "user: My tent leaks at the seams. assistant: Seal them with the repair kit RK-7. user: What does that cost?",
        "What does the repair kit RK-7 cost?",
    ),
)

DECOMPOSE_INSTRUCTION = "Split the question into its parts."
DECOMPOSE_LABELS = ("Question", "Parts")
DECOMPOSE_EXAMPLES = (
    (
        "When does the ferry to Lund leave, and how long does the crossing take?",
        "When does the ferry to Lund leave? | How long does the crossing to Lund take?",
    ),
    (
        "Who wrote the guide to the botanical garden, and what does a season ticket cost?",
        "Who wrote the guide to the botanical garden? | What does a season ticket for the botanical garden cost?",
    ),
    (
        "How heavy is the tent TN-4 and how many people sleep in it?",
        "How heavy is the tent TN-4? | How many people sleep in the tent TN-4?",
    ),
)


def changes_of_subject() -> list[Question]:
    """Every single-fact question with the history of the follow-up of the same number before it."""
    world = corpus.load()
    pairs = zip(world.select(cls="single_fact"), world.select(cls="follow_up"), strict=False)
    return [
        Question(fact.id, fact.cls, fact.split, fact.text, relevant=fact.relevant, history=earlier.history)
        for fact, earlier in pairs
    ]


def conversation(question: Question) -> str:
    """The history and the newest message as one line, as the solved examples write it."""
    turns = [*question.history, {"role": "user", "content": question.text}]
    return " ".join(f"{turn['role']}: {turn['content']}" for turn in turns)


def change_of_subject() -> Iterator[tuple[str, str]]:
    """The prompt for a standalone question, where the newest message has nothing to do with the turns before it."""
    for question in changes_of_subject():
        yield question.id, standalone_question_prompt(question.history, question.text)


def few_shot_standalone() -> Iterator[tuple[str, str]]:
    """Follow-ups behind three solved conversations."""
    for question in corpus.load().select(cls="follow_up"):
        asked = conversation(question)
        yield question.id, few_shot_prompt(asked, STANDALONE_EXAMPLES, STANDALONE_INSTRUCTION, *STANDALONE_LABELS)


def few_shot_decompose() -> Iterator[tuple[str, str]]:
    """Compound questions behind three solved ones."""
    for question in corpus.load().select(cls="compound"):
        yield question.id, few_shot_prompt(question.text, DECOMPOSE_EXAMPLES, DECOMPOSE_INSTRUCTION, *DECOMPOSE_LABELS)


TASKS = {
    "change_of_subject": change_of_subject,
    "few_shot_standalone": few_shot_standalone,
    "few_shot_decompose": few_shot_decompose,
    "continued_standalone": few_shot_standalone,
    "continued_decompose": few_shot_decompose,
}

SETTINGS = {
    **dict.fromkeys(TASKS, Settings(max_tokens=96)),
    **dict.fromkeys(("continued_standalone", "continued_decompose"), Settings(40, ("\n",), raw=True)),
}
"""A continued prompt is no question: the model goes on with its text up to the end of the line."""
