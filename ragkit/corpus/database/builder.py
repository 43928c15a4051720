"""The database file: ``build(path)`` writes it, ``open_read_only(path)`` opens it for somebody else's SQL."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from ragkit.corpus.database.facts import (
    Row,
    facts,
    order_rows,
    product_rows,
    range_rows,
    return_rows,
    schema,
    staffing_rows,
    store_rows,
)
from ragkit.corpus.database.made_up import made_up

NO_COLLECTION = "Tollgate"
"""The outlet: nothing is put by there."""


def build(path: str | Path, seed: int = 0) -> None:
    """Write the database to ``path``, in place of a file that is there; a missing folder is a ``ValueError``.

    The same seed gives the same rows in the same order. Takes well under a second.
    """
    write(path, rows_by_table(seed), schema())


def open_read_only(path: str | Path) -> sqlite3.Connection:
    """A connection that cannot write; a missing file is a ``ValueError``."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"path is no file: {path}")
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


def write(path: str | Path, tables: Mapping[str, Sequence[Row]], statements: str) -> None:
    """A new file with these CREATE statements and rows. Tables are filled in their order: parents before children."""
    path = Path(path)
    if not path.parent.is_dir():
        raise ValueError(f"path lies in no folder: {path}")
    if path.is_dir():
        raise ValueError(f"path is a folder: {path}")
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.executescript(statements)
        with connection:
            for table, rows in tables.items():
                if rows:
                    marks = ", ".join("?" * len(rows[0]))
                    connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def rows_by_table(seed: int = 0) -> dict[str, list[Row]]:
    """Every table with its rows, parents before children."""
    told = facts()
    ids = {row["name"]: number for number, row in enumerate(told["stores"]["rows"], 1)}
    products, sold = product_rows(told), range_rows(told, ids)
    prices: dict[str, int] = {row[0]: row[4] for row in products}
    orders, lines = order_rows(told, ids, prices)
    stores = {ids[row["name"]]: bool(row["sunday"]) for row in told["stores"]["rows"] if row["name"] != NO_COLLECTION}
    more, more_lines, returns = made_up(random.Random(seed), told, stores, sold, prices)
    return {
        "stores": store_rows(told, ids),
        "suppliers": [(n, s["name"], s["supplies"], int(s["active"])) for n, s in enumerate(told["supplier"], 1)],
        "products": products,
        "range": sold,
        "components": [(c, n, part) for n, s in enumerate(told["supplier"], 1) for c, part in s["parts"]],
        "staffing": staffing_rows(told, ids),
        "orders": sorted(orders + more),
        "order_lines": sorted(lines + more_lines),
        "returns": sorted(return_rows(told) + returns),
    }
