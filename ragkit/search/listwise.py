"""Listwise reranking (RankGPT): a language model sees many passages at once and answers with their order.

Sun et al., *Is ChatGPT Good at Search?* (EMNLP 2023), section 3: permutation generation, and for lists longer than a
prompt holds a window that slides from the back to the front, so that the best passages travel up. Differences from the
released ``rank_gpt.py``: there the passages are turns of a conversation, here one prompt holds them; there the loop
stops as soon as a window would begin before the first hit, so a front that is no multiple of the step, or a list
shorter than the window, is never ranked, and here the last window begins at the first hit; there every digit of a
reply counts, the numbers of a numbered list among them. Left out: distilling the order into a small model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragkit.base import LLM, Hit
from ragkit.search.rerank import Reranker
from ragkit.text import fill

PROMPT = """\
Below are $n passages, each with a number in square brackets. Order all of them by how well they answer the question,
the best first.

Question: $question

$passages

Question: $question
Write the numbers of all $n passages in square brackets, best first, joined by >, as in [2] > [1]. Write nothing else.
Order:"""

_BRACKETS = re.compile(r"\[([\d\s,;>]+)\]")
_LIST_NUMBER = re.compile(r"^\s*\(?\d+[.):]\)?\s+(?=\D*\d)", re.M)


def permutation_prompt(question: str, passages: Sequence[str], words: int = 300) -> str:
    """The prompt that asks for an order of the passages, numbered from 1, each cut after ``words`` words."""
    if words < 1:
        raise ValueError(f"words must be at least 1, got {words}")
    listed = "\n".join(f"[{i}] {' '.join(text.split()[:words])}" for i, text in enumerate(passages, 1))
    return fill(PROMPT, n=len(passages), question=question.strip(), passages=listed)


def read_permutation(reply: str, n: int) -> list[int]:
    """A permutation of ``range(n)`` out of whatever a model wrote, the normal case being a faulty one.

    First mentions count, numbers that were never given are dropped, and what is missing follows in its old order; a
    reply without any number leaves that order. If a reply has brackets, only what is in them is read; otherwise all
    its whole numbers are, without those that number the lines of a list.

    >>> read_permutation("[3] > [1] > [3] > [9]", 4)
    [2, 0, 1, 3]
    """
    inside = _BRACKETS.findall(reply)
    text = " ".join(inside) if inside else _LIST_NUMBER.sub("", reply)
    named = [int(number) - 1 for number in re.findall(r"(?<![\w.-])\d+(?![\w]|\.\d)", text)]
    return list(dict.fromkeys([*(i for i in named if 0 <= i < n), *range(n)]))


def sliding_windows(n: int, window: int = 20, step: int = 10) -> Iterator[tuple[int, int]]:
    """Bounds ``(start, end)`` of the windows over ``n`` hits, from the back; the last begins at 0.

    >>> list(sliding_windows(45, 20, 10)), list(sliding_windows(7, 20, 10))
    ([(25, 45), (15, 35), (5, 25), (0, 15)], [(0, 7)])
    """
    if not 1 <= step <= window:
        raise ValueError(f"step must lie between 1 and the window of {window}, got {step}")
    end = n
    while end > 0:
        start = max(0, end - window)
        yield start, end
        if start == 0:
            return
        end -= step


@dataclass(frozen=True, slots=True)
class WindowStep:
    """One call: the window ``[start, end)``, the ids it held, the reply, and the ids in their new order."""

    start: int
    end: int
    before: tuple[str, ...]
    reply: str
    after: tuple[str, ...]


def rank_windows(
    query: str, hits: Sequence[Hit], llm: LLM, window: int = 20, step: int = 10, words: int = 300
) -> tuple[list[Hit], list[WindowStep]]:
    """The hits in their new order, with 1 / rank as score, and what each call did.

    Makes at most ``1 + ceil((n - window) / step)`` calls. A window of one hit has one order and costs no call; a blank
    query leaves the hits as they are.
    """
    bounds = list(sliding_windows(len(hits), window, step))
    if not query.strip():
        return list(hits), []
    ranked, steps = list(hits), []
    for start, end in bounds:
        part = ranked[start:end]
        if len(part) < 2:
            continue
        reply = llm(permutation_prompt(query, [hit.text for hit in part], words))
        ranked[start:end] = [part[i] for i in read_permutation(reply, len(part))]
        after = tuple(hit.id for hit in ranked[start:end])
        steps.append(WindowStep(start, end, tuple(hit.id for hit in part), reply, after))
    return [hit._replace(score=1 / rank) for rank, hit in enumerate(ranked, 1)], steps


def listwise(llm: LLM, window: int = 20, step: int = 10, words: int = 300) -> Reranker:
    """A `Reranker` by `rank_windows`. A model gives an order and no scores, so a hit's score is 1 / its rank.

    A reply that cannot be read leaves its window as it was.
    """
    list(sliding_windows(1, window, step))
    permutation_prompt("", [], words)
    return lambda query, hits: rank_windows(query, hits, llm, window, step, words)[0]
