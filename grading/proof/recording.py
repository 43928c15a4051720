"""Writes down the calls of a function, or of a class's methods, with what came of them, as Python texts.

A call is known by a hash of its name, its arguments as they were before it, and, for a method, of all the calls that
its object had seen.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Notes:
    """What came of each call, by its hash; and by a function's name what its first call gave."""

    seen: dict[str, str] = field(default_factory=dict)
    usual: dict[str, str] = field(default_factory=dict)

    def write(self, call: str, name: str, outcome: str) -> None:
        """Note one call. An exception is not usual, and None only where there is nothing else."""
        self.seen.setdefault(call, outcome)
        if self.usual.get(name, "None") == "None" and not outcome.startswith("fault("):
            self.usual[name] = outcome


def step(before: str, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """What a call is known by: `before` is what the one before it was known by, or ""."""
    return hashlib.sha256(f"{before} {name} {args!r} {kwargs!r}".encode()).hexdigest()[:16]


def watched(thing: Callable[..., Any], name: str, notes: Notes) -> Callable[..., Any]:
    """A function or class that does the same and has its calls written down."""
    if isinstance(thing, type):
        return _watched_class(thing, name, notes)

    @functools.wraps(thing)
    def call(*args: Any, **kwargs: Any) -> Any:
        key = step("", name, args, kwargs)
        return _noted(functools.partial(thing, *args, **kwargs), key, name, notes)

    return call


def public_methods(kind: type) -> list[str]:
    """The methods that a class defines for others to call."""
    return [name for name, thing in vars(kind).items() if callable(thing) and not name.startswith("_")]


def _watched_class(kind: type, name: str, notes: Notes) -> type:
    """A subclass; what its methods call of each other is not written down."""
    own = {method: getattr(kind, method) for method in ("__init__", *public_methods(kind))}

    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        self.__dict__.update(called=step("", name, args, kwargs), inside=True)
        own["__init__"](self, *args, **kwargs)
        self.__dict__.update(inside=False)

    def method(name: str) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            plain = functools.partial(own[name], self, *args, **kwargs)
            if self.inside:
                return plain()
            key = step(self.called, name, args, kwargs)
            self.__dict__.update(called=key, inside=True)
            try:
                return _noted(plain, key, name, notes)
            finally:
                self.__dict__.update(inside=False)

        return call

    return type(name, (kind,), {"__init__": begin, **{key: method(key) for key in own if key != "__init__"}})


def _noted(call: Callable[[], Any], key: str, name: str, notes: Notes) -> Any:
    """Make a call and write down what comes of it; what cannot be written as a text is left out."""
    try:
        value = call()
    except Exception as problem:
        notes.write(key, name, f"fault({type(problem).__name__})")
        raise
    with contextlib.suppress(ValueError):
        notes.write(key, name, literal(value))
    return value


def literal(value: Any) -> str:
    """Python that gives a value of plain data, a new one each time. Raises `ValueError` for any other value.

    >>> literal({"a": (1.5, [])}), literal(float("inf"))
    ("{'a': (1.5, [], )}", "float('inf')")
    """
    kind = type(value)
    if value is None or kind in (bool, int, str, bytes):
        return repr(value)
    if kind is float:
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        return f"({''.join(f'{literal(item)}, ' for item in value)})"
    if isinstance(value, set | frozenset):
        return f"{'set' if isinstance(value, set) else 'frozenset'}([{', '.join(map(literal, value))}])"
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return f"__import__('numpy').array({literal(value.tolist())}, dtype={str(value.dtype)!r})"
    raise ValueError(f"value: {kind.__name__} is no plain data")
