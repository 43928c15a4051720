"""Step-back prompting: ask the more general question first, and retrieve for both.

Zheng, Mishra, Chen, Cheng, Chi, Le and Zhou, *Take a Step Back* (ICLR 2024), section 2 and, for retrieval, section 5:
the passages of the general question give the rule, those of the specific one the case. Left out: the reasoning step
over both, which is the reader's prompt.
"""

from __future__ import annotations

from ragkit.base import LLM, Hit, Retriever, check_k
from ragkit.query.replies import one_line
from ragkit.search.fusion import interleave_hits
from ragkit.text import fill

PROMPT = """\
Someone asks about one particular case. Name the question behind it: the general rule, topic or principle that one
would look up first. Leave out the particular names, dates and numbers. Reply with that one question only.

Example
Particular: Can I still send back the lamp that I bought on 3 May and opened yesterday?
General: What are the conditions for returning an opened product?

Particular: $question
General:"""


def step_back_prompt(question: str) -> str:
    """The prompt that asks for the general question."""
    return fill(PROMPT, question=question.strip())


def step_back_question(question: str, llm: LLM) -> str:
    """The more general question; the question itself if it is blank (no call) or the reply is empty."""
    if not question.strip():
        return question
    return one_line(llm(step_back_prompt(question)), fallback=question)


def step_back_search(question: str, k: int, *, retriever: Retriever, llm: LLM) -> list[Hit]:
    """Search for the specific and the general question and take hits in turn, the specific one first.

    The score of a hit is 1 / its rank. If the general question is the same, it is one plain search.
    """
    check_k(k)
    questions = dict.fromkeys([question, step_back_question(question, llm)])
    return interleave_hits([retriever(q, k) for q in questions], k)
