"""Summaries as representations: a passage is found by what it is about and returned whole.

The summary form of LangChain's multi-vector retriever. It helps where a question is broader than any sentence of the
passage; it costs one model call a passage, once, at indexing. Left out: summaries of many passages together, which is
RAPTOR's tree.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragkit.base import LLM, Passage
from ragkit.index.representations import representation
from ragkit.text import fill

PROMPT = """\
Summarise the passage below in one or two sentences for a search index.
Say what it is about and for whom, and name the products, places, people and codes it concerns.
Reply with the summary only.

Title: $title
Passage: $text

Summary:"""


def summary_prompt(passage: Passage) -> str:
    """The prompt that asks for a summary of one passage."""
    return fill(PROMPT, title=passage.title or "(none)", text=passage.text)


def summaries(passages: Sequence[Passage], llm: LLM) -> list[Passage]:
    """One summary a passage, in the order of ``passages``; blank passages (no call) and empty replies have none."""
    replies = [(p, " ".join(llm(summary_prompt(p)).split())) for p in passages if p.text.strip()]
    return [representation(p, reply, "summary") for p, reply in replies if reply]
