"""What the chapter on measuring asks the small model: the same questions without evidence, with it, and as a judge.

The reader's prompts are those of ``positions.py``. The judge's prompt shows two answers to one question side by side
and is asked in both orders, as in Zheng et al. (2023, section 3.4). Retrieval is BM25, whose ranking is the same on
every machine, so that the prompts are too. Left out: grades on a scale, and a judge that explains itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial

from ragkit import corpus
from ragkit.corpus import Question
from ragkit.metrics import Verdict
from ragkit.models.recording_tasks import Settings
from ragkit.recorded.positions import CLOSED_PROMPT, answer_prompt
from ragkit.search import BM25
from ragkit.text import fill

JUDGE_PROMPT = """\
Read the passage and decide which of two answers to the question is right.

Passage: $passage

Question: $question

Answer A: $first
Answer B: $second

Which answer is right? Reply with one letter, A or B."""

CLASSES = ("single_fact", "table_form")
K = 5

WRONG = {
    "single_fact-01": "£57 million",
    "single_fact-02": "3,310",
    "single_fact-03": "1,750 watts",
    "single_fact-04": "four hours",
    "single_fact-05": "£14",
    "single_fact-06": "1998",
    "single_fact-07": "325 pence",
    "single_fact-08": "25 pence",
    "single_fact-09": "1,551",
    "single_fact-10": "May 2024",
    "single_fact-11": "30 days",
    "single_fact-12": "ten kilograms",
}
"""Question id -> a wrong answer of the right kind, to be set beside the right one."""


def asked() -> list[Question]:
    """The questions that the reader is asked: single facts, and facts that stand in a table or want one."""
    return [question for cls in CLASSES for question in corpus.load().select(cls=cls)]


@cache
def searcher() -> BM25:
    """Keyword search over the passages and the tickets."""
    return BM25(corpus.load().index)


def reader_prompt(question: Question, evidence: str) -> str:
    """The question with its ``gold`` passages, with the five that were ``retrieved``, or with ``none``."""
    if evidence == "none":
        return fill(CLOSED_PROMPT, question=question.text)
    if evidence == "gold":
        ids = list(question.relevant)
    elif evidence == "retrieved":
        ids = [hit.id for hit in searcher()(question.text, K)]
    else:
        raise ValueError(f"evidence must be 'none', 'gold' or 'retrieved', got {evidence!r}")
    return answer_prompt(question.text, [corpus.load().passage(passage_id) for passage_id in ids])


def judge_prompt(question: Question, first: str, second: str) -> str:
    """Two answers side by side, under the passage that settles the matter."""
    gold = max(question.relevant, key=lambda passage_id: question.relevant[passage_id])
    text = corpus.load().passage(gold).full_text
    return fill(JUDGE_PROMPT, passage=text, question=question.text, first=first, second=second)


def verdict(reply: str) -> Verdict | None:
    """Which answer a reply names, ``None`` where it names neither or both.

    >>> verdict("Answer B."), verdict("A"), verdict("Either of A and B"), verdict("Four hours")
    ('second', 'first', None, None)
    """
    named = set(re.findall(r"\b[AB]\b", reply))
    if len(named) != 1:
        return None
    return "first" if named == {"A"} else "second"


def pairs() -> list[tuple[Question, str, str]]:
    """Each judged question with its right and its wrong answer, in this order."""
    return [(q, q.answer, WRONG[q.id]) for q in asked() if q.id in WRONG]


def reader(evidence: str) -> Iterator[tuple[str, str]]:
    """Every question with one kind of evidence."""
    yield from ((question.id, reader_prompt(question, evidence)) for question in asked())


def judge() -> Iterator[tuple[str, str]]:
    """Every pair in both orders: ``/1`` shows the right answer first, ``/2`` the wrong one."""
    for question, right, wrong in pairs():
        yield f"{question.id}/1", judge_prompt(question, right, wrong)
        yield f"{question.id}/2", judge_prompt(question, wrong, right)


TASKS = {
    "reader_none": partial(reader, "none"),
    "reader_gold": partial(reader, "gold"),
    "reader_retrieved": partial(reader, "retrieved"),
    "judge": judge,
}

SETTINGS = {**dict.fromkeys(TASKS, Settings(max_tokens=24)), "judge": Settings(max_tokens=8)}
