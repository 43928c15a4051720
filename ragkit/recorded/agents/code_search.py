"""Search in the code of ``ragkit`` for the agent's tool, kept as it was on the day when a query was recorded.

The code changes from week to week, and with it a prompt that shows some. So what a recorded query found lies in
``corpus/runs/agents/code.toml``, and only another query is searched in the code of today.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import ragkit
from ragkit import corpus
from ragkit.base import Hit, Passage
from ragkit.loops.context import same_text
from ragkit.search import BM25
from ragkit.structured import code_tokens, package_chunks

FOLDER = Path(corpus.__file__).parent / "runs" / "agents"
KEPT = FOLDER / "code.toml"
BOOK = ("corpus", "explore", "figures", "recorded", "scoreboard", "show", "__pycache__")
"""Folders of the package that serve the book; the code tool does not search them."""
K = 3
"""Passages or definitions that a search brings."""


@cache
def current() -> tuple[BM25, dict[str, str]]:
    """Search over the package as it is now, and the first five lines of every chunk."""
    chunks = package_chunks(Path(ragkit.__file__).parent, skip=BOOK).chunks
    index = BM25([Passage(chunk.id, chunk.embedded) for chunk in chunks], tokenize=code_tokens)
    return index, {chunk.id: "\n".join(chunk.text.rstrip().splitlines()[:5]) for chunk in chunks}


@cache
def kept() -> dict[str, list[tuple[str, str]]]:
    """Query, in the form of `same_text` -> names and texts of what it found."""
    rows = tomllib.loads(KEPT.read_text(encoding="utf-8")).get("search", []) if KEPT.is_file() else []
    return {same_text(row["query"]): [(hit["id"], hit["text"]) for hit in row["hits"]] for row in rows}


def code(query: str, k: int = K, keep: bool = False) -> list[Hit]:
    """Search in the code: what was found when the query was recorded, else what is found now; ``keep`` records it."""
    known = kept().get(same_text(query))
    if known is None:
        index, heads = current()
        known = [(hit.id, heads[hit.id]) for hit in index(query, K)]
        if keep:
            _keep(query, known)
    return [Hit(name, text, 1 / rank) for rank, (name, text) in enumerate(known[:k], start=1)]


def _keep(query: str, hits: Sequence[tuple[str, str]]) -> None:
    import tomli_w

    old = tomllib.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {"search": []}
    row = {
        "query": query,
        "date": datetime.date.today(),
        "hits": [{"id": name, "text": text} for name, text in hits],
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    head = "# What the search in the code found when answers were recorded: ragkit.recorded.agents\n"
    rows = {"search": [*old["search"], row]}
    KEPT.write_text(head + tomli_w.dumps(rows, multiline_strings=True), encoding="utf-8")
    kept.cache_clear()
