"""The course's labelled corpus: the invented world of Larkfield Goods, with questions in fourteen classes.

- ``documents/`` one Markdown file a document, ``questions/`` one TOML file a class, ``recordings/`` answers of models
- ``outside/`` the outside collection, in the same format: never in the index, it plays the web; ``outside.toml`` says
  which questions it answers and where it is wrong
- ``database/`` the company as an SQLite database; ``sql.toml`` questions to it, with the SQL that answers them
- ``WORLD.md`` for authors: who is who, traps on purpose, and the chains that the checker holds the passages against
- ``records.py`` the shapes: ``Corpus``, ``Document``, ``Question``, ``OutsideAnswer``, ``CLASSES``
- ``reader.py``, ``outside_labels.py``, ``sql.py`` the file formats
- ``tickets.py`` a seeded, streamed generator of support tickets with a known distribution of complaints
- ``phrases.py``, ``phrases.toml`` what the tickets say
- ``check.py``, ``checks/`` every promise the corpus makes, as checks; ``python -m ragkit.corpus check`` runs them

>>> corpus = load()
>>> corpus.passage("aster-kettle-manual/warranty-red").title
"Aster kettle, owner's manual"
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from pathlib import Path

from ragkit.base import Passage, check_unique
from ragkit.corpus import tickets
from ragkit.corpus.outside_labels import read_outside_labels
from ragkit.corpus.reader import read_all, read_document, read_questions
from ragkit.corpus.records import (
    CLASSES,
    SPLITS,
    Corpus,
    Document,
    NearMiss,
    OutsideAnswer,
    OutsideLabels,
    Question,
)

__all__ = [
    "CLASSES",
    "DISTRACTORS",
    "SPLITS",
    "Corpus",
    "Document",
    "NearMiss",
    "OutsideAnswer",
    "OutsideLabels",
    "Question",
    "load",
    "ticket_passages",
]

DISTRACTORS = 2_000
"""How many tickets (seed 0) stand in the index beside the passages."""


def load(path: str | Path | None = None) -> Corpus:
    """The course's corpus, or that of another folder of the same layout.

    Reads some hundred small files the first time (under a second) and remembers the answer, so the corpus is shared:
    treat its lists as read-only. ``outside/`` and ``outside.toml`` may be absent. A missing folder ``documents``, a bad
    file, or an id given twice is a ``ValueError``.
    """
    return _load(Path(path).resolve() if path is not None else Path(__file__).parent)


@lru_cache(maxsize=4)
def _load(root: Path) -> Corpus:
    if not (root / "documents").is_dir():
        raise ValueError(f"path has no folder documents: {root}")
    documents = read_all((root / "documents").glob("*.md"), read_document)
    files = [root / "questions" / f"{cls}.toml" for cls in CLASSES]
    known = [question for path in files if path.exists() for question in read_questions(path)]
    outside = read_all((root / "outside").glob("*.md"), read_document)
    labels = read_outside_labels(root / "outside.toml") if (root / "outside.toml").exists() else OutsideLabels()
    corpus = Corpus(root, documents, ticket_passages(DISTRACTORS), known, outside, labels)
    check_unique([document.id for document in documents + outside], "the documents")
    check_unique([passage.id for passage in corpus.index + corpus.outside], "the corpus")
    check_unique([question.id for question in known], "the questions")
    return corpus


def ticket_passages(n: int, seed: int = 0) -> list[Passage]:
    """The first ``n`` generated tickets as passages, with ``kind``, ``theme``, ``product``, ``store`` and ``date``."""
    return [
        Passage(
            ticket.id,
            ticket.text,
            f"Support ticket {ticket.id.removeprefix('ticket-')}",
            {
                "kind": "ticket",
                "theme": ticket.theme,
                "product": ticket.product,
                "store": ticket.store,
                "date": ticket.date,
            },
        )
        for ticket in islice(tickets.generate(n, seed), n)
    ]
