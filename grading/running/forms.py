"""Values that JSON has no word for and that never change, each as a dict of one short key: b"a" -> {"b": "YQ=="}."""

from __future__ import annotations

import base64
import builtins
from typing import Any

from grading.running import arrays
from grading.running.caps import big_int, short_range

Wire = Any  # what json.loads gives: None, bool, int, float, str, or a dict with one short key

BIG = 1 << 62  # whole numbers from here on travel as text


def pack(value: Any) -> Wire:
    """Wire form of such a value, or of a subclass of JSON's own as its base; None for what is none of them."""
    if value is Ellipsis:
        return {"e": 0}
    if isinstance(value, range):
        return {"g": [value.start, value.stop, value.step]}
    if type(value) is complex:
        return {"c": [value.real, value.imag]}
    if arrays.is_scalar(value):
        return {"n": arrays.pack_scalar(value)}
    if isinstance(value, bytes):
        return {"b": base64.b64encode(value).decode()}
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        number = int.__int__(value)
        return number if -BIG < number < BIG else {"i": hex(number)}
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, type) and vars(builtins).get(name := str(getattr(value, "__name__", ""))) is value:
        return {"y": name}
    return None


def unpack(key: str, body: Any) -> Any:
    """The value of such a form. Raises `ValueError` or `TypeError` for what is none, `TooMuchError` as `caps` does."""
    match key:
        case "i":
            return big_int(body)
        case "g":
            return short_range(body)
        case "b":
            return base64.b64decode(body)
        case "c":
            return complex(*body)
        case "e":
            return Ellipsis
        case "n":
            return arrays.unpack_scalar(body)
        case "y":
            found = getattr(builtins, body)
            if isinstance(found, type):
                return found
            raise ValueError(f"type: {body!r} is no built-in type")
    raise ValueError(f"unknown wire form {key!r}"[:100])
