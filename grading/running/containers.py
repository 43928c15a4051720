"""The built-in mutable containers as plain data: the part of the codec for lists, dicts and sets.

Contents are read and written by the base type's own methods: nothing that a student's subclass overrides is called.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

SHELLS: dict[str, type[Any]] = {"l": list, "d": dict, "s": set}
Snapshot = list[Any] | bytes


def contents(value: Any, pack_all: Callable[[Iterable[Any]], list[Any]]) -> list[Any]:
    """[kind, items] of a container, items in wire form."""
    if isinstance(value, list):
        return ["l", pack_all(list.__iter__(value))]
    if isinstance(value, dict):
        return ["d", list(map(pack_all, dict.items(value)))]
    return ["s", pack_all(set.__iter__(value))]


def fill(value: Any, kind: str, items: list[Any], unpack_all: Callable[[Any], list[Any]]) -> None:
    """Give a container new contents in place."""
    if kind == "l":
        list.__setitem__(value, slice(None), unpack_all(items))
    elif kind == "d":
        pairs = [(key, item) for key, item in map(unpack_all, items)]
        dict.clear(value)
        dict.update(value, pairs)
    else:
        members = unpack_all(items)
        set.clear(value)
        set.update(value, members)


def snapshot(value: Any) -> list[Any]:
    """What to compare with later: the very items, for each is compared by itself."""
    if isinstance(value, dict):
        return [part for pair in dict.items(value) for part in pair]
    return list(list.__iter__(value)) if isinstance(value, list) else list(set.__iter__(value))


def same(one: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots are the same, items by identity: no method of a student's object is called."""
    if isinstance(one, bytes) or isinstance(other, bytes):
        return one == other
    return len(one) == len(other) and all(map(operator.is_, one, other))
