"""Every promise the corpus makes, as a check: ``python -m ragkit.corpus check``.

A corpus that is wrong makes every figure of the book wrong in silence, so a build starts here. ``check`` returns
faults, all of them, and raises nothing for a bad file: an author mends a list, not one thing at a time. The checks
themselves are in ``checks/``.

What the checks on multi-hop chains prove: the first passage holds the anchor, the last one the answer, each shares a
name or a code with the next, and no passage of the index or of the outside collection holds both anchor and answer. So
no single passage bridges the question. Each gold passage is the only one that joins its two entities (``WORLD.md``), so
taking any one out leaves a gap. Left out: whether the sentences mean what the labels say; that takes a reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ragkit.corpus import DISTRACTORS, ticket_passages
from ragkit.corpus.checks.chains import chain_faults
from ragkit.corpus.checks.database import database_faults
from ragkit.corpus.checks.faults import Fault, Minimums, Prompts
from ragkit.corpus.checks.labels import label_faults
from ragkit.corpus.checks.matching import names_in
from ragkit.corpus.checks.outside import outside_faults
from ragkit.corpus.checks.recordings import recording_faults
from ragkit.corpus.checks.sql import sql_faults
from ragkit.corpus.checks.whole import code_faults, id_faults, length_faults, size_faults, version_faults
from ragkit.corpus.checks.world import world_faults
from ragkit.corpus.outside_labels import read_outside_labels
from ragkit.corpus.reader import read_all, read_document, read_questions
from ragkit.corpus.records import CLASSES, Corpus, OutsideLabels
from ragkit.corpus.sql import SqlQuestion, read_sql_questions

__all__ = ["Fault", "Minimums", "Prompts", "asked_in_sql", "check", "read_leniently"]


def read_leniently(path: str | Path | None = None, distractors: int = DISTRACTORS) -> tuple[Corpus, list[Fault]]:
    """The corpus of a folder without its unreadable files, and a fault for each of those."""
    root = Path(path) if path is not None else Path(__file__).parent
    faults: list[Fault] = []

    def report(error: ValueError) -> None:
        faults.append(_format_fault(error))

    documents = read_all((root / "documents").glob("*.md"), read_document, report)
    files = sorted((root / "questions").glob("*.toml"), key=_class_order)
    questions = [question for path in files for part in read_all([path], read_questions, report) for question in part]
    outside = read_all((root / "outside").glob("*.md"), read_document, report)
    labels = read_all(root.glob("outside.toml"), read_outside_labels, report)
    tickets = ticket_passages(distractors)
    return Corpus(root, documents, tickets, questions, outside, *(labels or [OutsideLabels()])), faults


def check(corpus: Corpus, minimums: Minimums | None = None, tasks: Mapping[str, Prompts] | None = None) -> list[Fault]:
    """Every fault of a corpus that could be read; ``[]`` means that it keeps its promises.

    With ``tasks``, a mapping from task to the function that produces its prompts, a recording is also a fault if its
    task is not registered or if no prompt of the task hashes to its key.
    """
    least = minimums or Minimums()
    faults = [*size_faults(corpus, least), *length_faults(corpus), *id_faults(corpus), *version_faults(corpus)]
    faults += [*code_faults(corpus), *world_faults(corpus, least), *outside_faults(corpus), *database_faults(corpus)]
    try:
        faults += sql_faults(asked_in_sql(corpus), least)
    except ValueError as error:
        faults.append(_format_fault(error))
    for question in corpus.questions:
        faults += [Fault(kind, question.id, message) for kind, message in label_faults(corpus, question)]
    linked = names_in(corpus.passages)
    for question in corpus.select("multi_hop"):
        faults += [Fault(kind, question.id, message) for kind, message in chain_faults(corpus, question, linked)]
    return faults + list(recording_faults(corpus, tasks))


def asked_in_sql(corpus: Corpus) -> list[SqlQuestion]:
    """The questions of ``sql.toml`` beside the documents; none where there is no such file."""
    path = corpus.root / "sql.toml"
    return read_sql_questions(path) if path.exists() else []


def _format_fault(error: ValueError) -> Fault:
    where, _, message = str(error).partition(": ")
    return Fault("format", where, message)


def _class_order(path: Path) -> tuple[int, str]:
    return (CLASSES.index(path.stem) if path.stem in CLASSES else len(CLASSES), path.stem)
