"""Community reports and global search: a report a community, then map and reduce for the whole-corpus questions.

Beside them stand the two cheaper readers that the chapter compares with: one call on the nearest reports, and one on
the passages of a hybrid search. The steps lean on each other, so a later prompt is built from the hand answers of the
step before it, whoever is asked: a model's answer shows what it makes of one step, not of the chain of its own replies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ragkit import corpus
from ragkit.base import LLM, Retriever
from ragkit.corpus import Question
from ragkit.graph.communities import Community, at_level, hierarchy
from ragkit.graph.extract import extract_all
from ragkit.graph.global_search import (
    REDUCE_PROMPT,
    batches,
    map_prompt,
    map_reduce,
    nearest_prompt,
    nearest_reports,
    nearest_summaries,
)
from ragkit.graph.local_search import local_prompt
from ragkit.graph.merge import KnowledgeGraph, merge
from ragkit.graph.reports import Report, build_reports, notes_for, report_prompt
from ragkit.models import Recording, embedder
from ragkit.models.recording_tasks import by_opening
from ragkit.search import BM25, Dense, fuse_retrievers
from ragkit.text import fill

MAX_SIZE = 60
"""Communities larger than this are split again, at the next level."""
LEVEL = 0
"""The level whose communities get a report."""
MIN_SIZE = 10
"""Members that a community needs to get one."""
NOTES_BUDGET = 6_000
"""Tokens of notes a report may read: enough for the largest community, so that nothing is left out."""
MAP_BUDGET = 3_000
"""Tokens of reports a map call reads."""
NEAREST = 5
"""Reports that the one-call mode reads."""
DEPTH = 10
"""Passages that the reader of the hybrid search gets."""


@lru_cache(maxsize=1)
def graph() -> KnowledgeGraph:
    """The graph of the hand extraction, over every passage of the documents."""
    return merge(extract_all(corpus.load().passages, Recording("extraction")))


@lru_cache(maxsize=1)
def communities() -> tuple[Community, ...]:
    """Every level of the hierarchy over that graph."""
    found = graph()
    return tuple(hierarchy(found.weights, found.nodes, max_size=MAX_SIZE))


def reported() -> list[Community]:
    """The communities of ``LEVEL`` with at least ``MIN_SIZE`` members."""
    return [c for c in at_level(communities(), LEVEL) if len(c.members) >= MIN_SIZE]


def reports(llm: LLM | None = None) -> list[Report]:
    """The reports, by default those written by hand."""
    return build_reports(graph(), reported(), llm or Recording("reports"), NOTES_BUDGET)


def questions() -> list[Question]:
    """The test split's whole-corpus questions that documents answer; those about tickets have no relevant passages."""
    return [question for question in corpus.load().select(cls="theme", split="test") if question.relevant]


def two_steps(mapper: LLM, reducer: LLM) -> LLM:
    """One model out of two: prompts that begin as the reduce prompt does go to ``reducer``, others to ``mapper``."""
    return by_opening(REDUCE_PROMPT, reducer, mapper)


@lru_cache(maxsize=1)
def hybrid() -> Retriever:
    """BM25 and dense search over the whole index, fused."""
    index = corpus.load().index
    return fuse_retrievers([BM25(index), Dense(index, embedder())])


JUDGE_PROMPT = """\
Which of these themes does the answer state, in whatever words? A theme that it only touches does not count.
Reply with the numbers, divided by commas, or with the word none.

Themes:
${themes}

Answer:
${answer}
"""
SYSTEMS = ("map_reduce", "nearest", "hybrid")


def answers(question: Question) -> dict[str, str]:
    """The hand answer of each of ``SYSTEMS`` to one question."""
    steps = two_steps(Recording("global_map"), Recording("global_reduce"))
    notes = passage_notes(question.text)
    return {
        "map_reduce": map_reduce(question.text, reports(), steps, MAP_BUDGET).answer,
        "nearest": nearest_summaries(question.text, reports(), embedder(), Recording("global_nearest"), NEAREST).answer,
        "hybrid": Recording("global_hybrid")(local_prompt(question.text, notes)),
    }


def judge_prompt(question: Question, answer: str) -> str:
    """Ask which of the question's themes an answer states; the judge does not learn which system wrote it."""
    themes = (f"{number}. {theme}" for number, theme in enumerate(question.themes, start=1))
    return fill(JUDGE_PROMPT, themes="\n".join(themes), answer=answer)


def judged_recall(question: Question, answer: str, judge: LLM) -> float:
    """The share of the themes whose numbers the judge names."""
    named = {int(number) for number in re.findall(r"\d+", judge(judge_prompt(question, answer)))}
    return len(named & set(range(1, len(question.themes) + 1))) / len(question.themes)


def report_prompts() -> Iterator[tuple[str, str]]:
    """One prompt a community; the item is its id."""
    for community in reported():
        yield (
            f"community-{community.id:02d}",
            report_prompt(notes_for(graph(), reported(), community, {}, NOTES_BUDGET)),
        )


def map_prompts() -> Iterator[tuple[str, str]]:
    """One prompt a batch of reports and question."""
    packed = batches(reports(), MAP_BUDGET)
    for question in questions():
        for number, batch in enumerate(packed, start=1):
            yield f"{question.id}/{number}", map_prompt(question.text, [text for _, text in batch])


def reduce_prompts() -> Iterator[tuple[str, str]]:
    """One prompt a question, from the points of the hand map replies."""
    for question in questions():
        asked: list[str] = []

        def note(prompt: str, asked: list[str] = asked) -> str:
            asked.append(prompt)
            return ""

        map_reduce(question.text, reports(), two_steps(Recording("global_map"), note), MAP_BUDGET)
        for prompt in asked:
            yield question.id, prompt


def nearest_prompts() -> Iterator[tuple[str, str]]:
    """One prompt a question, with the reports that lie nearest to it."""
    for question in questions():
        near = nearest_reports(question.text, reports(), embedder(), NEAREST)
        yield question.id, nearest_prompt(question.text, near)


def passage_notes(question: str, k: int = DEPTH) -> str:
    """What the hybrid search finds, as the notes of a reader."""
    world = {passage.id: passage for passage in corpus.load().index}
    return "\n\n".join(world[hit.id].full_text for hit in hybrid()(question, k))


def hybrid_prompts() -> Iterator[tuple[str, str]]:
    """One prompt a question, with the passages that the hybrid search finds for it."""
    for question in questions():
        yield question.id, local_prompt(question.text, passage_notes(question.text))


def judge_prompts() -> Iterator[tuple[str, str]]:
    """One prompt a question and system."""
    for question in questions():
        for system, answer in answers(question).items():
            yield f"{question.id}/{system}", judge_prompt(question, answer)


TASKS = {
    "reports": report_prompts,
    "global_map": map_prompts,
    "global_reduce": reduce_prompts,
    "global_nearest": nearest_prompts,
    "global_hybrid": hybrid_prompts,
    "global_judge": judge_prompts,
}
