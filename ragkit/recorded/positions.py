"""Where the answer stands in a prompt: lists of colleagues to look up, and gold passages among distractors.

Both follow Liu et al., *Lost in the Middle* (TACL 2024, sections 2 and 3): everything but the place of the answer stays
the same. Distractors are found by BM25, whose ranking is the same on every machine, so that the prompts are too. Left
out: their long inputs (75 to 300 pairs, 10 to 30 documents), which a 135M model does not survive.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from ragkit import corpus
from ragkit.base import Passage
from ragkit.corpus import Question
from ragkit.models.recording_tasks import Settings
from ragkit.search import BM25
from ragkit.text import count_tokens, fill, normalize_answer

LOOKUP_PROMPT = """\
Here is a list of colleagues and the city in which each of them works.

$lines

In which city does $name work?"""

ANSWER_PROMPT = """\
Answer the question with a few words from the passages below.

$passages

Question: $question"""

CLOSED_PROMPT = """\
Answer the question with a few words.

Question: $question"""
"""The reader's prompt without passages: what the model knows by itself."""

NAMES = "Ada Bruno Clara Dario Elsa Felix Greta Hugo Irma Jonas Karin Lars Mona Nils Olga Paul Rosa Sven Tilda Viktor"
CITIES = (
    "Athens Bergen Berlin Bristol Cairo Dublin Geneva Hamburg Lisbon London Madrid Milan Oslo Paris Prague Rome Turin "
    "Vienna Warsaw Zurich"
)
PAIRS = 8
TRIALS = 12
CLASSES = ("single_fact", "exact_code", "vocabulary_gap")
SHORT = 110
"""Word pieces that a gold passage or a distractor may have, so that a prompt stays short for the local model."""
DISTRACTORS = 4
PLACES = {"first": 0, "middle": DISTRACTORS // 2, "last": DISTRACTORS}
"""Name of a place -> how many distractors stand before the gold passage."""


class Lookup(NamedTuple):
    """One prompt of the look-up task: ``position`` counts from 1."""

    item: str
    trial: int
    position: int
    prompt: str
    answer: str


def lookups(pairs: int = PAIRS, trials: int = TRIALS, seed: int = 20) -> list[Lookup]:
    """Every trial at every position: one pair is moved through a list whose other pairs keep their order.

    >>> one = lookups(pairs=3, trials=1)[2]
    >>> one.item, one.answer in one.prompt.splitlines()[4]
    ('trial-01/3', True)
    """
    rng = random.Random(seed)
    made = []
    for trial in range(1, trials + 1):
        listed = list(zip(rng.sample(NAMES.split(), pairs), rng.sample(CITIES.split(), pairs), strict=True))
        (name, city), others = listed[0], listed[1:]
        for position in range(1, pairs + 1):
            order = [*others[: position - 1], (name, city), *others[position - 1 :]]
            lines = "\n".join(f"{who} works in {where}." for who, where in order)
            prompt = fill(LOOKUP_PROMPT, lines=lines, name=name)
            made.append(Lookup(f"trial-{trial:02d}/{position}", trial, position, prompt, city))
    return made


def answer_prompt(question: str, passages: Sequence[Passage]) -> str:
    """The reader's prompt: the passages in the order given, numbered, and the question last."""
    numbered = "\n\n".join(f"[{n}] {passage.full_text}" for n, passage in enumerate(passages, start=1))
    return fill(ANSWER_PROMPT, passages=numbered, question=question)


def states(text: str, question: Question) -> bool:
    """Whether the text holds one of the question's answers, both normalised as for exact match."""
    words = f" {normalize_answer(text)} "
    return any(f" {normalize_answer(answer)} " in words for answer in question.answers)


@cache
def _bm25() -> BM25:
    return BM25(corpus.load().passages)


def gold_of(question: Question) -> Passage:
    """The passage with the highest gain, the first labelled one among equals."""
    return corpus.load().passage(max(question.relevant, key=lambda passage_id: question.relevant[passage_id]))


def _short(text: str) -> bool:
    return count_tokens(text) <= SHORT


def gold_and_distractors(question: Question) -> tuple[Passage, list[Passage]]:
    """The gold passage, and the best short matches by BM25 that neither are labelled nor hold an answer."""
    world = corpus.load()
    ranked = [world.passage(hit.id) for hit in _bm25()(question.text, 60)]
    others = [p for p in ranked if p.id not in question.relevant and not states(p.full_text, question)]
    return gold_of(question), [p for p in others if _short(p.full_text)][:DISTRACTORS]


def asked() -> list[Question]:
    """Questions with a short gold passage and an answer of at most four words that the question does not give away."""
    found = [question for cls in CLASSES for question in corpus.load().select(cls=cls)]
    brief = [q for q in found if len(q.answer.split()) <= 4 and not states(q.text, q)]
    return [q for q in brief if _short(gold_of(q).full_text)]


def placed(question: Question, place: str) -> str:
    """The prompt with the gold passage ``first``, ``middle`` or ``last`` among its distractors.

    ``alone`` leaves the distractors out, ``none`` every passage.
    """
    if place == "none":
        return fill(CLOSED_PROMPT, question=question.text)
    gold, others = gold_and_distractors(question)
    if place == "alone":
        return answer_prompt(question.text, [gold])
    if place not in PLACES:
        raise ValueError(f"place must be one of {', '.join(PLACES)}, alone, none, got {place!r}")
    before = PLACES[place]
    return answer_prompt(question.text, [*others[:before], gold, *others[before:]])


def look_up() -> Iterator[tuple[str, str]]:
    """The look-up task: item and prompt."""
    yield from ((one.item, one.prompt) for one in lookups())


def places() -> Iterator[tuple[str, str]]:
    """Each question with its gold passage at each place, alone, and without any passage."""
    for question in asked():
        for place in (*PLACES, "alone", "none"):
            yield f"{question.id}/{place}", placed(question, place)


TASKS = {"look_up": look_up, "places": places}

SETTINGS = dict.fromkeys(TASKS, Settings(max_tokens=24))
