"""The shapes that every model of the course shares: checked prompts, checked messages, a completion and its tokens.

The probability of a token is the model's own, before sampling and before any grammar masks the alternatives (the
``logprobs`` of the OpenAI protocol). Left out: streaming, tool-call messages and images, which no chapter uses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragkit.base import Message

ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class Token:
    """One generated token: its text, its probability, and the most probable alternatives, best first."""

    text: str
    probability: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """What one call of a model gave, and what it cost.

    ``prompt_tokens`` counts the whole prompt, ``cached_tokens`` the part of it whose keys and values were reused from
    an earlier call. Times are in milliseconds; a server that does not report them leaves ``None``. ``finish`` is
    ``"stop"`` or ``"length"`` (the limit on tokens cut the answer).
    """

    text: str
    tokens: tuple[Token, ...] = ()
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    prompt_ms: float | None = None
    completion_ms: float | None = None
    finish: str = "stop"


class TruncatedError(ValueError):
    """A constrained answer met the token limit before its schema or grammar was satisfied; holds ``completion``."""

    def __init__(self, completion: Completion, limit: int) -> None:
        self.completion = completion
        super().__init__(
            f"max_tokens={limit} cut the constrained answer, so it need not parse: raise max_tokens, or bound every "
            f"string (maxLength) and array (maxItems) of the schema. The answer so far: {completion.text!r}"
        )


def check_prompt(prompt: object) -> str:
    """Return a prompt unchanged, refusing anything but a ``str``; the empty prompt is an ordinary one.

    >>> check_prompt("Why?")
    'Why?'
    """
    if not isinstance(prompt, str):
        raise ValueError(f"prompt must be a str, got {type(prompt).__name__}: {prompt!r:.80}")
    return prompt


def check_messages(messages: object) -> list[Message]:
    """Return a conversation unchanged, refusing an empty one, an unknown role and content that is not a ``str``."""
    if isinstance(messages, (str, bytes)) or not isinstance(messages, Sequence):
        raise ValueError(f"messages must be a list of role/content dicts, got {type(messages).__name__}")
    if not messages:
        raise ValueError("messages must hold at least one turn, got an empty list")
    for i, message in enumerate(messages):
        if not isinstance(message, Mapping) or set(message) != {"role", "content"}:
            raise ValueError(f"messages[{i}] must be a dict with the keys role and content, got {message!r:.80}")
        if message["role"] not in ROLES:
            raise ValueError(f"messages[{i}] has the role {message['role']!r}; known roles are {', '.join(ROLES)}")
        if not isinstance(message["content"], str):
            raise ValueError(f"messages[{i}] content must be a str, got {type(message['content']).__name__}")
    return [dict(message) for message in messages]


def chat_prompt(messages: Sequence[Message]) -> str:
    """One string that stands for a conversation, so that recordings can be keyed by it.

    A lone user turn is its own content, so ``llm.chat`` and ``llm`` share a recording; anything longer is JSON.

    >>> chat_prompt([{"role": "user", "content": "Why?"}])
    'Why?'
    >>> chat_prompt([{"role": "system", "content": "Be brief."}])
    '[{"role": "system", "content": "Be brief."}]'
    """
    turns = check_messages(messages)
    if len(turns) == 1 and turns[0]["role"] == "user":
        return turns[0]["content"]
    return json.dumps([{"role": t["role"], "content": t["content"]} for t in turns], ensure_ascii=False)


def as_messages(prompt: object) -> list[Message]:
    """A prompt as the lone user turn of a conversation; a conversation as it is.

    >>> as_messages("Why?")
    [{'role': 'user', 'content': 'Why?'}]
    """
    if isinstance(prompt, list):
        return check_messages(prompt)
    return [{"role": "user", "content": check_prompt(prompt)}]
