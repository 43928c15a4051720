"""What the scoreboard knows of a technique: how it is built, who answers for it, which questions it is meant for.

An entry is data and one function, so that a chapter adds its row without touching anybody else's. The protocol is that
of BEIR's tables (Thakur et al., NeurIPS 2021, section 4: one index, one depth, one measure for all), with a column for
who answered, since a technique that prompts a model is as good as its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ragkit import corpus
from ragkit.base import Embedder, Hit, Retriever
from ragkit.corpus import Corpus, Question
from ragkit.models import Metered, Recording, embedder
from ragkit.search import BM25, Dense, fuse_retrievers

K = 5
"""Hits that a technique may hand to the reader; what is scored is their recall of the relevant passages."""

Find = Callable[[Question], Sequence[Hit] | str]
"""A question in; its best `K` hits, or, for a technique that answers without passages, the answer."""


class World:
    """The corpus and the searches that most techniques stand on, each made once, when first asked for."""

    @cached_property
    def corpus(self) -> Corpus:
        """Documents, tickets and questions."""
        return corpus.load()

    @cached_property
    def embed(self) -> Embedder:
        """The course's embedder, with its cache."""
        return embedder()

    @cached_property
    def bm25(self) -> BM25:
        """BM25 over passages and tickets."""
        return BM25(self.corpus.index)

    @cached_property
    def dense(self) -> Dense:
        """Dense search over the same."""
        return Dense(self.corpus.index, self.embed)

    @cached_property
    def hybrid(self) -> Retriever:
        """The two fused by reciprocal ranks: what chapter 2 ends with, and what a gain is measured over."""
        return fuse_retrievers([self.bm25, self.dense])


class Stage:
    """What a technique is built from: the ``world``, and recordings of the answerer whose row is measured."""

    def __init__(self, world: World, answerer: str) -> None:
        self.world, self.answerer = world, answerer
        self.meters: list[Metered] = []
        self.recordings: list[Recording] = []

    def ask(self, task: str) -> Metered:
        """The recording of a task by the row's answerer, counted: for calls that are made at each question."""
        self.meters.append(Metered(self.written(task, self.answerer)))
        return self.meters[-1]

    def written(self, task: str, answerer: str = "hand") -> Recording:
        """A recording that is read while the index is made; its calls are no part of a question's cost."""
        self.recordings.append(Recording(task, answerer))
        return self.recordings[-1]

    @property
    def date(self) -> str:
        """The latest day of an answer that the row leans on, "" where it leans on none."""
        records = (r for used in self.recordings for r in used.records if r.answerer == used.answerer)
        return max((record.date.isoformat() for record in records), default="")


@dataclass(frozen=True)
class Technique:
    """One technique. ``name`` is what the table calls it, ``chapter`` the page that teaches it.

    ``make`` builds it. ``answerers`` are those whose recordings it is measured with, none where no model is asked at a
    question; ``indexed`` names who wrote what the index holds ("" where no model did). ``questions`` are those that
    the technique is recorded for, all of the corpus by default; those without relevant passages are left out, unless
    the technique gives answers and ``judge`` says how right one is, from 0 to 1. ``measure`` names the value then.
    ``timed`` is False where `make` reads what a script computed before: then its milliseconds would tell nothing.
    """

    name: str
    chapter: str
    make: Callable[[Stage], Find]
    answerers: tuple[str, ...] = ()
    indexed: str = ""
    questions: Callable[[], Sequence[Question]] | None = None
    judge: Callable[[Question, str], float] | None = None
    measure: str = f"recall@{K}"
    timed: bool = True

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.chapter.strip():
            raise ValueError("name and chapter must not be blank")
        if len(set(self.answerers)) < len(self.answerers):
            raise ValueError(f"answerers of {self.name!r} name one twice")
        if (self.judge is None) != (self.measure == f"recall@{K}"):
            raise ValueError(f"{self.name!r} needs judge and measure together: without passages there is no recall")

    def asked(self, world: World) -> list[Question]:
        """The questions that it is scored on, in the order of the corpus."""
        chosen = list(self.questions()) if self.questions else world.corpus.questions
        if self.judge:
            return list(chosen)
        return [question for question in chosen if any(gain > 0 for gain in question.relevant.values())]


def by_text(retriever: Retriever) -> Find:
    """A retriever as a technique: it sees the text of a question and nothing else of it."""
    return lambda question: retriever(question.text, K)
