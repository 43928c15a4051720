"""The loops of the chapter on multi-hop questions: every prompt of one follows from the answers before it.

So the prompts of a task are made by running its loop on the recorded answers as far as they go; the last prompt that
this yields is the next one to be answered. An item names the question, who answers, and the number of the call:
``multi_hop-03/hand/2``. The questions are all multi-hop ones and the first of two classes that need no second hop; the
local model is asked `sample` alone.

Retrieval is hybrid search. What it found for each query of a recorded loop is kept in ``corpus/runs/multi_hop/``, so
that the prompts need no vector and are the same on every machine; a query that is not there is searched.

``python -m ragkit.recorded.multi_hop`` lets the 135M model answer, round by round, until each of its loops has ended,
and writes the searches down. It goes on where it was stopped.
"""

from __future__ import annotations

import datetime
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

from ragkit import corpus
from ragkit.base import LLM, Hit, Retriever
from ragkit.corpus import Question
from ragkit.loops.ircot import IRCoTResult, ircot
from ragkit.loops.iterative import IterativeResult, iterative
from ragkit.models import Local, Recording, RecordingMiss, embedder
from ragkit.models.recording_runs import rerecord
from ragkit.models.recording_tasks import Settings
from ragkit.search import BM25, Dense, full_texts, fuse_retrievers, interleave_hits

K = 4
"""Passages a search of a loop."""
HOPS = 4
"""Sub-questions at most: the longest chain of the corpus."""
CONTROLS = ("single_fact", "compound")
PER_CONTROL = 10
"""Questions of each class that needs no second hop."""
SAMPLE = 10
"""Multi-hop questions that the local model is asked too, at up to ten calls each."""

FOUND = Path(corpus.__file__).parent / "runs" / "multi_hop" / "found.toml"
"""Query -> ids, best first."""

Loop: TypeAlias = "Callable[[Question, LLM], IterativeResult | IRCoTResult]"


def hops() -> list[Question]:
    """The multi-hop questions."""
    return corpus.load().select(cls="multi_hop")


def controls() -> list[Question]:
    """The first questions of each class of `CONTROLS`."""
    return [question for cls in CONTROLS for question in corpus.load().select(cls=cls)[:PER_CONTROL]]


def asked() -> list[Question]:
    """Every question that is answered by hand."""
    return hops() + controls()


def sample() -> list[Question]:
    """The questions that the local model is asked: the first of the test half of the multi-hop ones."""
    return [question for question in hops() if question.split == "test"][:SAMPLE]


@cache
def stored() -> Mapping[str, list[str]]:
    """The searches that were written down; none where there is no file yet."""
    if not FOUND.is_file():
        return {}
    with FOUND.open("rb") as file:
        found: dict[str, list[str]] = tomllib.load(file)["found"]
    return found


@cache
def _texts() -> dict[str, str]:
    return full_texts(corpus.load().index)


@cache
def hybrid() -> Retriever:
    """BM25 and dense search over passages and tickets, fused."""
    index = corpus.load().index
    return fuse_retrievers([BM25(index), Dense(index, embedder())])


@cache
def _found(query: str, k: int) -> list[str]:
    ids = stored().get(query)
    return ids[:k] if ids is not None and len(ids) >= k else [hit.id for hit in hybrid()(query, k)]


def search(query: str, k: int) -> list[Hit]:
    """What hybrid search finds, read from the file where it is written down. A hit's text has the title."""
    return [Hit(name, _texts()[name], 1 / rank) for rank, name in enumerate(_found(query, k), start=1)]


def decomposed(question: Question, llm: LLM) -> IterativeResult:
    """Iterative decomposition of a question, as it is recorded and measured."""
    return iterative(question.text, retriever=search, llm=llm, k=K, max_hops=HOPS)


def interleaved(question: Question, llm: LLM) -> IRCoTResult:
    """IRCoT on a question, as it is recorded and measured."""
    return ircot(question.text, retriever=search, llm=llm, k=K)


LOOPS: Mapping[str, Loop] = {"iterative": decomposed, "ircot": interleaved}
"""Task -> the loop that it records."""


def rounds(result: IterativeResult | IRCoTResult) -> list[list[Hit]]:
    """What each search of a loop found, in order."""
    steps = [step for step in result.trace if step.action == "retrieve"]
    return [[Hit(name, _texts()[name], 1 / rank) for rank, name in enumerate(step.ids, start=1)] for step in steps]


def in_turn(result: IterativeResult | IRCoTResult, k: int) -> list[Hit]:
    """At most ``k`` passages of a loop, its searches taking turns, so that the newest hop gets a place as the first."""
    return interleave_hits(rounds(result), k)


def branch(loop: Loop, task: str, question: Question, answerer: str) -> tuple[list[str], bool]:
    """The prompts of one run on recorded answers, each once and in order, and whether the run came to its end."""
    replay, prompts = Recording(task, answerer), list[str]()

    def note(prompt: str) -> str:
        prompts.append(prompt)
        return replay(prompt)

    with suppress(RecordingMiss):  # the last prompt of the list may wait for its answer
        loop(question, note)
        return list(dict.fromkeys(prompts)), True
    return list(dict.fromkeys(prompts)), False


def prompts(task: str, answerers: tuple[str, ...] = ("hand", "135M")) -> Iterator[tuple[str, str]]:
    """The prompts of a task that its recorded answers lead to: ``multi_hop-03/hand/1`` and so on."""
    for answerer in answerers:
        for question in asked() if answerer == "hand" else sample():
            for number, prompt in enumerate(branch(LOOPS[task], task, question, answerer)[0], start=1):
                yield f"{question.id}/{answerer}/{number}", prompt


TASKS = {"iterative": partial(prompts, "iterative"), "ircot": partial(prompts, "ircot")}

SETTINGS = {"iterative": Settings(max_tokens=40), "ircot": Settings(max_tokens=60)}


def answer(task: str, threads: int | None = None) -> int:
    """Let the 135M model answer a task until each of its loops has ended; returns the calls."""
    local, total = Local(max_tokens=SETTINGS[task].max_tokens, threads=threads), 0
    own = {task: partial(prompts, task, ("135M",))}
    while count := rerecord(own, local, "135M", local.name, only=[task], gaps_only=True):
        total += count
    return total


def write_searches() -> int:
    """Write down what was found for each query of the recorded loops; returns how many queries they are."""
    rows = dict(stored())
    for task, loop in LOOPS.items():
        for answerer, questions in (("hand", asked()), ("135M", sample())):
            for question in questions:
                with suppress(RecordingMiss):  # a run that has not ended yet
                    steps = loop(question, Recording(task, answerer)).trace
                    rows |= {step.text: list(step.ids) for step in steps if step.action == "retrieve"}
    head = ["# What is in here, and how it is made: ragkit/recorded/multi_hop.py", f"date = {datetime.date.today()}"]
    lines = [f"{_toml(query)} = [{', '.join(map(_toml, ids))}]" for query, ids in sorted(rows.items())]
    FOUND.parent.mkdir(parents=True, exist_ok=True)
    FOUND.write_text("\n".join([*head, "\n[found]", *lines, ""]), encoding="utf-8")
    stored.cache_clear()
    _found.cache_clear()
    return len(rows)


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a JSON string is a basic string of TOML


if __name__ == "__main__":
    for name in LOOPS:
        print(f"{name}: {answer(name)} answers recorded")
    print(f"{write_searches()} searches written down")
