"""Text-to-SQL benchmarks in their own formats: defog's questions with their databases, Spider's with its schemas.

defog's sql-eval (https://github.com/defog-ai/sql-eval): dumps of Postgres, and a table of questions whose gold cell
holds several right queries divided by ";". Five of its databases load into SQLite once ``public.``, ``SERIAL`` and
casts are gone (`LOADABLE`). Spider (Yu et al., EMNLP 2018): ``tables.json`` and ``dev.json``, whose parsed SQL names
the tables that a query reads. Left out: Spider's database files, BIRD, and what uses Postgres' own types.
"""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit.datasets.files import read_json
from ragkit.structured.schema import Column, ForeignKey, Schema, Table
from ragkit.structured.statement import Token, tokens

LOADABLE = ("academic", "atis", "geography", "restaurants", "scholar")
"""The databases of defog that load into SQLite."""


@dataclass(frozen=True)
class SQLQuestion:
    """A question on ``database``. ``sql`` is the gold cell, maybe several statements; ``tables`` is empty for defog."""

    database: str
    question: str
    sql: str
    tables: frozenset[str] = frozenset()


def sqlite_script(dump: str) -> str:
    """A dump of Postgres as far as SQLite can read it; text in quotation marks is left alone.

    >>> sqlite_script("CREATE TABLE public.t (id SERIAL, code text DEFAULT 'a::b'::text);")
    "CREATE TABLE t (id INTEGER, code text DEFAULT 'a::b');"
    """
    pieces = list(tokens(dump))
    kept: list[str] = []
    at = 0
    while at < len(pieces):
        token, after = pieces[at], [piece.text for piece in pieces[at + 1 : at + 3]]
        if token.kind == "word" and token.text.lower() == "public" and after[:1] == ["."]:
            at += 2
        elif token.text == ":" and after[:1] == [":"]:
            at += 3
        else:
            kept.append("INTEGER" if _is_serial(token) else token.text)
            at += 1
    return "".join(kept)


def _is_serial(token: Token) -> bool:
    return token.kind == "word" and token.text.upper() in ("SERIAL", "BIGSERIAL")


def defog_database(folder: str | Path, name: str) -> sqlite3.Connection:
    """One of the `LOADABLE` databases in memory, from ``<folder>/sql/<name>.sql``."""
    if name not in LOADABLE:
        raise ValueError(f"name must be one of {', '.join(LOADABLE)}, got {name!r}")
    file = Path(folder) / "sql" / f"{name}.sql"
    if not file.is_file():
        raise ValueError(f"folder has no file sql/{name}.sql: {folder}")
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(sqlite_script(file.read_text(encoding="utf-8")))
    return connection


def read_defog(folder: str | Path) -> list[SQLQuestion]:
    """The questions of ``questions_gen_sqlite.csv`` on the `LOADABLE` databases, in the file's order."""
    file = Path(folder) / "questions_gen_sqlite.csv"
    if not file.is_file():
        raise ValueError(f"folder has no file {file.name}: {folder}")
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    if rows and (missing := {"db_name", "question", "query"} - set(rows[0])):
        raise ValueError(f"{file.name} lacks the column {min(missing)}")
    return [SQLQuestion(r["db_name"], r["question"], r["query"]) for r in rows if r["db_name"] in LOADABLE]


def read_spider(folder: str | Path, split: str = "dev") -> tuple[dict[str, Schema], list[SQLQuestion]]:
    """Every schema of ``tables.json`` by its database, and the questions of ``<split>.json`` with their gold tables.

    Gold tables are those that the gold query reads, nested queries included. The names in words that Spider gives are
    comments and descriptions. SQLite's own ``sqlite_sequence``, which three of the schemas list, is left out.
    """
    entries = read_json(Path(folder) / "tables.json")
    names = {entry["db_id"]: entry["table_names_original"] for entry in entries}
    questions = [
        SQLQuestion(
            row["db_id"],
            row["question"],
            row["query"],
            frozenset(names[row["db_id"]][number] for number in _table_units(row["sql"])),
        )
        for row in read_json(Path(folder) / f"{split}.json")
    ]
    return {entry["db_id"]: _spider_schema(entry) for entry in entries}, questions


def _spider_schema(entry: dict[str, Any]) -> Schema:
    written, spoken = entry["column_names_original"], entry["column_names"]
    names = entry["table_names_original"]
    primary = {number for part in entry["primary_keys"] for number in (part if isinstance(part, list) else [part])}
    tables = []
    for number, name in enumerate(names):
        if name.startswith("sqlite_"):
            continue
        mine = [i for i, (table, _) in enumerate(written) if table == number]
        columns = [Column(written[i][1], entry["column_types"][i], spoken[i][1]) for i in mine]
        keys = [
            ForeignKey((written[i][1],), names[written[other][0]], (written[other][1],))
            for i, other in entry["foreign_keys"]
            if written[i][0] == number
        ]
        own = tuple(written[i][1] for i in mine if i in primary)
        tables.append(Table(name, tuple(columns), own, tuple(keys), entry["table_names"][number]))
    return Schema(tuple(tables))


def _table_units(node: Any) -> Iterator[int]:
    """The numbers of the tables in Spider's parsed SQL, wherever they stand."""
    if isinstance(node, list) and len(node) == 2 and node[0] == "table_unit" and isinstance(node[1], int):
        yield node[1]
    elif isinstance(node, dict | list):
        for part in node.values() if isinstance(node, dict) else node:
            yield from _table_units(part)
