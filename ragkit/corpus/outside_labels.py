"""Reading ``outside.toml``: what the outside collection answers, nearly answers, and gets wrong.

``[[answer]]`` tables hold ``question``, ``passages``, ``answer`` and ``aliases``, ``[[near_miss]]`` tables
``question``, ``passages`` and ``about``, ``[[wrong]]`` tables ``passage`` and ``about``. Whether the ids exist is the
checker's business.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ragkit.corpus.records import NearMiss, OutsideAnswer, OutsideLabels

_KEYS: dict[str, dict[str, type]] = {
    "answer": {"question": str, "passages": list, "answer": str, "aliases": list},
    "near_miss": {"question": str, "passages": list, "about": str},
    "wrong": {"passage": str, "about": str},
}


def read_outside_labels(path: Path) -> OutsideLabels:
    """The labels; whatever does not fit is a ``ValueError`` that names the file and the table."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name}: is no TOML: {error}") from None
    if extra := sorted(set(table) - set(_KEYS)):
        raise ValueError(f"{path.name}: holds unknown tables or keys: {', '.join(extra)}")
    return OutsideLabels(
        answers=_once(
            path,
            (
                (row["question"], OutsideAnswer(row["answer"], tuple(row["aliases"]), tuple(row["passages"])))
                for row in _rows(path, table, "answer")
            ),
        ),
        near_misses=tuple(
            NearMiss(row["question"], tuple(row["passages"]), row["about"]) for row in _rows(path, table, "near_miss")
        ),
        wrong=_once(path, ((row["passage"], row["about"]) for row in _rows(path, table, "wrong"))),
    )


def _rows(path: Path, table: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """The tables of one name, their keys and types checked."""
    rows = table.get(name, [])
    if not isinstance(rows, list):
        raise ValueError(f"{path.name}: must hold [[{name}]] tables")
    fits: dict[type, Callable[[Any], bool]] = {str: _is_filled, list: _is_strings}
    for number, row in enumerate(rows, start=1):
        where = f"{path.name}: [[{name}]] number {number}"
        if set(row) != set(_KEYS[name]):
            raise ValueError(f"{where} must have the keys {', '.join(_KEYS[name])}, has {', '.join(row)}")
        for key, shape in _KEYS[name].items():
            if not fits[shape](row[key]):
                raise ValueError(f"{where}: {key} must be a {'list of strings' if shape is list else 'string'}")
        yield row


def _once(path: Path, pairs: Iterator[tuple[str, Any]]) -> dict[str, Any]:
    """A dictionary of pairs whose first parts all differ."""
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out:
            raise ValueError(f"{path.name}: labels {key!r} a second time")
        out[key] = value
    return out


def _is_filled(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(_is_filled(item) for item in value)
