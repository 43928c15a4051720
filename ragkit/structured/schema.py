"""A schema as data: tables, columns, keys, comments and sample values, read from an SQLite database.

Comments are read from the CREATE statement, which SQLite keeps as it was written: one before the first column speaks
of the table, any other of the column begun before it. Sample values reach whoever reads the prompt, a hosted model
among them: ``samples=0`` leaves them out. Left out: statistics of columns and keys that nobody declared.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from ragkit.structured.statement import tokens

_SAMPLED_ROWS = 1_000  # distinct values are sought in the first rows only: a whole table may be large
_SAMPLE_LENGTH = 40
_TABLES = """\
SELECT m.name, m.sql FROM sqlite_master AS m JOIN pragma_table_list AS l ON l.name = m.name AND l.schema = 'main'
WHERE m.type IN ('table', 'view') AND l.type <> 'shadow' AND m.name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY m.rowid"""


@dataclass(frozen=True)
class Column:
    """``type`` is as declared, "" where nothing is; ``samples`` are distinct values, as text."""

    name: str
    type: str = ""
    comment: str = ""
    samples: tuple[str, ...] = ()


@dataclass(frozen=True)
class ForeignKey:
    """``columns`` of the table that has the key point at ``other_columns`` of the table ``other``."""

    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table or view. ``description`` is its comment, or what a person or a model wrote about it."""

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    description: str = ""


@dataclass(frozen=True)
class Schema:
    """Tables in the order of their creation."""

    tables: tuple[Table, ...]

    def table(self, name: str) -> Table:
        """The table of that name in whatever case, else ``ValueError``."""
        for table in self.tables:
            if table.name.lower() == name.lower():
                return table
        raise ValueError(f"name is no table of the schema: {name!r}")

    def only(self, names: Collection[str]) -> Schema:
        """The part of the schema that a prompt shows: these tables, in the schema's order, keys to others left out."""
        kept = {self.table(name).name for name in names}
        return Schema(
            tuple(
                replace(t, foreign_keys=tuple(key for key in t.foreign_keys if key.other in kept))
                for t in self.tables
                if t.name in kept
            )
        )


def read_schema(
    connection: sqlite3.Connection, samples: int = 3, descriptions: Mapping[str, str] | None = None
) -> Schema:
    """The schema of an SQLite database, with at most ``samples`` values a column (0: none).

    ``descriptions`` maps names of tables to texts that take the place of their comments; a name that the database
    lacks is a ``ValueError``. An empty database gives a schema without tables. Reads with the rights of the connection,
    so give it one that may see the whole schema.
    """
    if isinstance(samples, bool) or samples < 0:
        raise ValueError(f"samples must be at least 0, got {samples!r}")
    rows = connection.execute(_TABLES).fetchall()
    described = dict(descriptions or {})
    if unknown := sorted(set(described) - {name for name, _ in rows}):
        raise ValueError(f"descriptions names {unknown[0]!r}, which the database does not have")
    tables = [_table(connection, name, sql or "", samples) for name, sql in rows]
    by_name = {table.name.lower(): table for table in tables}
    return Schema(
        tuple(
            replace(
                table,
                description=described.get(table.name, table.description),
                foreign_keys=tuple(_completed(key, by_name) for key in table.foreign_keys),
            )
            for table in tables
        )
    )


def _table(connection: sqlite3.Connection, name: str, sql: str, samples: int) -> Table:
    comments = read_comments(sql)
    info = connection.execute("SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1", (name,)).fetchall()
    columns = tuple(
        Column(column, kind, comments.get(column.lower(), ""), _samples(connection, name, column, samples))
        for column, kind, _ in info
    )
    primary = [column for column, _, place in sorted(info, key=lambda row: row[2]) if place]
    keys: dict[int, list[tuple[str, str, str | None]]] = {}
    for number, other, mine, theirs in connection.execute(
        'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq', (name,)
    ):
        keys.setdefault(number, []).append((other, mine, theirs))
    foreign = [
        ForeignKey(tuple(mine for _, mine, _ in parts), parts[0][0], tuple(t for _, _, t in parts if t is not None))
        for parts in keys.values()
    ]
    return Table(name, columns, tuple(primary), tuple(foreign), comments.get("", ""))


def _completed(key: ForeignKey, tables: Mapping[str, Table]) -> ForeignKey:
    """A key as declared, with the other table's own spelling and, where no column is named, its primary key."""
    other = tables.get(key.other.lower())
    if other is None:  # SQLite allows a key to a table that does not exist
        return key
    return replace(key, other=other.name, other_columns=key.other_columns or other.primary_key)


def _samples(connection: sqlite3.Connection, table: str, column: str, n: int) -> tuple[str, ...]:
    """The first ``n`` distinct values of a column, long ones cut; blobs and NULLs are no samples."""
    if not n:
        return ()
    quoted, source = (f'"{name.replace(chr(34), 2 * chr(34))}"' for name in (column, table))
    found = connection.execute(
        f"SELECT DISTINCT v FROM (SELECT {quoted} AS v FROM {source} LIMIT {_SAMPLED_ROWS})"
        " WHERE v IS NOT NULL AND typeof(v) <> 'blob' LIMIT ?",
        (n,),
    )
    values = [" ".join(str(value).split()) for (value,) in found]
    return tuple(value if len(value) <= _SAMPLE_LENGTH else f"{value[: _SAMPLE_LENGTH - 1]}…" for value in values)


def read_comments(sql: str) -> dict[str, str]:
    """Column (lower case), or "" for the table -> the comments that a CREATE TABLE statement makes on it.

    >>> read_comments("CREATE TABLE t ( -- things\\n  a INT, -- first\\n  b INT  -- second\\n)")
    {'': 'things', 'a': 'first', 'b': 'second'}
    """
    found: dict[str, list[str]] = {}
    item, fresh = "", False
    for token in tokens(sql):
        if token.kind == "comment":
            text = " ".join(token.text.removeprefix("--").removeprefix("/*").removesuffix("*/").split())
            found.setdefault(item, []).append(text)
        elif (token.text, token.depth) in (("(", 0), (",", 1)):
            fresh = True
        elif fresh and token.kind != "space":
            item, fresh = token.text.strip('"`[]').lower(), False
    return {name: " ".join(filter(None, texts)) for name, texts in found.items()}
