"""Decomposition: a compound question becomes sub-questions, and every one of them gets its share of the context.

The single-pass form, for sub-questions that do not depend on each other ("compare the warranty and the return
policy"); compare Press et al., *Measuring and Narrowing the Compositionality Gap* (2023), which asks them one after the
other. One list fused from all of them can be filled by one sub-question alone; interleaving cannot starve any. Left
out: chains in which one answer is needed to ask the next question.
"""

from __future__ import annotations

from ragkit.base import LLM, Hit, Retriever, check_k
from ragkit.query.replies import list_items
from ragkit.search.fusion import interleave_hits
from ragkit.text import fill

PROMPT = """\
The question below may ask for several things at once.
If it does, list the separate questions, at most $limit, one a line and numbered. Each must be understandable alone:
repeat names, codes and dates in every line that needs them. If it asks for one thing, copy it as the only line.
Reply with the list only.

Question: $question
List:"""


def sub_questions_prompt(question: str, limit: int = 4) -> str:
    """The prompt that asks for at most ``limit`` sub-questions."""
    if limit < 1:
        raise ValueError(f"limit must be at least 1, got {limit}")
    return fill(PROMPT, question=question.strip(), limit=limit)


def sub_questions(question: str, llm: LLM, limit: int = 4) -> list[str]:
    """The parts of ``question``, at most ``limit``; ``[question]`` where it has one part or the reply is empty.

    A blank question gives ``[]`` without a call.
    """
    if not question.strip():
        return []
    return list_items(llm(sub_questions_prompt(question, limit)))[:limit] or [question]


def decompose_search(question: str, k: int, *, retriever: Retriever, llm: LLM, limit: int = 4) -> list[Hit]:
    """Search for every sub-question and take hits in turn, so that each is represented if ``k`` allows it.

    The score of a hit is 1 / its rank: scores of different questions do not compare. Cost: one model call and one
    search a sub-question.
    """
    check_k(k)
    return interleave_hits([retriever(part, k) for part in sub_questions(question, llm, limit)], k)
