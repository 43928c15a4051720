"""Cutting a text into chunks: fixed windows, packed sentences, and parents with children.

Every splitter here returns slices of the source, white space included, so nothing is lost: without overlap the
chunks joined are the source, character for character. (Splitters that rejoin words or sentences with a blank lose
line breaks and, where they cut at every full stop, decimals; RAPTOR's own splitter is one.)

Left out: semantic splitting by embedding distance, and code, which has its own module because its cuts follow the
syntax tree.

`sentence_chunks` counts the open chunk anew at each sentence, since a ``count`` need not add up over its parts: several
passes of the tokenizer over the text, as ``benchmarks/speed_text.py`` shows. For gigabytes, count each sentence once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ragkit.base import Passage
from ragkit.text import count_tokens, sentence_spans, token_spans, word_spans

__all__ = ["fixed_chunks", "parent_child", "sentence_chunks"]


def fixed_chunks(text: str, size: int, overlap: int = 0, unit: Literal["words", "tokens"] = "words") -> list[str]:
    """Windows of ``size`` units, each sharing exactly ``overlap`` units with the one before.

    A unit is a run without white space (``"words"``) or one of MiniLM's word pieces (``"tokens"``; a window may then
    start inside a word). White space belongs to the unit before it, at the very start to the first. The last window
    may be shorter, but is never wholly inside the one before. Blank text gives ``[]``. Needs
    ``0 <= overlap < size``, else ``ValueError``.

    >>> fixed_chunks("one two three four five", size=3, overlap=1)
    ['one two three ', 'three four five']
    """
    if size < 1:
        raise ValueError(f"size must be at least 1, got {size}")
    if not 0 <= overlap < size:
        raise ValueError(f"overlap must be at least 0 and below size {size}, got {overlap}")
    if unit not in ("words", "tokens"):
        raise ValueError(f"unit must be 'words' or 'tokens', got {unit!r}")
    spans = word_spans(text) if unit == "words" else token_spans(text)
    edges = _edges(text, spans)
    last = max(len(spans) - overlap, 1) if spans else 0  # a window that starts at or after this has nothing new
    return [text[edges[i] : edges[min(i + size, len(spans))]] for i in range(0, last, size - overlap)]


def sentence_chunks(
    text: str, budget: int = 128, overlap: int = 0, count: Callable[[str], int] = count_tokens
) -> list[str]:
    """Whole sentences packed in order until the next one would pass ``budget``.

    ``budget`` is measured by ``count``, by default in MiniLM word pieces. A sentence longer than the budget is cut
    between words; one word longer than the budget stays whole, the only chunk that may pass it. ``overlap`` is a
    number of sentences repeated from the chunk before, fewer where they would crowd out the next sentence. Blank
    text gives ``[]``.

    >>> sentence_chunks("Fill it. Boil it. Pour it.", budget=6)
    ['Fill it. Boil it. ', 'Pour it.']
    """
    if budget < 1:
        raise ValueError(f"budget must be at least 1, got {budget}")
    if overlap < 0:
        raise ValueError(f"overlap must be at least 0, got {overlap}")
    pieces = _fitting_pieces(text, budget, count)
    chunks: list[str] = []
    start = end = 0  # the open chunk is pieces[start:end]
    while end < len(pieces):
        if end > start and count("".join(pieces[start : end + 1])) > budget:
            chunks.append("".join(pieces[start:end]))
            start = max(start + 1, end - overlap)
            while start < end and count("".join(pieces[start : end + 1])) > budget:
                start += 1
        end += 1
    if pieces:
        chunks.append("".join(pieces[start:end]))
    return chunks


def parent_child(passage: Passage, budget: int = 64, split: Callable[[str], list[str]] | None = None) -> list[Passage]:
    """Small passages to search, each pointing at the large one to read.

    Children are the chunks of ``split`` (by default ``sentence_chunks`` with ``budget`` word pieces). Each has the id
    ``<parent>#<number from 0>``, the parent's title and meta, and ``meta["parent"]``, the parent's id. A passage that
    fits the budget has one child; blank text gives ``[]``. ``k`` children stand for fewer than ``k`` parents: who
    searches them collapses before cutting off.

    >>> [child.id for child in parent_child(Passage("p1", "Fill it. Boil it. Pour it."), budget=6)]
    ['p1#0', 'p1#1']
    """
    chunks = split(passage.text) if split else sentence_chunks(passage.text, budget)
    meta = {**passage.meta, "parent": passage.id}
    return [Passage(f"{passage.id}#{i}", chunk, passage.title, meta) for i, chunk in enumerate(chunks)]


def _edges(text: str, spans: list[tuple[int, int]]) -> list[int]:
    """Where each unit begins, the first moved to 0 and the end of the text added: gaps go to the unit before."""
    return [0, *(start for start, _ in spans[1:]), len(text)]


def _slices(text: str, spans: list[tuple[int, int]]) -> list[str]:
    """The units of ``text`` with their gaps.

    >>> _slices(" a  b ", [(1, 2), (4, 5)])
    [' a  ', 'b ']
    """
    edges = _edges(text, spans)
    return [text[edges[i] : edges[i + 1]] for i in range(len(spans))]


def _fitting_pieces(text: str, budget: int, count: Callable[[str], int]) -> list[str]:
    """Sentences, and the parts of those that alone pass the budget."""
    pieces: list[str] = []
    for sentence in _slices(text, sentence_spans(text)):
        if count(sentence) <= budget:
            pieces.append(sentence)
            continue
        part = ""
        for word in _slices(sentence, word_spans(sentence)):
            if part and count(part + word) > budget:
                pieces.append(part)
                part = word
            else:
                part += word
        pieces.append(part)
    return pieces
