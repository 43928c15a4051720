"""Conversational rewriting: a follow-up becomes a question that can be understood alone.

The task of Elgohary, Peskov and Boyd-Graber, *Can You Unpack That?* (CANARD, EMNLP 2019), done by prompting. A search
engine sees one string: "and in blue?" retrieves nothing useful until it says which product and what about it.
Left out: a trained rewriter, and deciding whether a turn is a follow-up at all (a question that stands alone should
come back unchanged, and the prompt says so).
"""

from __future__ import annotations

from collections.abc import Sequence

from ragkit.base import LLM, Hit, Message, Retriever
from ragkit.query.replies import one_line
from ragkit.text import fill

PROMPT = """\
Below are the last turns of a conversation and the user's newest message.
Write that message as one question that a reader who has not seen the conversation understands.
Name what words such as "it", "they", "that one" or "the other" stand for. Keep every code, number and name as written.
If the message can already be understood alone, copy it. Do not answer it. Reply with the question only.

Conversation:
$history

Newest message: $question
Question:"""


def standalone_question_prompt(history: Sequence[Message], question: str, turns: int = 6) -> str:
    """The prompt with the last ``turns`` messages, oldest first; older ones are dropped, never the newest."""
    if turns < 1:
        raise ValueError(f"turns must be at least 1, got {turns}")
    lines = [f"{turn['role']}: {' '.join(turn['content'].split())}" for turn in history[-turns:]]
    return fill(PROMPT, history="\n".join(lines), question=question.strip())


def standalone_question(history: Sequence[Message], question: str, llm: LLM, turns: int = 6) -> str:
    """``question`` made understandable without ``history`` (messages, oldest first).

    Without history the question comes back as it is and no call is made; after an empty reply too.
    """
    if not history or not question.strip():
        return question
    return one_line(llm(standalone_question_prompt(history, question, turns)), fallback=question)


def conversational_search(
    question: str, k: int, *, history: Sequence[Message], retriever: Retriever, llm: LLM, turns: int = 6
) -> list[Hit]:
    """Search with the standalone form of ``question``."""
    return retriever(standalone_question(history, question, llm, turns), k)
