"""What a check yields, and what it may demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from ragkit.base import Message

Prompts: TypeAlias = Callable[[], Iterable[tuple[str, str | list[Message]]]]
"""What a task registers: a function that gives every ``(item, prompt)`` its code would send out, a prompt being a text
or the turns of a conversation."""


class Fault(NamedTuple):
    """One broken promise: its kind, where it is, and what is wrong."""

    kind: str
    where: str
    message: str


class Minimums(NamedTuple):
    """How large the corpus must be at least."""

    passages: int = 400
    distractors: int = 2_000
    per_class: int = 25
    multi_hop: int = 40
    outside: int = 500
    chains: int = 30
    sql: int = 40
