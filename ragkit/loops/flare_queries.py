"""FLARE's queries: what to search for when the sentence ahead is unsure.

Jiang et al. (EMNLP 2023), section 3.2: the sentence with its tokens below beta left out (*implicit* query by masking),
a question about each unsure span (*explicit* query), or the whole sentence. The paper masks tokens; here a word goes if
one of its tokens is unsure, because half a word matches nothing. Left out: growing a span to a whole phrase by a model,
as the released ``extract_constituents`` does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from ragkit.base import LLM
from ragkit.loops.sentence import Sentence
from ragkit.models.shapes import Token
from ragkit.query.replies import one_line
from ragkit.text import fill

QUESTION_PROMPT = """\
$written

Write one question about the passage above to which the answer is "$span".
Question:"""

QueryForm: TypeAlias = Literal["masked", "question", "sentence"]


def span_question_prompt(written: str, span: str) -> str:
    """The prompt that turns an unsure span into a question; ``written`` ends with the sentence that holds it."""
    return fill(QUESTION_PROMPT, written=written, span=span)


def words_of(tokens: Sequence[Token]) -> list[tuple[str, float]]:
    """Words (runs without white space) with the lowest probability of the tokens that make them up.

    >>> words_of([Token(" Lark", 0.9), Token("field", 0.3), Token(" Goods", 0.8)])
    [('Larkfield', 0.3), ('Goods', 0.8)]
    """
    whole, at, edges = "".join(token.text for token in tokens), 0, list[tuple[int, int, float]]()
    for token in tokens:
        edges.append((at, at + len(token.text), token.probability))
        at += len(token.text)
    words = []
    for match in re.finditer(r"\S+", whole):
        touching = [p for start, end, p in edges if max(start, match.start()) < min(end, match.end())]
        words.append((match.group(), min(touching)))
    return words


def masked(tokens: Sequence[Token], below: float) -> str:
    """The sentence without its words below ``below``: what is left is what the model is sure of.

    >>> masked([Token("It", 0.9), Token(" opened", 0.7), Token(" in", 0.9), Token(" 1987", 0.1)], 0.4)
    'It opened in'
    """
    return " ".join(word for word, p in words_of(tokens) if p >= below)


def unsure_spans(tokens: Sequence[Token], below: float) -> list[str]:
    """Runs of neighbouring words below ``below``, without marks around them, each once."""
    spans: list[str] = []
    open_run = False
    for word, p in words_of(tokens):
        if p >= below:
            open_run = False
        elif open_run:
            spans[-1] += f" {word}"
        else:
            spans.append(word)
            open_run = True
    return [span for span in dict.fromkeys(span.strip(".,;:!?\"'()[]") for span in spans) if span]


def queries_for(sentence: Sentence, question: str, written: str, form: QueryForm, below: float, llm: LLM) -> list[str]:
    """What to search for an unsure sentence, at least one query.

    Masking that leaves no letter or digit gives ``question``. A sentence unsure by theta but with no word below beta
    has no span to ask about, and then, as where the model asks nothing, the whole sentence is the query.
    """
    if form == "sentence":
        return [sentence.text]
    if form == "masked":
        left = masked(sentence.tokens, below)
        return [left if any(char.isalnum() for char in left) else question]
    context = f"{written} {sentence.text}".strip()
    asked = [one_line(llm(span_question_prompt(context, span)), "") for span in unsure_spans(sentence.tokens, below)]
    return list(dict.fromkeys(query for query in asked if query)) or [sentence.text]
