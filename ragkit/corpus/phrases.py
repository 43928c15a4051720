"""What customers of Larkfield Goods write in support tickets, by theme; ``tickets.py`` puts the pieces together.

The pieces themselves are in ``phrases.toml``. ``[a|b]`` is a choice, ``{name}`` a blank: ``{thing}`` the product in a
customer's words, ``{order}`` an order code, ``{bought}`` the day of purchase, ``{store}`` a store. No phrase holds the
label of its theme, and several phrasings of one theme share no word, so counting complaints takes reading, or an
embedding. Every piece of a theme fits every other.

The generator draws from these tuples by position, so their order is part of a seed's meaning.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple


class Theme(NamedTuple):
    """One kind of complaint: its label and share in per cent, what it is about, first and second sentences.

    ``kind`` decides which surroundings fit: ``goods`` (something is broken), ``order``, ``queue`` or ``app``.
    """

    label: str
    percent: int
    kind: str
    products: tuple[str, ...]
    complaints: tuple[str, ...]
    details: tuple[str, ...]


def _read() -> dict[str, Any]:
    """The file, every list in it made a tuple."""
    raw = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    themes = tuple(Theme(**_tuples(row)) for row in raw.pop("theme"))
    return {name: _tuples(part) for name, part in raw.items()} | {"themes": themes}


def _tuples(table: dict[str, Any]) -> dict[str, Any]:
    """A table whose lists are tuples.

    >>> _tuples({"label": "limescale", "products": ["AK-170R"]})
    {'label': 'limescale', 'products': ('AK-170R',)}
    """
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


_FILE = _read()

PRODUCTS: dict[str, tuple[str, ...]] = _FILE["products"]
"""Product code to the ways in which customers name one of it."""

BUDS: tuple[str, ...] = _FILE["buds"]["names"]
"""The earbuds in the plural, for complaints about the buds themselves."""

STORES: dict[str, tuple[str, ...]] = _FILE["stores"]
"""Product code to the stores that sell it; for the app, every store. No ticket contradicts the range plan."""

THEMES: tuple[Theme, ...] = _FILE["themes"]
"""Every kind of complaint; the shares sum to 100."""

OPENINGS: tuple[str, ...] = _FILE["openings"]["any"]
"""First words, for every kind; an empty one stands for a customer who comes straight to the point."""

_where = _FILE["contexts"]
CONTEXTS: dict[str, tuple[str, ...]] = {
    "goods": _where["post"] + _where["counter"],
    "order": _where["post"],
    "queue": _where["queue"],
    "app": _where["app"],
}
"""Where the order code stands, by kind."""

_last = _FILE["closings"]
CLOSINGS: dict[str, tuple[str, ...]] = {
    "goods": _last["plain"] + _last["broken"],
    "order": _last["plain"],
    "queue": _last["plain"],
    "app": _last["plain"],
}
"""The last sentence, by kind."""

_talk = _FILE["extras"]
EXTRAS: dict[str, tuple[str, ...]] = {
    "goods": _talk["help"] + _talk["any"] + _talk["goods"] + _talk["staff"],
    "order": _talk["help"] + _talk["any"] + _talk["staff"],
    "queue": _talk["any"],
    "app": _talk["help"] + _talk["any"] + _talk["staff"],
}
"""Sentences about nothing in particular, by kind."""
