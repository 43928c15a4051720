"""Promises of the outside collection: its labels resolve, and it offers no way around a chain of hops."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragkit.corpus.checks.faults import Fault
from ragkit.corpus.checks.matching import holds, holds_any, holds_one
from ragkit.corpus.records import Corpus

MOST_PAGES = 2
"""On how many outside passages an answer may stand."""
_ID = re.compile(r"\b[a-z0-9-]+/[a-z0-9-]+\b")


def outside_faults(corpus: Corpus) -> Iterator[Fault]:
    """Every fault of the labels and of the passages; a corpus without an outside collection has none."""
    if corpus.outside and len(corpus.outside) <= len(corpus.passages):
        have = f"{len(corpus.outside)} passages, must have more than the documents' {len(corpus.passages)}"
        yield Fault("size", "outside", f"has {have}")
    for question in corpus.select("multi_hop"):
        for passage in corpus.outside:
            if holds(passage.full_text, question.anchor) and holds_any(passage, question):
                message = f"holds both the anchor {question.anchor!r} and the answer of {question.id}"
                yield Fault("outside-shortcut", passage.id, message)
    yield from _answer_faults(corpus)
    yield from _near_miss_faults(corpus)
    known = {passage.id for passage in corpus.passages + corpus.outside}
    outside = {passage.id for passage in corpus.outside}
    for passage_id, about in corpus.outside_wrong.items():
        if passage_id not in outside:
            yield Fault("outside-label", passage_id, "is labelled wrong and is no outside passage")
        named = set(_ID.findall(about))
        for unknown in sorted(named - known):
            yield Fault("outside-label", passage_id, f"is held against {unknown!r}, which does not exist")
        if not named:
            yield Fault("outside-label", passage_id, "is labelled wrong and names no passage that is right")


def _answer_faults(corpus: Corpus) -> Iterator[Fault]:
    outside = {passage.id: passage for passage in corpus.outside}
    unanswered = {question.id for question in corpus.select("no_answer")}
    for question_id, answer in corpus.outside_answers.items():
        if question_id not in unanswered:
            yield Fault("outside-label", question_id, "is answered outside and is no question of no_answer")
        if not 1 <= len(answer.passages) <= MOST_PAGES:
            yield Fault("outside-label", question_id, f"is answered by {len(answer.passages)} passages, not by 1 or 2")
        for passage_id in answer.passages:
            if passage_id not in outside:
                yield Fault("outside-label", question_id, f"names {passage_id!r}, which is no outside passage")
            elif not holds_one(outside[passage_id].full_text, answer.answers):
                yield Fault("outside-answer", question_id, f"{passage_id} holds neither the answer nor an alias")


def _near_miss_faults(corpus: Corpus) -> Iterator[Fault]:
    outside = {passage.id for passage in corpus.outside}
    known = {question.id for question in corpus.questions}
    for miss in corpus.outside_near_misses:
        if miss.question not in known:
            yield Fault("outside-label", miss.question, "has a near miss and does not exist")
        answer = corpus.outside_answers.get(miss.question)
        for passage_id in miss.passages:
            if passage_id not in outside:
                yield Fault("outside-label", miss.question, f"names {passage_id!r}, which is no outside passage")
            elif answer and passage_id in answer.passages:
                yield Fault("outside-label", miss.question, f"{passage_id} cannot both answer and nearly answer")
