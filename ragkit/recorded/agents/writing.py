"""What the 135M model writes in a loop, and under which limits.

Two things keep a run short. In a conversation the model keeps what it has read, the instructions included, which are
the same for all questions. And where few words can answer a prompt it may write no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ragkit.base import Message
from ragkit.loops.agent import CLOSING
from ragkit.loops.fixed_loop import CHECK_PROMPT, CLASSIFY_PROMPT
from ragkit.loops.specialists import PROMPT as CHOICE_PROMPT
from ragkit.loops.tool_grammar import call_grammar
from ragkit.loops.tools import Tool
from ragkit.models.local import Local
from ragkit.models.shapes import TruncatedError
from ragkit.recorded.agents.questions import SOURCES
from ragkit.recorded.agents.tools import toolbox

WRITTEN = {"agent": 64, "agent_shown": 64, "agent_grammar": 220}
"""Tokens of a turn that the model writes, at most; under the grammar the lengths below end it before."""
BEGUN = {"agent_shown": "Thought:"}
"""The words that a turn begins with and that are not the model's: it goes on from them."""
LENGTH, ARGUMENT = 80, 150
"""Characters that the grammar grants to a thought or an answer, and to an argument."""
MAX_TOKENS = 32
"""Tokens of any other answer: a closing call, a word, an answer from passages, a statement of SQL."""


def write(task: str, prompt: str | list[Message], model: Local) -> str:
    """What the local model writes in a task.

    A conversation is continued as one text, as in the ReAct paper, since a small model that is asked in turns of a chat
    forgets the form; what it has read of it is kept. ``agent`` is the exception: there it is asked in turns of a chat.
    A prompt that asks for one of few words, a source or a yes or no, is answered under a grammar of these words.
    """
    options: dict[str, Any] = {"max_tokens": WRITTEN.get(task, MAX_TOKENS), "top": None}
    if isinstance(prompt, str):
        if words := next((words for opening, words in FEW.items() if prompt.startswith(opening)), ()):
            options["grammar"] = "root ::= " + " | ".join(f'"{word}"' for word in words)
        return model.generate(prompt, **options).text
    closing = prompt[-1]["content"] == CLOSING
    if closing:
        options["max_tokens"] = MAX_TOKENS
    if task == "agent":
        return model.generate(prompt, reuse_prefix=True, **options).text
    begun = "" if closing else BEGUN.get(task, "")
    options |= {"raw": True, "reuse_prefix": True}
    if task == "agent_grammar" and not closing:
        options["grammar"] = grammar()
    else:
        options["stop"] = ("\n\n", "\n") if closing else ("\n\n",)
    try:
        return begun + model.generate(as_text(prompt) + begun, **options).text
    except TruncatedError as error:
        return error.completion.text


FEW = {
    CHECK_PROMPT.partition("$")[0]: ("yes", "no"),
    CLASSIFY_PROMPT.partition("$")[0]: tuple(SOURCES),
    CHOICE_PROMPT.partition("$")[0]: tuple(SOURCES),
}
"""How a prompt opens -> the words that answer it."""


def as_text(messages: Sequence[Message]) -> str:
    """A conversation as one text that the model goes on with; its own turns and the observations follow each other."""
    (system, question), later = messages[:2], messages[2:]
    parts = [system["content"], f"\nQuestion: {question['content']}", *(turn["content"] for turn in later)]
    return "\n".join(parts) + ("" if later and later[-1]["content"] == CLOSING else "\n")


@cache
def grammar() -> str:
    """The grammar of a turn: that of the tools, with shorter arguments, so that a turn fits its tokens."""

    def shorter(tool: Tool) -> Tool:
        parts = {name: {**part, "maxLength": ARGUMENT} for name, part in tool.schema["properties"].items()}
        return replace(tool, schema={**tool.schema, "properties": parts})

    return call_grammar([shorter(tool) for tool in toolbox()], thought=LENGTH, answer=LENGTH)
