"""The two texts of a table: one for the prompt that asks for SQL, one for the search that finds the table.

For the prompt a CREATE TABLE statement with comments and sample values behind the columns, close to the form that
Rajkumar, Li and Bahdanau found best (*Evaluating the Text-to-SQL Capabilities of Large Language Models*, 2022; they add
the first rows of a table). For search the words of its names, its description and its sample values, since a question
says "lines of an order" where the schema says ``order_lines``. Left out: descriptions that a model writes; give them to
``read_schema``.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from ragkit.base import Passage
from ragkit.structured.identifiers import spoken
from ragkit.structured.schema import Column, Schema, Table
from ragkit.structured.statement import parses

PARTS = ("columns", "description", "samples")
"""What a table can be found by, beside its name."""


def prompt_text(schema: Schema) -> str:
    """Every table as a CREATE TABLE statement, a blank line between two; "" for a schema without tables."""
    return "\n\n".join(create_text(table) for table in schema.tables)


def table_passages(schema: Schema, parts: Collection[str] = PARTS) -> list[Passage]:
    """One passage a table, its name as id: what schema linking searches."""
    return [Passage(table.name, table_text(table, parts), spoken(table.name)) for table in schema.tables]


@lru_cache(maxsize=4096)
def _name(name: str) -> str:
    """A name as a statement writes it: in quotation marks where it is no plain word, or one of SQL's.

    >>> _name("stores"), _name("order"), _name("Home Town")
    ('stores', '"order"', '"Home Town"')
    """
    plain = name.isascii() and name.isidentifier() and parses(f"SELECT {name} AS {name}")
    return name if plain else '"' + name.replace('"', '""') + '"'


def create_text(table: Table) -> str:
    """A table as a CREATE TABLE statement that runs, with comments and samples as comments of SQL.

    >>> town = Column("town", "TEXT", "", ("Ost", "Tarn"))
    >>> print(create_text(Table("shops", (Column("id", "INTEGER"), town), primary_key=("id",))))
    CREATE TABLE shops (
      id INTEGER,
      town TEXT, -- e.g. 'Ost', 'Tarn'
      PRIMARY KEY (id)
    );
    """
    items = [(f"{_name(c.name)} {c.type}".strip(), _remark(c)) for c in table.columns]
    if table.primary_key:
        items.append((f"PRIMARY KEY ({', '.join(map(_name, table.primary_key))})", ""))
    for key in table.foreign_keys:
        target = f" ({', '.join(map(_name, key.other_columns))})" if key.other_columns else ""
        items.append((f"FOREIGN KEY ({', '.join(map(_name, key.columns))}) REFERENCES {_name(key.other)}{target}", ""))
    lines = [
        f"  {code}{',' if n < len(items) else ''}{f' -- {remark}' if remark else ''}"
        for n, (code, remark) in enumerate(items, 1)
    ]
    head = f"CREATE TABLE {_name(table.name)} ("
    about = [f"  -- {' '.join(table.description.split())}"] if table.description else []
    return "\n".join([head, *about, *lines, ");"])


def _remark(column: Column) -> str:
    samples = ", ".join(f"'{value}'" for value in column.samples)
    return "; ".join(filter(None, [" ".join(column.comment.split()), samples and f"e.g. {samples}"]))


def table_text(table: Table, parts: Collection[str] = PARTS) -> str:
    """What a search finds a table by, beside its name: description, columns with comments, sample values.

    >>> table_text(Table("t", (Column("store_id"), Column("onRota", "", "people", ("7",))), description="Colleagues."))
    'Colleagues.\\nColumns: store id, on rota (people).\\nValues: 7.'
    """
    if unknown := sorted(set(parts) - set(PARTS)):
        raise ValueError(f"parts must be among {', '.join(PARTS)}, got {unknown[0]!r}")
    columns = [
        spoken(c.name) + (f" ({c.comment})" if c.comment and "description" in parts else "") for c in table.columns
    ]
    values = [value for column in table.columns for value in column.samples]
    lines = [
        table.description if "description" in parts else "",
        f"Columns: {', '.join(columns)}." if columns and "columns" in parts else "",
        f"Values: {', '.join(values)}." if values and "samples" in parts else "",
    ]
    return "\n".join(filter(None, lines))
