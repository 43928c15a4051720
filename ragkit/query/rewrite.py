"""Rewriting a query for the search engine, and rewrite-retrieve-read.

Ma, Gong, He, Zhao and Duan, *Query Rewriting for Retrieval-Augmented Large Language Models* (EMNLP 2023), section 3.1:
a frozen model rewrites the question, the retriever searches with the rewrite, the reader answers the *original*
question from what was found. Their trained rewriter (section 3.2) is in ``reward.py``. Left out: several queries from
one question (see ``multi_query.py`` and ``decompose.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragkit.base import LLM, Hit, Retriever, check_k
from ragkit.query.replies import one_line
from ragkit.text import fill

PROMPT = """\
A search engine over a company's manuals, policies and reports gets the query below from a user.
Write a better query for it: spell out abbreviations, mend typing errors, and use the words that such documents use.
Keep every code, number and name as written, and keep the meaning. Reply with the query only, on one line.

User's query: $question
Better query:"""

READ_PROMPT = """\
Answer the question from the passages alone, in as few words as possible.
If they do not hold the answer, reply: unknown.

$passages

Question: $question
Answer:"""


class Reading(NamedTuple):
    """What one round of rewrite-retrieve-read did."""

    query: str
    hits: list[Hit]
    answer: str


def rewrite_query_prompt(question: str) -> str:
    """The prompt that asks for one better query."""
    return fill(PROMPT, question=question.strip())


def read_prompt(question: str, hits: Sequence[Hit]) -> str:
    """The reader's prompt: the passages numbered from 1 in the order of ``hits``, then the question."""
    passages = "\n\n".join(f"[{n}] {hit.text}" for n, hit in enumerate(hits, start=1)) or "(no passages)"
    return fill(READ_PROMPT, passages=passages, question=question.strip())


def rewrite_query(question: str, llm: LLM) -> str:
    """``question`` in the words of the documents; unchanged if blank (no call) or if the reply is empty."""
    if not question.strip():
        return question
    return one_line(llm(rewrite_query_prompt(question)), fallback=question)


def rewrite_search(question: str, k: int, *, retriever: Retriever, llm: LLM) -> list[Hit]:
    """Search with the rewritten question."""
    return retriever(rewrite_query(question, llm), k)


def rewrite_retrieve_read(
    question: str, k: int, *, rewrite: Callable[[str], str], retriever: Retriever, reader: LLM
) -> Reading:
    """Rewrite, search with the rewrite, and let ``reader`` answer the question as it was asked.

    ``rewrite`` is any ``str -> str``: ``functools.partial(rewrite_query, llm=...)``, a trained `RewriteSelector`, or
    ``str`` itself for plain retrieve-then-read. The answer is stripped of white space, otherwise as it was written.
    A blank question finds nothing, has the answer "", and costs no call.
    """
    check_k(k)
    if not question.strip():
        return Reading(question, [], "")
    query = rewrite(question)
    hits = retriever(query, k)
    return Reading(query, hits, reader(read_prompt(question, hits)).strip())
