"""What the documents state, as rows of the database: ``database.toml``, entry by entry.

Each entry names the passages it was read from, so ``ragkit/corpus/checks/database.py`` can hold one against the other.
Left out: whatever the documents leave open. The day of purchase of an order they speak of is ``NULL``.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

Facts: TypeAlias = dict[str, Any]
Row: TypeAlias = tuple[Any, ...]


@cache
def facts() -> Facts:
    """``database.toml``: what the documents state, with the passages that state it."""
    return tomllib.loads(Path(__file__).with_name("database.toml").read_text(encoding="utf-8"))


@cache
def schema() -> str:
    """``schema.sql``: the CREATE statements with their comments."""
    return Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")


def store_rows(told: Facts, ids: dict[str, int]) -> list[Row]:
    return [
        (
            *(ids[row["name"]], row["name"], row["town"], row["opened"], row["floor_area"]),
            *(row["sunday"] or (None, None)),
            int(row["name"] in told["repair_desk"]["stores"]),
            int(row["name"] in told["second_turn"]["stores"]),
        )
        for row in told["stores"]["rows"]
    ]


def product_rows(told: Facts) -> list[Row]:
    rows: list[Row] = []
    for kind in ("articles", "parts"):
        rows += [(code, *row[:2], kind[:-1], row[2]) for code, row in told[kind].items() if code != "source"]
    return rows + [(row["code"], row["name"], row["line"], "article", row["price"]) for row in told["by_post"]]


def range_rows(told: Facts, ids: dict[str, int]) -> list[Row]:
    rows = [
        (ids[store], code, entry.get("place", "shelf"))
        for entry in told["range"]
        for code in entry["products"]
        for store in (ids if entry["stores"] == "all" else entry["stores"])
        if store not in entry.get("without", ())
    ]
    return sorted(rows)


def staffing_rows(told: Facts, ids: dict[str, int]) -> list[Row]:
    return [
        (ids[store], f"2024-{month:02d}", *map(int, figures.split("/")))
        for store, row in told["staffing"].items()
        if store != "source"
        for month, figures in enumerate(row, 1)
    ]


_ORDER_DATES = ("ready_since", "held_until", "left_on", "promised", "finished")


def order_rows(told: Facts, ids: dict[str, int], prices: dict[str, int]) -> tuple[list[Row], list[Row]]:
    """The orders of the documents, and a line for each whose article they name. Their day of purchase is not told."""
    orders: list[Row] = [
        (
            *(row["id"], None, ids[row["store"]] if "store" in row else None, row.get("carrier"), row["status"]),
            *(row.get(key) for key in _ORDER_DATES),
        )
        for row in told["order"]
    ]
    lines: list[Row] = [
        (row["id"], 1, row["product"], 1, prices[row["product"]]) for row in told["order"] if "product" in row
    ]
    return orders, lines


def return_rows(told: Facts) -> list[Row]:
    return [
        (row["id"], None, row["product"], None, row["reason"], row["outcome"], row.get("refunded_on"), 0)
        for row in told["return"]
    ]
