"""Stand-ins for a student's functions, classes and objects: what a test calls instead of them.

What a student's object says of itself is the student's word. It counts where the exercise asks for a class and the test
made the object by calling it, or has checked with `isinstance` that it is of it. Any other object that comes back is
taken for what it holds: whether something is in it, and how much, is decided here on its items, fetched one by one; its
truth where it has no items is an error. A stand-in compares by identity, so an object that claims to equal everything
arrives as one that equals nothing. `__array__`, `<` and their like are not passed on.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterator
from typing import Any, Protocol

from grading.running.caps import MAX_FETCHED
from grading.running.descriptions import NO_DATA, description, length_of, signature


class Asker(Protocol):
    """What a stand-in needs of the session it belongs to."""

    def ask(self, op: str, target: Handle, *args: Any, **kwargs: Any) -> Any:
        """Perform an operation on the student's side."""


class Handle:
    """Base of the stand-ins. Attributes are fetched from the student's object; dunder names are not."""

    _session: Asker
    _about: dict[str, Any]
    _asked: bool  # whether the exercise asks for it, so that its own word counts

    def __init__(self, session: Asker, about: dict[str, Any]) -> None:
        object.__setattr__(self, "_session", session)
        object.__setattr__(self, "_about", about)
        object.__setattr__(self, "_asked", False)

    def asked_for(self) -> None:
        """Let it speak for itself."""
        object.__setattr__(self, "_asked", True)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if name in self._about["methods"]:  # saves a round trip at every call of a method
            return functools.partial(self._session.ask, "method", self, name)
        return self._session.ask("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._session.ask("setattr", self, name, value)

    def __bool__(self) -> bool:
        if not self._asked:
            raise TypeError(NO_DATA)
        return True

    def __repr__(self) -> str:
        return f"<{self._about['kind']} {self._about['name']} of the answer>"


class Function(Handle):
    """A function, or anything else that can be called."""

    def __init__(self, session: Asker, about: dict[str, Any]) -> None:
        super().__init__(session, about)
        object.__setattr__(self, "__name__", about["name"])
        object.__setattr__(self, "__qualname__", about["name"])
        object.__setattr__(self, "__doc__", about["doc"])
        if about["parameters"] is not None:
            with contextlib.suppress(ValueError):
                object.__setattr__(self, "__signature__", signature(about))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._session.ask("call", self, *args, **kwargs)


class Class(Handle):
    """A class: calling it makes an instance over there; `isinstance` works."""

    def __init__(self, session: Asker, about: dict[str, Any]) -> None:
        super().__init__(session, about)
        object.__setattr__(self, "__name__", about["name"])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._vouch(self._session.ask("call", self, *args, **kwargs))

    def __instancecheck__(self, instance: Any) -> bool:
        if not isinstance(instance, Handle) or self._session.ask("isinstance", self, instance) is not True:
            return False
        self._vouch(instance)
        return True

    def _vouch(self, made: Any) -> Any:
        if self._asked and isinstance(made, Handle):
            made.asked_for()
        return made


class Instance(Handle):
    """An object that is no plain data: an instance of a student's class, a generator, a tensor."""

    def __len__(self) -> int:
        length = self._session.ask("len", self)  # raises what the object's own `len` would
        return length_of(length) if self._asked else len(self._items())

    def __bool__(self) -> bool:
        if self._asked:
            return self._session.ask("bool", self) is True
        try:
            return len(self) > 0
        except TypeError:
            raise TypeError(NO_DATA) from None

    def __getitem__(self, key: Any) -> Any:
        return self._session.ask("getitem", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._session.ask("setitem", self, key, value)

    def __contains__(self, item: Any) -> bool:
        if self._asked:
            return self._session.ask("contains", self, item) is True
        return any(one is item or one == item for one in self._items())

    def __iter__(self) -> Iterator[Any]:
        steps = self._session.ask("iter", self)
        while True:
            try:
                yield self._session.ask("next", steps)
            except StopIteration:
                return

    def _items(self) -> list[Any]:
        """What it holds. Raises `TypeError` where it holds nothing that can be fetched, or no end of it."""
        try:
            items = list(itertools.islice(iter(self), MAX_FETCHED + 1))
        except TypeError:
            raise TypeError(NO_DATA) from None
        if len(items) > MAX_FETCHED:
            raise TypeError(NO_DATA)
        return items


def stand_in(session: Asker, about: dict[str, Any]) -> Handle:
    """The stand-in for what the student's process describes."""
    kinds: dict[str, type[Handle]] = {"function": Function, "class": Class}
    known = description(about)
    return kinds.get(known["kind"], Instance)(session, known)
