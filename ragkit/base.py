"""The shapes that every technique agrees on: a passage, a hit, and three kinds of callable.

Models and stores come in as plain callables, so any function of the package runs with a hand-written
stand-in, a recording, a local model or a hosted one. What this module leaves out on purpose: base classes,
registries and configuration objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

LLM: TypeAlias = Callable[[str], str]
"""One prompt in, one completion out."""

Message: TypeAlias = dict[str, str]
"""One turn of a conversation: ``{"role": "system" | "user" | "assistant", "content": text}``."""

ChatLLM: TypeAlias = Callable[[list[Message]], str]
"""The chat form, for techniques where turns matter."""

Embedder: TypeAlias = Callable[[list[str]], NDArray[np.float32]]
"""``n`` texts in, an ``(n, d)`` float32 array out, rows of unit length."""


class Hit(NamedTuple):
    """One search result. Lists of hits are ordered best first."""

    id: str
    text: str
    score: float


Retriever: TypeAlias = Callable[[str, int], list[Hit]]
"""``(query, k)`` in, at most ``k`` hits out, best first, each id once."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit that an index stores and a question's labels name.

    ``meta`` holds provenance as strings, such as ``doc``, ``kind``, ``date`` (ISO 8601) and ``version``.
    """

    id: str
    text: str
    title: str = ""
    meta: Mapping[str, str] = field(default_factory=dict)

    @property
    def full_text(self) -> str:
        """Title and text together: what is indexed.

        >>> Passage("p1", "Holds 1.7 litres.", title="Aster kettle").full_text
        'Aster kettle\\nHolds 1.7 litres.'
        """
        return f"{self.title}\n{self.text}" if self.title else self.text


def check_k(k: int) -> None:
    """Refuse a ``k`` that is not a whole number of at least 0; a ``k`` beyond the corpus is fine."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise ValueError(f"k must be an int, got {k!r}")
    if k < 0:
        raise ValueError(f"k must be at least 0, got {k}")


def check_unique(ids: Sequence[str], name: str) -> None:
    """Refuse a list of ids that names one twice: two passages under one id cannot be told apart."""
    seen: set[str] = set()
    for an_id in ids:
        if an_id in seen:
            raise ValueError(f"{name} holds the id {an_id!r} more than once")
        seen.add(an_id)


def top_k(scores: NDArray[np.floating], k: int) -> NDArray[np.intp]:
    """Positions of the ``k`` largest scores, best first, ties by position.

    >>> top_k(np.array([0.1, 0.9, 0.9, 0.2]), 3).tolist()
    [1, 2, 3]
    """
    check_k(k)
    n = len(scores)
    if k >= n:
        return np.argsort(-scores, kind="stable")
    if k == 0:
        return np.empty(0, dtype=np.intp)
    # argpartition finds the k-th score in linear time; equal scores at that edge are settled by position.
    edge = scores[np.argpartition(-scores, k - 1)[k - 1]]
    above = np.flatnonzero(scores > edge)
    at_edge = np.flatnonzero(scores == edge)[: k - len(above)]
    chosen = np.concatenate([above, at_edge])
    return chosen[np.lexsort((chosen, -scores[chosen]))]
