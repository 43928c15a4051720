"""Every promise the corpus makes, as a check: ``python -m ragkit.corpus check``.

A corpus that is wrong makes every figure of the book wrong in silence, so a build starts here. ``check`` returns
faults, all of them, and raises nothing for a bad file: an author mends a list, not one thing at a time. The checks
themselves are in ``checks/``.

What the checks on multi-hop chains prove: the first passage holds the anchor, the last one the answer, each shares a
name or a code with the next, and no passage of the index holds both anchor and answer. So no single passage bridges
the question, and taking any one out of the chain leaves a gap. Left out: whether the sentences mean what the labels
say; that takes a reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ragkit.corpus import DISTRACTORS, ticket_passages
from ragkit.corpus.checks.chains import chain_faults
from ragkit.corpus.checks.faults import Fault, Minimums, Prompts
from ragkit.corpus.checks.labels import label_faults
from ragkit.corpus.checks.matching import names_in
from ragkit.corpus.checks.recordings import recording_faults
from ragkit.corpus.checks.whole import code_faults, id_faults, size_faults, version_faults
from ragkit.corpus.reader import read_all, read_document, read_questions
from ragkit.corpus.records import CLASSES, Corpus

__all__ = ["Fault", "Minimums", "Prompts", "check", "read_leniently"]


def read_leniently(path: str | Path | None = None, distractors: int = DISTRACTORS) -> tuple[Corpus, list[Fault]]:
    """The corpus of a folder without its unreadable files, and a fault for each of those."""
    root = Path(path) if path is not None else Path(__file__).parent
    faults: list[Fault] = []

    def report(error: ValueError) -> None:
        where, _, message = str(error).partition(": ")
        faults.append(Fault("format", where, message))

    documents = read_all((root / "documents").glob("*.md"), read_document, report)
    files = sorted((root / "questions").glob("*.toml"), key=_class_order)
    questions = [question for path in files for part in read_all([path], read_questions, report) for question in part]
    return Corpus(root, documents, ticket_passages(distractors), questions), faults


def check(corpus: Corpus, minimums: Minimums | None = None, tasks: Mapping[str, Prompts] | None = None) -> list[Fault]:
    """Every fault of a corpus that could be read; ``[]`` means that it keeps its promises.

    With ``tasks``, a mapping from task to the function that produces its prompts, a recording is also a fault if its
    task is not registered or if no prompt of the task hashes to its key.
    """
    faults = [*size_faults(corpus, minimums or Minimums()), *id_faults(corpus), *version_faults(corpus)]
    faults += code_faults(corpus)
    for question in corpus.questions:
        faults += [Fault(kind, question.id, message) for kind, message in label_faults(corpus, question)]
    linked = names_in(corpus.passages)
    for question in corpus.select("multi_hop"):
        faults += [Fault(kind, question.id, message) for kind, message in chain_faults(corpus, question, linked)]
    return faults + list(recording_faults(corpus, tasks))


def _class_order(path: Path) -> tuple[int, str]:
    return (CLASSES.index(path.stem) if path.stem in CLASSES else len(CLASSES), path.stem)
