"""Self-Route on one shelf of documents, and how long the local model takes to read a prompt.

The shelf is every document of the kind ``policy``: small enough that a person can read the whole prompt before
answering it by hand, and that the 135M model's window holds it. Its documents stand in the order of their dates, so
that it grows at its end, and the question comes last. Retrieval is BM25, whose ranking is the same on every machine, so
that the prompts are too. The method is that of Li et al. (EMNLP 2024 Industry Track); the shelf and the questions are
the course's own.

``python -m ragkit.recorded.long_context answers`` lets the 135M model answer: the shelf is read once and kept as a
prefix, since reading it again for each question would take a core most of an hour. ``... times`` measures the reading
of prompts of several lengths and writes ``prefill_times.toml``. Left out: more threads, and graphics cards.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import time
import tomllib
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from ragkit import corpus
from ragkit.base import Hit
from ragkit.corpus import Document, Question
from ragkit.models.local import CONTEXT, NAME, Local
from ragkit.models.recording_runs import rerecord
from ragkit.models.recording_tasks import Settings
from ragkit.search import BM25
from ragkit.systems.self_route import declines, long_prompt, self_route_prompt
from ragkit.text import normalize_answer

KIND = "policy"
CLASSES = ("single_fact", "vocabulary_gap", "temporal", "compound", "table_form", "multi_hop")
UNANSWERABLE = 10
"""How many questions without an answer are asked: the first of their class."""
K = 5
EVERY = 3
"""The 135M model is asked each third question, the first included; by hand all are answered."""
MAX_TOKENS = 40
SHARE = 0.8
"""Of an answer of up to four words a reply must hold all; of a longer one most, in any order."""
LENGTHS = (512, 1024, 2048, 4096, 7680)
"""Tokens of the prompts whose reading is timed, about; the engine says how many there were."""
TIMES = Path(__file__).with_name("prefill_times.toml")


@cache
def shelf() -> list[Document]:
    """The documents of the shelf, oldest first, those of one day by id."""
    found = [document for document in corpus.load().documents if document.kind == KIND]
    return sorted(found, key=lambda document: (document.date, document.id))


def dated(title: str, date: str, text: str) -> str:
    """A passage as both prompts show it.

    >>> dated("Returns policy", "2024-09-01", "The limit is 45 days.")
    'Returns policy (2024-09-01)\\nThe limit is 45 days.'
    """
    return f"{title} ({date})\n{text}"


def show(hit: Hit) -> str:
    """A hit with the title and the date of its document."""
    passage = corpus.load().passage(hit.id)
    return dated(passage.title, passage.meta["date"], passage.text)


@cache
def shelf_text() -> str:
    """The whole shelf as one text: each document under its title and date."""
    return "\n\n".join(dated(d.title, d.date, "\n".join(p.text for p in d.passages)) for d in shelf())


@cache
def searcher() -> BM25:
    """Keyword search over the passages of the shelf."""
    return BM25([passage for document in shelf() for passage in document.passages])


def asked() -> list[Question]:
    """Questions of six classes whose gold passages all stand on the shelf, and the first of those without an answer."""
    world, names = corpus.load(), {document.id for document in shelf()}
    inside = [
        question
        for cls in CLASSES
        for question in world.select(cls=cls)
        if question.relevant and {passage_id.split("/")[0] for passage_id in question.relevant} <= names
    ]
    return inside + world.select(cls="no_answer")[:UNANSWERABLE]


def sample() -> list[Question]:
    """The questions that the 135M model is asked too."""
    return asked()[::EVERY]


def right(reply: str, question: Question) -> bool:
    """Whether the reply holds `SHARE` of the words of an accepted answer, or, where there is none, declines."""
    if not question.relevant:
        return declines(reply)
    said = set(normalize_answer(reply).split())
    wanted = [set(normalize_answer(answer).split()) for answer in question.answers]
    return any(words and len(words & said) >= SHARE * len(words) for words in wanted)


def first_prompt(question: Question) -> str:
    """The question with its retrieved passages, and leave to decline."""
    return self_route_prompt(question.text, searcher()(question.text, K), show)


def second_prompt(question: Question) -> str:
    """The question after the whole shelf."""
    return long_prompt(question.text, shelf_text())


def first_prompts() -> Iterator[tuple[str, str]]:
    """Every question's first prompt."""
    yield from ((question.id, first_prompt(question)) for question in asked())


def second_prompts() -> Iterator[tuple[str, str]]:
    """Every question's long prompt, also of those that the first call answers: the long context alone is a rival."""
    yield from ((question.id, second_prompt(question)) for question in asked())


TASKS = {"self_route": first_prompts, "self_route_long": second_prompts}

SETTINGS = dict.fromkeys(TASKS, Settings(max_tokens=MAX_TOKENS))


def answer(threads: int | None = None) -> int:
    """Record the 135M model on its sample; the long prompts share a prefix that is read once. Returns the calls."""
    items = {question.id for question in sample()}
    tasks = {name: partial(_only, prompts, items) for name, prompts in TASKS.items()}
    afresh = Local(max_tokens=MAX_TOKENS, threads=threads)
    kept = Local(max_tokens=MAX_TOKENS, threads=threads, reuse_prefix=True)
    count = rerecord(tasks, afresh, "135M", NAME, only=["self_route"], gaps_only=True)
    return count + rerecord(tasks, kept, "135M", NAME, only=["self_route_long"], gaps_only=True)


def _only(prompts: Callable[[], Iterator[tuple[str, str]]], items: set[str]) -> list[tuple[str, str]]:
    return [(item, prompt) for item, prompt in prompts() if item in items]


class Timing(NamedTuple):
    """One reading: tokens of the prompt, those found in the cache, and seconds of processor time on one thread."""

    tokens: int
    cached: int
    seconds: float


def long_text(llm: Local, tokens: int) -> str:
    """Passages of the corpus from the first on, cut between words so that a prompt has about ``tokens`` tokens."""
    words = " ".join(passage.full_text for passage in corpus.load().passages).split()
    some = words[:300]
    rate = llm.generate(" ".join(some), max_tokens=1, top=None).prompt_tokens / len(some)
    return " ".join(words[: int(tokens / rate)])


def read(llm: Local, prompt: str, reuse: bool) -> Timing:
    """One call that writes a single token, so that its time is that of reading the prompt."""
    began = time.process_time()
    done = llm.generate(prompt, max_tokens=1, top=None, reuse_prefix=reuse)
    return Timing(done.prompt_tokens, done.cached_tokens, round(time.process_time() - began, 3))


def measure(tokens: int) -> tuple[Timing, Timing]:
    """A prompt of about ``tokens`` tokens read afresh, and once more with another question after the same text."""
    llm = Local(threads=1)
    text = long_text(llm, tokens)
    llm.generate("Hello.", max_tokens=1, top=None)
    return (
        read(llm, f"{text}\n\nQuestion: Who signed the letter?", reuse=False),
        read(llm, f"{text}\n\nQuestion: When does the store open on Sundays?", reuse=True),
    )


def write_times() -> None:
    """Measure every length and write the file; a length is on disk before the next begins."""
    import tomli_w

    rows: list[dict[str, float]] = []
    for length in LENGTHS:
        rows += [timing._asdict() for timing in measure(min(length, CONTEXT - 64))]
        head = {"date": datetime.date.today(), "model": NAME, "machine": machine(), "threads": 1}
        TIMES.write_text(tomli_w.dumps({**head, "reading": rows}), encoding="utf-8")


def times() -> tuple[dict[str, str], list[Timing], list[Timing]]:
    """What was measured: date, model and machine; the prompts read afresh; those read after a cached prefix."""
    found = tomllib.loads(TIMES.read_text(encoding="utf-8"))
    rows = [Timing(**row) for row in found.pop("reading")]
    return {key: str(value) for key, value in found.items()}, rows[0::2], rows[1::2]


def machine() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Ask the local model, or time it.")
    parser.add_argument("what", choices=("answers", "times"))
    if parser.parse_args().what == "answers":
        print(f"{answer()} answers recorded")
    else:
        write_times()
