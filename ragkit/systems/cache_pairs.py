"""Labelled pairs of questions that try a semantic cache: wordings of one question, and questions one token apart.

A pair ``(stored, asked, same)`` says whether the answer to the first may serve the second. The true pairs come from
recorded paraphrases. The false ones are made here by rule, as support traffic makes them: the neighbour's order code,
the other colour, last year, the other store. The rules follow the near misses that GPTCache's issue tracker collects
(numbers, names, negation). Left out: pairs in which the wording changes *and* the token does, which are easier.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from ragkit.corpus import Question

Pair: TypeAlias = tuple[str, str, bool]
"""Stored question, asked question, whether one answer serves both."""

SWAPS = {
    "red": "blue",
    "blue": "red",
    "Riverside": "Riverhead",
    "Riverhead": "Riverside",
    "June": "July",
    "earliest": "latest",
    "before": "after",
}
"""Words that decide an answer, each with the word that makes it another question."""


def _next_digit(match: re.Match[str]) -> str:
    """The code or number with its last digit moved on by one.

    >>> re.sub(r"[0-9]+", _next_digit, "ORD-482919")
    'ORD-482910'
    """
    text = match.group()
    at = max(i for i, char in enumerate(text) if char.isdigit())
    return f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}"


def one_token_variant(question: str) -> str | None:
    """``question`` with one deciding token changed, or None where no rule applies.

    Tried in turn: the last digit of a code, a word of ``SWAPS``, the last digit of a number.

    >>> one_token_variant("Where is ORD-482913?"), one_token_variant("Is the red one dearer?")
    ('Where is ORD-482914?', 'Is the blue one dearer?')
    >>> one_token_variant("Thank you!") is None
    True
    """
    words = "|".join(map(re.escape, SWAPS))
    rules: list[tuple[str, Callable[[re.Match[str]], str]]] = [
        (r"\b[A-Z]+[A-Z0-9]*-[A-Z0-9]*\d\b", _next_digit),
        (rf"\b(?:{words})\b", lambda match: SWAPS[match.group()]),
        (r"\b\d+\b", _next_digit),
    ]
    for pattern, change in rules:
        changed = re.sub(pattern, change, question, count=1)
        if changed != question:
            return changed
    return None


def labelled_pairs(questions: Iterable[Question], wordings: Mapping[str, Sequence[str]]) -> list[Pair]:
    """Each question with its other wordings (true) and with its one-token variant (false).

    ``wordings`` maps a question's id to paraphrases; a question without any, or without a variant, adds what it has.
    """
    pairs: list[Pair] = []
    for question in questions:
        pairs += [(question.text, wording, True) for wording in wordings.get(question.id, ()) if wording.strip()]
        variant = one_token_variant(question.text)
        if variant is not None:
            pairs.append((question.text, variant, False))
    return pairs


def zipf_sample(items: Sequence[str], n: int, seed: int = 0) -> list[str]:
    """``n`` draws with replacement, the item at place ``r`` (from 1) weighing ``1 / r``, as questions do in traffic.

    >>> zipf_sample([], 3)
    []
    """
    if n < 0:
        raise ValueError(f"n must be at least 0, got {n}")
    weights = [1 / place for place in range(1, len(items) + 1)]
    return random.Random(seed).choices(items, weights, k=n) if items else []
