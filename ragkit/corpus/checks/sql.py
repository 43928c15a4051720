"""Promises of the SQL questions: every gold query runs, reads the tables it names, and has one result.

A result is one if it does not depend on the order in which the engine meets the rows. So each query runs on three
databases: as built, with every scan reversed (``PRAGMA reverse_unordered_selects``), and with the rows written in
reverse. An ``ORDER BY`` with ties, or a ``LIMIT`` without an order, comes out in another way on one of them.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from ragkit.corpus.checks.faults import Fault, Minimums
from ragkit.corpus.database import open_read_only, schema
from ragkit.corpus.database.builder import rows_by_table, write
from ragkit.corpus.records import SPLITS
from ragkit.corpus.sql import SqlQuestion, is_ordered


def sql_faults(questions: Sequence[SqlQuestion], least: Minimums) -> Iterator[Fault]:
    """Every fault of the questions and of their queries."""
    if len(questions) < least.sql:
        yield Fault("size", "sql", f"has {len(questions)} questions, needs {least.sql}")
    sizes = [sum(question.split == split for question in questions) for split in SPLITS]
    if max(sizes) - min(sizes) > 1:
        yield Fault("split", "sql", f"must be half dev, half test, is {sizes[0]} to {sizes[1]}")
    for an_id, count in Counter(question.id for question in questions).items():
        if count > 1:
            yield Fault("duplicate-id", an_id, f"stands {count} times among the SQL questions")
    if not questions:
        return
    with TemporaryDirectory() as folder:
        tables = rows_by_table()
        built, mirrored = Path(folder, "built.db"), Path(folder, "mirrored.db")
        write(built, tables, schema())
        # a table with INTEGER PRIMARY KEY lies in the order of its keys, however it was filled
        loose = schema().replace("INTEGER PRIMARY KEY", "INT PRIMARY KEY")
        write(mirrored, {name: rows[::-1] for name, rows in tables.items()}, loose)
        with closing(open_read_only(built)) as one, closing(open_read_only(built)) as two:
            two.execute("PRAGMA reverse_unordered_selects = ON")
            with closing(open_read_only(mirrored)) as three:
                for question in questions:
                    yield from _query_faults(question, (one, two, three))


def _query_faults(question: SqlQuestion, databases: Sequence[sqlite3.Connection]) -> Iterator[Fault]:
    try:
        results = [database.execute(question.sql).fetchall() for database in databases]
        read = tables_read(question.sql, databases[0])
    except sqlite3.Error as error:
        yield Fault("sql", question.id, f"does not run: {error}")
        return
    if read != set(question.tables):
        yield Fault("sql-tables", question.id, f"names {sorted(question.tables)}, the query reads {sorted(read)}")
    found = [rows if is_ordered(question.sql) else sorted(rows, key=repr) for rows in results]
    if any(rows != found[0] for rows in found):
        yield Fault("sql-ties", question.id, "gives another result when the rows come in another order")
    if (not found[0]) != ("empty" in question.note):
        yield Fault("sql-empty", question.id, f"gives {len(found[0])} rows; the note must say empty if it gives none")


def tables_read(sql: str, database: sqlite3.Connection) -> set[str]:
    """The tables whose rows, or whose indexes, the compiled query opens.

    SQLite's authorizer would miss a table that is only joined by ``USING``; the bytecode opens it all the same.
    """
    owner = dict(database.execute("SELECT rootpage, tbl_name FROM sqlite_master WHERE rootpage > 0"))
    steps = database.execute(f"EXPLAIN {sql}").fetchall()
    return {owner[p2] for _, opcode, _, p2, *_ in steps if opcode == "OpenRead"}
