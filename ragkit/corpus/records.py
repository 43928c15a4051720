"""What the corpus is made of: documents cut into passages, and labelled questions.

The same ``Question`` carries the questions of public benchmarks (``ragkit.datasets``), which leave the fields that
only the course's corpus has at their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ragkit.base import Message, Passage

CLASSES = (
    "single_fact",
    "vocabulary_gap",
    "exact_code",
    "follow_up",
    "compound",
    "vague",
    "multi_hop",
    "relational",
    "temporal",
    "fragmented_entity",
    "table_form",
    "theme",
    "no_answer",
    "no_retrieval",
)
"""The question classes, one a file in ``questions/``. ``single_fact`` is the control."""

SPLITS = ("dev", "test")


@dataclass(frozen=True)
class Question:
    """A question with its labels.

    ``relevant`` maps passage ids to gains (1 helpful, 2 needed in part, 3 answers it); ``chain`` is the gold passages
    of a multi-hop question in hop order, ``anchor`` the entity it starts from and ``mentions`` the passages that hold
    the words of its answer and do not help to answer; ``history`` the turns before a follow-up; ``themes`` what an
    answer to a whole-corpus question must name, alternatives divided by ``|``.
    """

    id: str
    cls: str
    split: str
    text: str
    answer: str = ""
    aliases: tuple[str, ...] = ()
    relevant: Mapping[str, int] = field(default_factory=dict)
    chain: tuple[str, ...] = ()
    anchor: str = ""
    history: tuple[Message, ...] = ()
    themes: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()

    @property
    def answers(self) -> tuple[str, ...]:
        """The answer and its aliases; empty where there is none."""
        return tuple(answer for answer in (self.answer, *self.aliases) if answer)


@dataclass(frozen=True)
class Document:
    """One file of ``documents/``. ``version`` and ``supersedes`` are ``""`` where the file has none."""

    id: str
    title: str
    kind: str
    date: str
    version: str
    supersedes: str
    passages: tuple[Passage, ...]

    @property
    def text(self) -> str:
        """Title and sections as one text, in reading order."""
        return "\n\n".join([self.title, *(passage.text for passage in self.passages)])


@dataclass(frozen=True)
class OutsideAnswer:
    """What the outside collection answers to a ``no_answer`` question, and which of its passages say so."""

    answer: str
    aliases: tuple[str, ...]
    passages: tuple[str, ...]

    @property
    def answers(self) -> tuple[str, ...]:
        """The answer and its aliases."""
        return (self.answer, *self.aliases)


@dataclass(frozen=True)
class NearMiss:
    """Outside passages that look like an answer to a question and are none; ``about`` says why."""

    question: str
    passages: tuple[str, ...]
    about: str


@dataclass(frozen=True)
class OutsideLabels:
    """``answers`` by question id; ``wrong``: outside passage -> which fact of the documents it contradicts."""

    answers: Mapping[str, OutsideAnswer] = field(default_factory=dict)
    near_misses: tuple[NearMiss, ...] = ()
    wrong: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Corpus:
    """Documents, generated distractors and questions; lists are in file order and belong to the corpus.

    ``outside_documents`` play the web: they are never in ``index``, and only a technique that searches elsewhere
    searches them. Ids are unique over both collections, so ``passage`` and ``document`` find those of either.
    """

    root: Path
    documents: list[Document]
    distractors: list[Passage]
    questions: list[Question]
    outside_documents: list[Document] = field(default_factory=list)
    outside_labels: OutsideLabels = field(default_factory=OutsideLabels)

    @cached_property
    def passages(self) -> list[Passage]:
        """Every passage of every document."""
        return [passage for document in self.documents for passage in document.passages]

    @cached_property
    def index(self) -> list[Passage]:
        """What a retriever is built on: passages, then distractors."""
        return self.passages + self.distractors

    @cached_property
    def outside(self) -> list[Passage]:
        """Every passage of the outside collection."""
        return [passage for document in self.outside_documents for passage in document.passages]

    @property
    def outside_answers(self) -> Mapping[str, OutsideAnswer]:
        """Id of a ``no_answer`` question -> what the outside collection answers; the others are answered nowhere."""
        return self.outside_labels.answers

    @property
    def outside_near_misses(self) -> tuple[NearMiss, ...]:
        """Outside passages that look like an answer and are none."""
        return self.outside_labels.near_misses

    @property
    def outside_wrong(self) -> Mapping[str, str]:
        """Outside passage -> the fact of the documents that it states wrongly or as it used to be."""
        return self.outside_labels.wrong

    @cached_property
    def _passage_by_id(self) -> dict[str, Passage]:
        return {passage.id: passage for passage in self.index + self.outside}

    @cached_property
    def _document_by_id(self) -> dict[str, Document]:
        return {document.id: document for document in self.documents + self.outside_documents}

    def select(self, cls: str | None = None, split: str | None = None) -> list[Question]:
        """Questions of one class, of one split, of both, or all of them, in order."""
        if cls is not None and cls not in CLASSES:
            raise ValueError(f"cls must be one of {', '.join(CLASSES)}, got {cls!r}")
        if split is not None and split not in SPLITS:
            raise ValueError(f"split must be one of {', '.join(SPLITS)}, got {split!r}")
        return [q for q in self.questions if cls in (None, q.cls) and split in (None, q.split)]

    def passage(self, passage_id: str) -> Passage:
        """The passage, distractor or outside passage of that id, else ``ValueError``."""
        try:
            return self._passage_by_id[passage_id]
        except KeyError:
            raise ValueError(f"passage_id names no passage of the corpus: {passage_id!r}") from None

    def document(self, document_id: str) -> Document:
        """The document of that id, of either collection, else ``ValueError``."""
        try:
            return self._document_by_id[document_id]
        except KeyError:
            raise ValueError(f"document_id names no document of the corpus: {document_id!r}") from None
