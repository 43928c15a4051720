"""Promises of a multi-hop question: a chain that no single passage bridges.

The first passage holds the anchor, the last one the answer, each shares a name or a code with the next, and no passage
of the index holds both anchor and answer. A passage that holds the answer is relevant, or the question lists it under
``mentions``: it has the words and does not help, so whoever looks for the answer in what was found knows of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from ragkit.corpus.checks.matching import holds, holds_any, states_any
from ragkit.corpus.records import Corpus, Question


def chain_faults(corpus: Corpus, question: Question, linked: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str]]:
    """Kind and message of each fault in the chain of a question; ``linked`` is what `names_in` gives."""
    if not 2 <= len(question.chain) <= 4:
        yield "chain", f"chain must have two to four passages, has {len(question.chain)}"
    if not question.anchor:
        yield "anchor", "has no anchor"
    elif not holds(question.text, question.anchor):
        yield "anchor", f"the question does not name its anchor {question.anchor!r}"
    by_id = {passage.id: passage for passage in corpus.passages}
    for passage_id in question.chain:
        if passage_id not in by_id:
            yield "chain", f"chain names {passage_id!r}, which does not exist"
        elif passage_id not in question.relevant:
            yield "chain", f"chain names {passage_id!r}, which is not relevant"
    if len(set(question.chain)) < len(question.chain):
        yield "chain", "chain names a passage twice"
    steps = [by_id[passage_id] for passage_id in question.chain if passage_id in by_id]
    if len(steps) < len(question.chain) or not steps:
        return
    for here, there in pairwise(steps):
        if not linked[here.id] & linked[there.id]:
            yield "chain-link", f"{here.id} and {there.id} share no name and no code"
    if question.anchor and not holds(steps[0].full_text, question.anchor):
        yield "chain-start", f"{steps[0].id} does not hold the anchor {question.anchor!r}"
    if question.answers and not holds_any(steps[-1], question):
        yield "chain-end", f"{steps[-1].id} holds neither the answer nor an alias"
    stated = {passage.id for passage in corpus.index if states_any(passage, question)}
    for passage in corpus.index:
        if holds(passage.full_text, question.anchor) and holds_any(passage, question):
            yield "shortcut", f"{passage.id} holds both the anchor {question.anchor!r} and the answer"
        elif passage.id in stated - set(question.relevant) - set(question.mentions):
            yield "answer-elsewhere", f"{passage.id} holds the answer, and is neither relevant nor among mentions"
    for passage_id in question.mentions:
        if passage_id not in stated or passage_id in question.relevant:
            yield "mentions", f"{passage_id!r} must be a passage that holds the answer and is not relevant"
