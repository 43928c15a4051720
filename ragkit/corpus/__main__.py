"""``python -m ragkit.corpus check [folder]`` prints what the corpus holds, then its faults; any fault is exit code 1.

``python -m ragkit.corpus tickets -n 5 --seed 0`` prints generated tickets as JSON lines.

``python -m ragkit.corpus embed`` puts the vectors of the index and of the questions into the embedding cache, so that
whoever searches next waits for none of them.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ragkit.corpus import load, tickets
from ragkit.corpus.check import Fault, Prompts, asked_in_sql, check, read_leniently
from ragkit.corpus.records import CLASSES, SPLITS, Corpus
from ragkit.models.embed import sentence_embedder
from ragkit.models.embedding_cache import EmbeddingCache, default_path
from ragkit.text import count_tokens

# The prompts live on a floor above, so they are named and not imported; without that module recordings are checked
# for their form only.
TASKS = "ragkit.recorded:TASKS"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 1 if there was a fault."""
    parser = argparse.ArgumentParser(prog="python -m ragkit.corpus")
    commands = parser.add_subparsers(dest="command", required=True)
    checker = commands.add_parser("check", help="count and check the corpus")
    checker.add_argument("folder", nargs="?", help="another corpus folder (default: the course's)")
    maker = commands.add_parser("tickets", help="print generated support tickets as JSON lines")
    maker.add_argument("-n", type=int, default=50_000)
    maker.add_argument("--seed", type=int, default=0)
    commands.add_parser("embed", help="embed the index and the questions, where the cache does not hold them yet")
    options = parser.parse_args(arguments)
    if options.command == "tickets":
        for ticket in tickets.generate(options.n, options.seed):
            print(json.dumps(ticket._asdict(), ensure_ascii=False))
        return 0
    if options.command == "embed":
        print(embed_all())
        return 0
    corpus, faults = read_leniently(options.folder)
    faults += check(corpus, tasks=None if options.folder else registered())
    show(corpus, faults, Console())
    return 1 if faults else 0


def embed_all() -> str:
    """Fill the embedding cache with what every search of the course needs; says what was there and what was not."""
    corpus = load()
    cached = EmbeddingCache(model := sentence_embedder(), default_path(), model.version)
    cached([passage.full_text for passage in corpus.index] + [question.text for question in corpus.questions])
    return f"{cached.misses:,} texts embedded, {cached.hits:,} were there, in {cached.path}"


def registered(entry: str = TASKS) -> Mapping[str, Prompts] | None:
    """The mapping that ``module:name`` names, or ``None`` where there is no such module."""
    module, _, name = entry.partition(":")
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # a parent package is missing
        return None
    if found is None:
        return None
    mapping: Mapping[str, Prompts] = getattr(importlib.import_module(module), name)
    return mapping


def show(corpus: Corpus, faults: Sequence[Fault], console: Console) -> None:
    """Print the counts, then each fault on its line."""
    table = Table("class", *SPLITS, "all", title="questions", title_justify="left")
    for cls in CLASSES:
        sizes = [len(corpus.select(cls, split)) for split in SPLITS]
        table.add_row(cls, *map(str, sizes), str(sum(sizes)))
    sizes = [len(corpus.select(split=split)) for split in SPLITS]
    table.add_row("all", *map(str, sizes), str(sum(sizes)), style="bold")
    if not any(fault.where.startswith("sql.toml") for fault in faults) and (asked := asked_in_sql(corpus)):
        sizes = [sum(question.split == split for question in asked) for split in SPLITS]
        table.add_row("to the database", *map(str, sizes), str(sum(sizes)))
    console.print(table)
    parts: dict[str, list[Any]] = {"passages": corpus.passages, "distractors": corpus.distractors}
    if corpus.outside:
        parts["outside passages"] = corpus.outside
    sizes_table = Table("part", "count", "tokens", title="texts", title_justify="left")
    sizes_table.add_row("documents", str(len(corpus.documents)), "")
    if corpus.outside:
        sizes_table.add_row("outside documents", str(len(corpus.outside_documents)), "")
    for name, passages in parts.items():
        tokens = sum(count_tokens(passage.full_text) for passage in passages)
        sizes_table.add_row(name, f"{len(passages):,}", f"{tokens:,}")
    console.print(sizes_table)
    for fault in faults:
        console.print(f"[red]{escape(fault.kind)}[/red] {escape(fault.where)}: {escape(fault.message)}")
    console.print(f"{len(faults)} faults" if faults else "no faults")


if __name__ == "__main__":
    sys.exit(main())
