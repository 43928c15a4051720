"""The first sentence of what a model wrote, with the probabilities of exactly its tokens.

IRCoT keeps the first sentence of every generation, FLARE judges it by its tokens, beam search over chains scores it:
all three need the same cut. Left out: tokens that end in the middle of a character.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import exp, fsum, log
from typing import NamedTuple

from ragkit.models.shapes import Completion, Token
from ragkit.text import sentence_spans

_LINE = re.compile(r"[^\n\r]+")

TINY = 1e-12
"""A probability of 0 would have no logarithm; engines report one now and then."""


class Sentence(NamedTuple):
    """A sentence, its tokens, and whether the text ended there."""

    text: str
    tokens: tuple[Token, ...]
    ends: bool


def _span(text: str) -> tuple[int, int, bool]:
    """Where the first sentence of the first line with words begins and ends, and whether it ends that line."""
    line = next((match for match in _LINE.finditer(text) if match.group().strip()), None)
    if line is None:
        return 0, 0, False
    start, end = sentence_spans(line.group())[0]
    return line.start() + start, line.start() + end, not line.group()[end:].strip()


def first_sentence(text: str) -> str:
    """The first sentence of ``text``, with single spaces; ``""`` for a blank one. A line break ends a sentence.

    >>> first_sentence("It holds 1.7 litres. It is red."), first_sentence(" ")
    ('It holds 1.7 litres.', '')
    """
    start, end, _ = _span(text)
    return " ".join(text[start:end].split())


def cut_to_first_sentence(completion: Completion) -> Sentence:
    """The first sentence of a completion with its tokens.

    A token belongs to the sentence if it holds a character of it; so the end-of-text token, whose text is empty, and
    white space before and after do not count. A space inside that is a token of its own, as before a number, does:
    without it two words would become one. A line break ends the text, as the stop string
    of the released programs does: ``ends`` says that the sentence is the last of its line, and that a line break
    follows or the model stopped by itself. Without tokens in the completion the sentence has none.
    """
    whole = "".join(token.text for token in completion.tokens) or completion.text
    start, end, last = _span(whole)
    kept, at = list[Token](), 0
    for token in completion.tokens:
        if whole[max(at, start) : min(at + len(token.text), end)]:
            kept.append(token)
        at += len(token.text)
    ends = last and ("\n" in whole[end:] or completion.finish == "stop")
    return Sentence(" ".join(whole[start:end].split()), tuple(kept), ends)


def lowest_probability(tokens: Sequence[Token]) -> float:
    """The confidence of a sentence as FLARE takes it: the lowest probability of its tokens, 1.0 without tokens."""
    return min((token.probability for token in tokens), default=1.0)


def mean_log_probability(tokens: Sequence[Token]) -> float:
    """The mean natural logarithm of the tokens' probabilities, 0.0 without tokens; its `exp` is a geometric mean."""
    logs = [log(max(token.probability, TINY)) for token in tokens]
    return fsum(logs) / len(logs) if logs else 0.0


def geometric_mean(tokens: Sequence[Token]) -> float:
    """The geometric mean of the tokens' probabilities.

    >>> round(geometric_mean([Token("a", 0.5), Token("b", 0.125)]), 4)
    0.25
    """
    return exp(mean_log_probability(tokens))
