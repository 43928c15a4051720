"""What the student's process says of its functions, classes, objects and exceptions: believed in no field.

Everything here raises `ValueError`, `TypeError` or `KeyError` for what is no description.
"""

from __future__ import annotations

import builtins
import contextlib
import inspect
from typing import Any

from grading.running.stops import StudentStopped

NO_DATA = "the answer gave back an object of its own kind where plain data was wanted"
MAX_NAME = 200
MAX_TEXTS = 1_000


def exception_from(error: dict[str, Any]) -> BaseException:
    """The exception to raise in a test for one of the student's: its nearest built-in ancestor."""
    family = _texts(error["family"])
    if "SystemExit" in family or "KeyboardInterrupt" in family or "GeneratorExit" in family:
        return StudentStopped("crash", "it called exit()")
    for name in family:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            with contextlib.suppress(Exception):  # some want other arguments: their base will do
                return kind(str(error["argument"]))
    return RuntimeError(str(error["argument"]))


def description(about: dict[str, Any]) -> dict[str, Any]:
    """A description with every field of the type it should have. Raises `ValueError` or `TypeError`."""
    described = "parameters" in about
    return {
        "kind": {"function": "function", "class": "class", "module": "module"}.get(str(about["kind"]), "object"),
        "name": str(about["name"])[:MAX_NAME],
        "doc": about["doc"] if isinstance(about.get("doc"), str) else None,
        "methods": frozenset(_texts(about.get("methods", []))),
        "parameters": _texts(about["parameters"]) if described else None,
        "positional": length_of(about["positional"]) if described else 0,
        "defaults": length_of(about["defaults"]) if described else 0,
        "keyword_defaults": _texts(about["keyword_defaults"]) if described else [],
    }


def _texts(value: Any) -> list[str]:
    """A list of texts that is not long."""
    if not isinstance(value, list) or len(value) > MAX_TEXTS or not all(isinstance(one, str) for one in value):
        raise ValueError("no list of a few texts")
    return value


def length_of(value: Any) -> int:
    """A whole number from 0 that an index can hold."""
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise TypeError(NO_DATA)
    return value


def signature(about: dict[str, Any]) -> inspect.Signature:
    """The signature that a function was described with; every default is shown as `...`."""
    positional, parameters = about["positional"], []
    for index, name in enumerate(about["parameters"]):
        early = index < positional
        optional = index >= positional - about["defaults"] if early else name in about["keyword_defaults"]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if early else inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, kind, default=... if optional else inspect.Parameter.empty))
    return inspect.Signature(parameters)
