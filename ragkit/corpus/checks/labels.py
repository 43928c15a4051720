"""Promises of one question about its passages and its answer.

A theme is matched by its words (``ragkit.metrics.names_theme``), so a list of alternatives that no plain answer would
use scores every system 0. The question's own answer is held against it: it must name each of its themes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ragkit.corpus.checks.matching import holds_any
from ragkit.corpus.records import Corpus, Question
from ragkit.metrics.themes import names_theme

_VERBATIM = ("single_fact", "vocabulary_gap", "exact_code", "temporal", "table_form", "multi_hop")
_UNLABELLED = ("theme", "no_answer", "no_retrieval")


def label_faults(corpus: Corpus, question: Question) -> Iterator[tuple[str, str]]:
    """Kind and message of each fault in the labels of a question."""
    known = {passage.id: passage for passage in corpus.index}
    for passage_id, gain in question.relevant.items():
        if passage_id not in known:
            yield "unknown-passage", f"relevant names {passage_id!r}, which does not exist"
        if not 1 <= gain <= 3:
            yield "gain", f"gain of {passage_id!r} must be 1 to 3, got {gain}"
    if question.cls in ("no_answer", "no_retrieval") and question.relevant:
        yield "relevant-not-empty", f"{question.cls} must have no relevant passage"
    if question.cls not in _UNLABELLED and not question.relevant:
        yield "relevant-empty", "has no relevant passage"
    if question.cls == "no_answer" and question.answers:
        yield "answer-not-empty", "no_answer must have no answer"
    if question.cls not in _UNLABELLED and not question.answer:
        yield "answer-empty", "has no answer"
    if question.cls == "theme" and not question.themes:
        yield "themes-empty", "has no themes"
    for theme in question.themes:
        if question.answer and not names_theme(question.answer, theme):
            yield "theme-unnamed", f"the answer has the words of no alternative of {theme!r}"
    if question.cls == "follow_up" and not question.history:
        yield "history-empty", "follows up on no turn"
    gold = [known[passage_id] for passage_id in question.relevant if passage_id in known]
    if question.cls in _VERBATIM and question.answers and gold and not any(holds_any(p, question) for p in gold):
        yield "answer-missing", f"no relevant passage holds {' or '.join(map(repr, question.answers))}"
