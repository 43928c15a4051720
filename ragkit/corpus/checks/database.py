"""Promises of the database: its facts are those of the documents, ``differences(texts)``.

Each entry of ``database.toml`` names the passages it was read from. Tables are read from their rows, prose by the
sentence that the entry quotes. Nothing here is a judgement of meaning: a figure or a name that the passage does not
hold, or a store that the sentence names and the entry does not, is a line in the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from ragkit.corpus.checks.faults import Fault
from ragkit.corpus.database import ABSENT, facts
from ragkit.corpus.records import Corpus

__all__ = ["database_faults", "differences"]


def database_faults(corpus: Corpus) -> Iterator[Fault]:
    """A fault for each difference; a folder without a database has none."""
    if (corpus.root / "database").is_dir():
        for line in differences({passage.id: passage.text for passage in corpus.passages}):
            yield Fault("database", "database.toml", line)


def differences(texts: Mapping[str, str]) -> list[str]:
    """One line for each fact that the passages (id to text) do not bear out; ``[]`` means that all agree."""
    told = facts()
    sources = set(_sources(told))
    if missing := sorted(sources - set(texts)):
        return [f"source names no passage: {name}" for name in missing]
    return [
        *_staffing(told, texts),
        *_stores(told, texts),
        *_prices(told, texts),
        *_quotes(told, texts),
        *_suppliers(told, texts),
        *_orders(told, texts),
        *(f"{name} speaks of {ABSENT}, which must not exist" for name, text in texts.items() if ABSENT in text),
    ]


def _sources(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ([inner] if isinstance(inner, str) else inner) if key == "source" else _sources(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _sources(inner)


def _rows(text: str) -> list[list[str]]:
    """The cells of the lines of a Markdown table.

    >>> _rows("| a | b |\\n|---|---|\\n| 1 | 2 |")
    [['a', 'b'], ['1', '2']]
    """
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if "|" in line]
    return [row for row in rows if not set("".join(row)) <= set("-:")]


def _staffing(told: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for name in told["staffing"]["source"]:
        for store, *figures in _rows(texts[name])[1:]:
            found.setdefault(store, []).extend(figures)
    mine = {store: row for store, row in told["staffing"].items() if store != "source"}
    for store in sorted(found.keys() | mine.keys()):
        if found.get(store) != mine.get(store):
            yield f"staffing of {store}: {mine.get(store)} here, {found.get(store)} in the documents"


def _stores(told: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[str]:
    found: dict[str, tuple[object, ...]] = {}
    for name in told["stores"]["source"]:
        head, *rows = _rows(texts[name])
        for row in rows:
            cells = dict(zip(head, row, strict=True))
            area = int(cells["floor area"].removesuffix(" sq m"))
            town = cells.get("town", name.rpartition("/")[2].capitalize())
            found[cells["store"]] = (town, int(cells["opened"]), area, cells["Sunday"])
    for row in told["stores"]["rows"]:
        hours = " to ".join(str(hour - 12 if hour > 12 else hour) for hour in row["sunday"]) or "closed"
        mine = (row["town"], row["opened"], row["floor_area"], hours)
        if found.get(row["name"]) != mine:
            yield f"{row['name']}: {mine} here, {found.get(row['name'])} in the documents"


def _prices(told: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[str]:
    for part in ("articles", "parts"):
        found = {
            code: price for codes, _, price in _rows(texts[told[part]["source"]])[1:] for code in codes.split(", ")
        }
        mine = {code: f"£{row[2]}" for code, row in told[part].items() if code != "source"}
        for code in sorted(found.keys() | mine.keys()):
            if found.get(code) != mine.get(code):
                yield f"price of {code}: {mine.get(code)} here, {found.get(code)} in {told[part]['source']}"
    for row in told["by_post"]:
        if not {f"£{row['price']}", "by post only"} <= set(re.findall(r"£\d+|by post only", texts[row["source"]])):
            yield f"{row['code']}: {row['source']} does not say £{row['price']}, by post only"


def _quotes(told: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[str]:
    """The sentences on who sells what: quoted as they stand, and naming the stores that the entry names."""
    names = [row["name"] for row in told["stores"]["rows"]]
    for entry in (*told["range"], told["repair_desk"], told["second_turn"]):
        if entry["quote"] not in texts[entry["source"]]:
            yield f"{entry['source']} does not say {entry['quote']!r}"
        named = {name for name in names if name in entry["quote"]}
        wanted = set(entry.get("without", ())) if entry["stores"] == "all" else set(entry["stores"])
        if named != wanted:
            yield f"{entry['quote']!r} names {sorted(named)}, the entry {sorted(wanted)}"


def _suppliers(told: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[str]:
    for row in told["supplier"]:
        for name in row["source"]:
            if row["name"] not in texts[name]:
                yield f"{name} does not name {row['name']}"


def _orders(told: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[str]:
    """Each order and return stands in its passages, with its store, article, carrier and dates; no other is told of."""
    for row in (*told["order"], *told["return"]):
        text = " ".join(texts[name] for name in row["source"])
        for key in ("id", "store", "product", "carrier"):
            # the notes say "radio" where the list says WR-12
            if key in row and row[key] not in text and (row[key] != "WR-12" or "radio" not in text):
                yield f"{row['id']}: {row[key]} is not in {row['source']}"
        for key in ("ready_since", "held_until", "left_on", "promised", "finished", "refunded_on"):
            if key in row and not _says(text, date.fromisoformat(row[key])):
                yield f"{row['id']}: {key} {row[key]} is not in {row['source']}"
    mine = {row["id"] for row in told["order"]}
    for name, text in texts.items():
        for code in sorted(set(re.findall(r"ORD-\d{6}", text)) - mine):
            yield f"{name} tells of {code}, which the database lacks"


def _says(text: str, day: date) -> bool:
    """Whether a text gives the day: "12 June", "12 Jun", or "the 12th" and "21st".

    >>> _says("fetched on the 21st.", date(2024, 6, 21)), _says("16 Oct", date(2024, 10, 6))
    (True, False)
    """
    return bool(re.search(rf"\b{day.day}(?: {_MONTHS[day.month - 1][:3]}|st|nd|rd|th)", text))


_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
