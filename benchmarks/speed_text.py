"""Chunking, tokenizing and indexing in MB of text a second.

    python benchmarks/speed_text.py [--small]

Sentences of words that follow Zipf's law, in documents of about 2,000 words. The peers: for windows of words, cutting
at blanks and joining again, the least there is; for sentences packed to a budget of word pieces, one pass of the same
tokenizer over the text, which any splitter that counts pieces needs; for tokens and for the index from raw text, bm25s
with its own tokenizer, without stop words or stems on either side.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import bm25s
import numpy as np
from _measure import Side, Task, run, zipf_passages

from ragkit.base import Passage
from ragkit.chunk import fixed_chunks, sentence_chunks
from ragkit.search import BM25
from ragkit.text import count_tokens, tokenize

WINDOW, BUDGET, DOCUMENT = 100, 128, 2_000


def documents(size: int) -> list[str]:
    """About ``size`` bytes of ASCII text."""
    rng, left, found = np.random.default_rng(0), size, []
    words = [term for passage in zipf_passages(size // 250 + 1) for term in passage]
    at = 0
    while left > 0:
        sentences, end = [], min(at + DOCUMENT, len(words))
        while at < end:
            step = int(rng.integers(6, 24))
            sentences.append(" ".join(words[at : min(at + step, end)]).capitalize() + ".")
            at += step
        at = end
        if not sentences:
            break
        text = " ".join(sentences)
        found.append(text if len(text) <= left else text[:left].rsplit(" ", 1)[0])  # no word is cut
        left -= len(text)
    return found


def tasks(size: int) -> list[Task]:
    texts = documents(size)
    amount = sum(map(len, texts)) / 1e6

    def windows() -> list[list[str]]:
        return [fixed_chunks(text, WINDOW) for text in texts]

    def split_and_join() -> list[list[str]]:
        cut = (text.split() for text in texts)
        return [[" ".join(words[i : i + WINDOW]) for i in range(0, len(words), WINDOW)] for words in cut]

    def packed() -> list[list[str]]:
        count_tokens.cache_clear()  # counts of an earlier turn would be read, not made
        return [sentence_chunks(text, BUDGET) for text in texts]

    def one_pass() -> int:
        count_tokens.cache_clear()
        return sum(count_tokens(text) for text in texts)

    def our_tokens() -> list[list[str]]:
        return [tokenize(text) for text in texts]

    def their_tokens() -> list[list[str]]:
        return bm25s.tokenize(texts, stopwords=None, return_ids=False, show_progress=False)

    @cache
    def passages() -> list[Passage]:
        chunks = (chunk for text in texts for chunk in fixed_chunks(text, WINDOW))
        return [Passage(str(i), chunk) for i, chunk in enumerate(chunks)]

    def our_index() -> BM25:
        return BM25(passages())

    def their_index() -> Any:
        model = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        tokens = bm25s.tokenize([p.text for p in passages()], stopwords=None, show_progress=False)
        model.index(tokens, show_progress=False)
        return model

    def agree_on_windows() -> None:
        assert [[chunk.rstrip() for chunk in chunks] for chunks in windows()] == split_and_join()

    def agree_on_packed() -> None:
        for text, chunks in zip(texts, packed(), strict=True):
            assert "".join(chunks) == text
            assert all(count_tokens(chunk) <= BUDGET for chunk in chunks)
        # A cut may split no word piece: cuts are at blanks, so the pieces of the chunks are those of the text.
        assert sum(count_tokens(chunk) for chunks in packed() for chunk in chunks) == one_pass()

    def agree_on_tokens() -> None:
        assert our_tokens() == [list(terms) for terms in their_tokens()]

    def agree_on_index() -> None:
        own, other = our_index(), their_index()
        for passage in passages()[:10]:
            query = tokenize(passage.text)[:4]
            scores = other.get_scores(query)
            np.testing.assert_allclose(own.scores(" ".join(query)), scores, rtol=1e-3, atol=1e-3)

    def pair(what: str, ours: Any, name: str, theirs: Any, agree: Any) -> Task:
        return Task(what, "MB", [Side("ragkit", ours, amount), Side(name, theirs, amount)], agree, rate=True)

    return [
        pair(f"windows of {WINDOW} words", windows, "split and join", split_and_join, agree_on_windows),
        pair(f"sentences to {BUDGET} pieces", packed, "one pass of the tokenizer", one_pass, agree_on_packed),
        pair("tokenize", our_tokens, "bm25s", their_tokens, agree_on_tokens),
        pair("index from text", our_index, "bm25s", their_index, agree_on_index),
    ]


if __name__ == "__main__":
    raise SystemExit(run(__doc__, tasks, (1_000_000, 4_000_000), (50_000, 200_000), ("bm25s", "tokenizers", "numpy")))
