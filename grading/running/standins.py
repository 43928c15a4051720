"""Stand-ins for a student's functions, classes and objects: what a test calls instead of them.

A stand-in compares by identity, so an object that claims to equal everything arrives as one that equals nothing.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
from collections.abc import Iterator
from typing import Any, Protocol

from grading.running.channel import StudentStopped


class Asker(Protocol):
    """What a stand-in needs of the session it belongs to."""

    def ask(self, op: str, target: Handle, *args: Any, **kwargs: Any) -> Any:
        """Perform an operation on the student's side."""


class Handle:
    """Base of the stand-ins. Attributes are fetched from the student's object; dunder names are not."""

    _session: Asker
    _about: dict[str, Any]

    def __init__(self, session: Asker, about: dict[str, Any]) -> None:
        object.__setattr__(self, "_session", session)
        object.__setattr__(self, "_about", about)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if name in self._about.get("methods", ()):  # saves a round trip at every call of a method
            return functools.partial(self._session.ask, "method", self, name)
        return self._session.ask("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._session.ask("setattr", self, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._session.ask("call", self, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<{self._about['kind']} {self._about['name']} of the answer>"


class Function(Handle):
    """A function, or anything else that can be called."""

    def __init__(self, session: Asker, about: dict[str, Any]) -> None:
        super().__init__(session, about)
        object.__setattr__(self, "__name__", about["name"])
        object.__setattr__(self, "__qualname__", about["name"])
        object.__setattr__(self, "__doc__", about.get("doc"))
        if "parameters" in about:
            with contextlib.suppress(ValueError):
                object.__setattr__(self, "__signature__", _signature(about))


class Class(Handle):
    """A class: calling it makes an instance over there; `isinstance` works."""

    def __init__(self, session: Asker, about: dict[str, Any]) -> None:
        super().__init__(session, about)
        object.__setattr__(self, "__name__", about["name"])

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, Handle) and bool(self._session.ask("isinstance", self, instance))


class Instance(Handle):
    """An object that is no plain data: an instance of a student's class, a generator, a tensor."""

    def __len__(self) -> int:
        return int(self._session.ask("len", self))

    def __bool__(self) -> bool:
        return bool(self._session.ask("bool", self))

    def __getitem__(self, key: Any) -> Any:
        return self._session.ask("getitem", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._session.ask("setitem", self, key, value)

    def __contains__(self, item: Any) -> bool:
        return bool(self._session.ask("contains", self, item))

    def __iter__(self) -> Iterator[Any]:
        steps = self._session.ask("iter", self)
        while True:
            try:
                yield self._session.ask("next", steps)
            except StopIteration:
                return


def stand_in(session: Asker, about: dict[str, Any]) -> Handle:
    """The stand-in for what the student's process describes."""
    kinds: dict[str, type[Handle]] = {"function": Function, "class": Class}
    return kinds.get(about["kind"], Instance)(session, about)


def exception_from(error: dict[str, Any]) -> BaseException:
    """The exception to raise in a test for one of the student's: its nearest built-in ancestor."""
    family = error["family"]
    if "SystemExit" in family or "KeyboardInterrupt" in family or "GeneratorExit" in family:
        return StudentStopped("crash", "it called exit()")
    for name in family:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            with contextlib.suppress(Exception):  # some want other arguments: their base will do
                return kind(str(error["argument"]))
    return RuntimeError(str(error["argument"]))


def _signature(about: dict[str, Any]) -> inspect.Signature:
    """The signature that a function was described with; every default is shown as `...`."""
    positional, parameters = about["positional"], []
    for index, name in enumerate(about["parameters"]):
        early = index < positional
        optional = index >= positional - about["defaults"] if early else name in about["keyword_defaults"]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if early else inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, kind, default=... if optional else inspect.Parameter.empty))
    return inspect.Signature(parameters)
