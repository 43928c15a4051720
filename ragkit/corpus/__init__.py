"""The course's labelled corpus: the invented world of Larkfield Goods, with questions in fourteen classes.

- ``documents/`` one Markdown file a document, ``questions/`` one TOML file a class, ``recordings/`` answers of models
- ``records.py`` the shapes: ``Corpus``, ``Document``, ``Question``, ``CLASSES``
- ``reader.py`` the two file formats
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
from ragkit.corpus.reader import read_all, read_document, read_questions
from ragkit.corpus.records import CLASSES, SPLITS, Corpus, Document, Question

__all__ = ["CLASSES", "DISTRACTORS", "SPLITS", "Corpus", "Document", "Question", "load", "ticket_passages"]

DISTRACTORS = 1_200
"""How many tickets (seed 0) stand in the index beside the passages."""


def load(path: str | Path | None = None) -> Corpus:
    """The course's corpus, or that of another folder of the same layout.

    Reads some hundred small files the first time (well under a second) and remembers the answer, so the corpus is
    shared: treat its lists as read-only. A missing folder, a bad file, or an id given twice is a ``ValueError``.
    """
    return _load(Path(path).resolve() if path is not None else Path(__file__).parent)


@lru_cache(maxsize=4)
def _load(root: Path) -> Corpus:
    if not (root / "documents").is_dir():
        raise ValueError(f"path has no folder documents: {root}")
    documents = read_all((root / "documents").glob("*.md"), read_document)
    files = [root / "questions" / f"{cls}.toml" for cls in CLASSES]
    known = [question for path in files if path.exists() for question in read_questions(path)]
    corpus = Corpus(root, documents, ticket_passages(DISTRACTORS), known)
    check_unique([passage.id for passage in corpus.index], "the corpus")
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
