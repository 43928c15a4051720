"""Promises about the corpus as a whole: sizes, lengths, unique ids, versions, and codes that tickets must not share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ragkit.corpus.checks.faults import Fault, Minimums
from ragkit.corpus.records import CLASSES, SPLITS, Corpus
from ragkit.text import count_tokens

PROSE_TOKENS, LIST_TOKENS = 128, 254
"""Word pieces that a passage may have, with its title. A table or a log is not cut in two: it may fill the 256 pieces
that the embedding model reads, two of which are its own."""


def size_faults(corpus: Corpus, least: Minimums) -> Iterator[Fault]:
    for name, found, wanted in (
        ("passages", len(corpus.passages), least.passages),
        ("distractors", len(corpus.distractors), least.distractors),
        ("outside", len(corpus.outside), least.outside),
    ):
        if found < wanted:
            yield Fault("size", name, f"has {found}, needs {wanted}")
    for cls in CLASSES:
        rows = corpus.select(cls)
        wanted = least.multi_hop if cls == "multi_hop" else least.per_class
        if len(rows) < wanted:
            yield Fault("size", cls, f"has {len(rows)} questions, needs {wanted}")
        for split in SPLITS:
            if rows and not any(question.split == split for question in rows):
                yield Fault("split", cls, f"has no question in {split}")


def id_faults(corpus: Corpus) -> Iterator[Fault]:
    for name, ids in (
        ("documents", [document.id for document in corpus.documents + corpus.outside_documents]),
        ("passages", [passage.id for passage in corpus.index + corpus.outside]),
        ("questions", [question.id for question in corpus.questions]),
    ):
        for an_id, count in Counter(ids).items():
            if count > 1:
                yield Fault("duplicate-id", an_id, f"stands {count} times among the {name}")


def length_faults(corpus: Corpus) -> Iterator[Fault]:
    for passage in corpus.passages + corpus.outside:
        listed = any(line.startswith(("|", "- ")) for line in passage.text.splitlines())
        most, found = LIST_TOKENS if listed else PROSE_TOKENS, count_tokens(passage.full_text)
        if found > most:
            yield Fault("length", passage.id, f"has {found} word pieces, may have {most}")


def version_faults(corpus: Corpus) -> Iterator[Fault]:
    by_id = {document.id: document for document in corpus.documents}
    for document in corpus.documents:
        if not document.supersedes:
            continue
        older = by_id.get(document.supersedes)
        if older is None:
            yield Fault("supersedes", document.id, f"supersedes {document.supersedes!r}, which does not exist")
        elif older.date >= document.date:
            yield Fault("supersedes", document.id, f"is of {document.date}, not later than {older.id} of {older.date}")
        seen, at = {document.id}, document.supersedes
        while at in by_id and at not in seen:
            seen.add(at)
            at = by_id[at].supersedes
        if at == document.id:
            yield Fault("supersedes-cycle", document.id, "supersedes itself in the end")


def code_faults(corpus: Corpus) -> Iterator[Fault]:
    """A generated ticket about an order that the documents tell of would be an unlabelled relevant passage."""
    told = {code for passage in corpus.passages for code in re.findall(r"ORD-\d+", passage.full_text)}
    told |= {code for question in corpus.questions for code in re.findall(r"ORD-\d+", question.text)}
    for passage in corpus.distractors:
        for code in sorted(told & set(re.findall(r"ORD-\d+", passage.text))):
            yield Fault("code-clash", passage.id, f"is about {code}, which belongs to the documents")
