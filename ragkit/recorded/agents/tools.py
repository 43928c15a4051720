"""The five tools: searches by BM25, whose ranking is the same on every machine, one SELECT, and a calculator.

Keywords keep the prompts the same everywhere, which vectors would not: a prompt holds what was found.
"""

from __future__ import annotations

from functools import cache, partial

from ragkit import corpus
from ragkit.base import Hit
from ragkit.loops.tools import Tool, calculator_tool, code_tool, outside_tool, passages_tool, sql_tool
from ragkit.recorded import sql as database_chapter
from ragkit.recorded.agents.code_search import K, code
from ragkit.search import BM25
from ragkit.structured import Database
from ragkit.text import tokenize

by_stem = partial(tokenize, stem=True)


def dated(hit: Hit) -> str:
    """A passage with the title and the date of its document, on one line; code as it stands."""
    if hit.id.startswith("ragkit."):
        return hit.text
    passage = corpus.load().passage(hit.id)
    return f"{passage.title} ({passage.meta['date']}): {' '.join(passage.text.split())}"


@cache
def documents() -> BM25:
    """Keyword search over the passages of the documents; tickets are left out."""
    return BM25(corpus.load().passages, tokenize=by_stem)


@cache
def outside() -> BM25:
    """Keyword search over the outside collection."""
    return BM25(corpus.load().outside, tokenize=by_stem)


@cache
def columns() -> str:
    """The tables and their columns in one line each."""
    schema = database_chapter.schema()
    return "; ".join(f"{one.name}({', '.join(column.name for column in one.columns)})" for one in schema.tables)


@cache
def toolbox(keep: bool = False) -> tuple[Tool, ...]:
    """The five tools, as every answerer has them."""
    rows = Database(database_chapter.database().connection, max_rows=15)
    return (
        passages_tool(documents(), K, dated),
        outside_tool(outside(), K, dated),
        code_tool(partial(code, keep=keep), K),
        sql_tool(rows.run, columns()),
        calculator_tool(),
    )
