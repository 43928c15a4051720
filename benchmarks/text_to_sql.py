"""Text-to-SQL: defog's gold queries by execution, schema-linking recall on Spider, and the local model if asked for.

    python benchmarks/text_to_sql.py [DATA] [--dense] [--llm local [--sample 25] [--examples 0 1 3]] [--seed 0]

DATA holds ``text_to_sql/`` (by default the environment variable RAGKIT_DATA, else ``../shared/data`` beside the
checkout). First table: the five defog databases that load into SQLite. Every gold alternative is run under the guard
and its result held against itself; ``doubled rows`` counts the results in which a row occurs twice, which a comparison
of sets would not see. Second: the share of gold tables among those linked at k, over the one database that the question
is about, and over the tables of all 166 schemas together, where a table is right only with its database. ``all`` is the
share of questions with every gold table, ``tables`` the mean number linked (more than k where bridges come in, fewer
where BM25 finds no more). ``--dense`` adds MiniLM, which embeds every table and question (minutes on a CPU). ``--llm
local`` writes the SQL with the 135M model for a seeded sample of defog's questions, with no example, one and three
retrieved ones, the question itself and its twins left out.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ragkit.base import LLM
from ragkit.index.parents import Indexer
from ragkit.models import embedder, load
from ragkit.search import BM25, Dense, fuse_retrievers
from ragkit.structured import (
    Database,
    Schema,
    SchemaLinker,
    SQLExample,
    SQLExamples,
    code_tokens,
    compare,
    execution_match,
    is_ordered,
    linking_scores,
    prompt_text,
    read_schema,
    statements,
    text_to_sql,
)
from ragkit.structured.sql_benchmarks import (
    LOADABLE,
    SQLQuestion,
    defog_database,
    read_defog,
    read_spider,
)

DEFAULT = Path(os.environ.get("RAGKIT_DATA") or Path(__file__).resolve().parents[1] / "../shared/data")
ROWS = 100_000


def guarded(folder: Path) -> dict[str, Database]:
    return {name: Database(defog_database(folder, name), seconds=10, max_rows=ROWS) for name in LOADABLE}


def gold(databases: dict[str, Database], questions: Sequence[SQLQuestion]) -> None:
    """Run every alternative of every gold cell."""
    print(f"{'defog':12} questions  queries  run  empty  ordered  doubled rows")
    for name, database in databases.items():
        mine = [q for q in questions if q.database == name]
        queries = [sql for q in mine for sql in statements(q.sql)]
        results = [database.run(sql) for sql in queries]
        right = sum(compare(r, r, is_ordered(sql)).correct for r, sql in zip(results, queries, strict=True))
        empty = sum(not r.rows for r in results)
        doubled = sum(len(set(r.rows)) < len(r.rows) for r in results)
        ordered = sum(map(is_ordered, queries))
        print(f"{name:12} {len(mine):9} {len(queries):8} {right:4} {empty:6} {ordered:8} {doubled:13}")


def pooled(schemas: dict[str, Schema]) -> Schema:
    """All schemas as one; a table's name carries its database, which its search text does not."""
    return Schema(
        tuple(
            replace(
                table,
                name=f"{db}.{table.name}",
                foreign_keys=tuple(replace(key, other=f"{db}.{key.other}") for key in table.foreign_keys),
            )
            for db, schema in schemas.items()
            for table in schema.tables
        )
    )


def linking(folder: Path, indexers: dict[str, Indexer]) -> None:
    """Recall of the gold tables, by retriever, with and without bridges."""
    schemas, questions = read_spider(folder)
    whole = pooled(schemas)
    print(f"\n{'Spider dev':22} {'over':14} k  recall  all    tables")
    for name, index in indexers.items():
        for bridge in (0, 1):
            title = f"{name}{' + bridges' if bridge else ''}"
            for k in (1, 2, 3):
                scores = []
                for db in dict.fromkeys(q.database for q in questions):
                    linker = SchemaLinker(schemas[db], index, bridge)
                    scores += linking_scores(linker, [(q.question, q.tables) for q in questions if q.database == db], k)
                row(title, "one database", k, scores)
            linker = SchemaLinker(whole, index, bridge)
            cases = [(q.question, {f"{q.database}.{table}" for table in q.tables}) for q in questions]
            for k in (5, 10, 20):
                row(title, f"{len(whole.tables)} tables", k, linking_scores(linker, cases, k))


def row(name: str, over: str, k: int, scores: Sequence[object]) -> None:
    values = np.array([[s.recall, s.all_recall, s.tables] for s in scores])  # type: ignore[attr-defined]
    recall, everything, tables = values.mean(axis=0)
    print(f"{name:22} {over:14} {k:2} {recall:6.3f} {everything:6.3f} {tables:6.1f}", flush=True)


def written(databases: dict[str, Database], questions: Sequence[SQLQuestion], llm: LLM, numbers: Sequence[int]) -> None:
    """Execution accuracy of a model on a sample, by number of retrieved examples."""
    schemas = {name: prompt_text(read_schema(database.connection, samples=2)) for name, database in databases.items()}
    everything = read_defog_examples(databases, questions)
    print(f"\n{'written by the model':22} right  ran   calls  s a question   n = {len(questions)}")
    for shots in numbers:
        right = ran = calls = 0
        start = time.perf_counter()
        for q in questions:
            examples = everything[q.database].leave_out(q.question, statements(q.sql)[0], shots)
            answer = text_to_sql(q.question, databases[q.database], llm, schemas[q.database], examples)
            calls += len(answer.attempts)
            if answer.result is not None:
                ran += 1
                right += execution_match(databases[q.database], q.sql, answer.sql).correct
        spent = (time.perf_counter() - start) / len(questions)
        n = len(questions)
        print(f"{shots} examples{'':12} {right / n:6.2f} {ran / n:5.2f} {calls / n:6.1f} {spent:8.1f}", flush=True)


def read_defog_examples(databases: dict[str, Database], questions: Sequence[SQLQuestion]) -> dict[str, SQLExamples]:
    """For each database the questions on it with their first gold query; the index is keyword search."""
    index = partial(BM25, tokenize=code_tokens)
    return {
        name: SQLExamples(
            [SQLExample(q.question, statements(q.sql)[0]) for q in questions if q.database == name], index
        )
        for name in databases
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--dense", action="store_true", help="also MiniLM, alone and fused with BM25")
    parser.add_argument("--llm", help="a model that writes SQL: local, or the address of a server")
    parser.add_argument("--sample", type=int, default=25, help="questions for the model")
    parser.add_argument("--examples", type=int, nargs="+", default=[0, 1, 3], help="numbers of retrieved examples")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = options.data / "text_to_sql"
    if not folder.is_dir():
        print(f"{folder} is not there: give the folder that holds text_to_sql/, or set RAGKIT_DATA")
        return 2
    databases, questions = guarded(folder / "defog"), read_defog(folder / "defog")
    gold(databases, questions)
    keyword: Indexer = partial(BM25, tokenize=code_tokens)
    indexers: dict[str, Indexer] = {"BM25": keyword}
    if options.dense:
        embed = embedder()
        indexers["dense"] = lambda passages: Dense(passages, embed)
        indexers["fused"] = lambda passages: fuse_retrievers([keyword(passages), Dense(passages, embed)])
    linking(folder / "spider", indexers)
    if options.llm:
        sample = random.Random(options.seed).sample(questions, min(options.sample, len(questions)))
        written(databases, sample, load(options.llm), options.examples)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
