"""Questions to the database, each with the SQL that answers it: ``sql.toml``.

``[[question]]`` tables hold ``id``, ``split``, ``text``, ``sql``, ``tables`` and ``note``. They are graded by
execution: the same rows, and in the same order where the gold query orders them (`is_ordered`).
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit.base import check_unique
from ragkit.corpus.records import SPLITS


@dataclass(frozen=True)
class SqlQuestion:
    """A question in words, the query that answers it, and the tables that the query reads (what a linker should find).

    ``note`` says what the question tests, for authors and for tables of results.
    """

    id: str
    split: str
    text: str
    sql: str
    tables: tuple[str, ...]
    note: str


def sql_questions(split: str | None = None, path: str | Path | None = None) -> list[SqlQuestion]:
    """The questions of one split or all of them, in the order of the file (by default the course's own).

    A bad file, or an id given twice, is a ``ValueError`` that names the file and the question.
    """
    if split is not None and split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, got {split!r}")
    found = read_sql_questions(Path(path) if path is not None else Path(__file__).with_name("sql.toml"))
    check_unique([question.id for question in found], "the SQL questions")
    return [question for question in found if split in (None, question.split)]


def read_sql_questions(path: Path) -> list[SqlQuestion]:
    """The questions of one file, each field checked for its type."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name}: is no TOML: {error}") from None
    if set(table) != {"question"} or not isinstance(table["question"], list):
        raise ValueError(f"{path.name}: must hold [[question]] tables and nothing else")
    return [_question(path, row) for row in table["question"]]


def is_ordered(sql: str) -> bool:
    """Whether the outermost query orders its rows.

    >>> is_ordered("SELECT a FROM t ORDER BY a"), is_ordered("SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 3)")
    (True, False)
    """
    flat = re.sub(r"'(?:[^']|'')*'", "''", sql)
    while (inner := re.sub(r"\([^()]*\)", " ", flat)) != flat:
        flat = inner
    return bool(re.search(r"\bORDER\s+BY\b", flat, re.IGNORECASE))


def _question(path: Path, row: dict[str, Any]) -> SqlQuestion:
    where = f"{path.name}: question {row.get('id', '?')!r}"
    wanted = tuple(SqlQuestion.__dataclass_fields__)
    if set(row) != set(wanted):
        raise ValueError(f"{where} must have the keys {', '.join(wanted)}, has {', '.join(row)}")
    for key in ("id", "text", "sql", "note"):
        if not isinstance(row[key], str) or not row[key].strip():
            raise ValueError(f"{where}: {key} must be a string")
    if row["split"] not in SPLITS:
        raise ValueError(f"{where}: split must be 'dev' or 'test', got {row['split']!r}")
    tables = row["tables"]
    if not isinstance(tables, list) or not tables or not all(isinstance(name, str) for name in tables):
        raise ValueError(f"{where}: tables must be a list of strings")
    return SqlQuestion(row["id"], row["split"], row["text"], row["sql"].strip(), tuple(tables), row["note"])
