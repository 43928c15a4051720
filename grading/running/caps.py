"""How much may arrive from the student's process: counted before anything is allocated for it.

What arrives is small on the wire and may be large for whoever puts it together: a shape of a billion numbers, a whole
number of a million digits, a range without an end. Everything here raises `TooMuchError`, or `ValueError` for what no
honest process sends.
"""

from __future__ import annotations

import re
from typing import Any

MAX_OBJECTS = 1 << 20  # containers and arrays that one table holds
MAX_HANDLES = 1 << 14  # functions, classes and instances that one table knows
MAX_DEPTH = 200  # tuples in tuples; containers travel by number and may be nested as deep as they like
MAX_HEX = 1 << 16  # digits of a whole number, in base 16
MAX_ITEMS = 1 << 24  # items of an array, of a range
MAX_PARTS = 1 << 22  # brackets and commas of a message
MAX_DIMENSIONS = 32
MAX_FETCHED = 100_000  # items that are fetched one by one from an object of the answer's own kind
PLAIN_DTYPE = re.compile(r"[<>|=]([biufc]\d{1,2}|[SU]\d{1,7}|[mM]8(\[\d{0,6}[a-zA-Z]{1,2}\])?)")
TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"')


class TooMuchError(ValueError):
    """More has arrived than a test can take."""


def whole(value: Any) -> int:
    """A whole number that is one, and not `True` or 3.0. Raises `ValueError`."""
    if type(value) is not int:
        raise ValueError(f"number: {value!r} is no whole number"[:100])
    return value


def count(shape: Any) -> int:
    """How many items an array of a shape has: [2, 3] -> 6. Raises `ValueError`, or `TooMuchError`."""
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS:
        raise ValueError("shape: no list of a few sizes")
    items = 1
    for size in shape:
        if not 0 <= whole(size) <= MAX_ITEMS:
            raise TooMuchError("shape: a size beyond what a test can take")
        items *= size
        if items > MAX_ITEMS:
            raise TooMuchError("shape: more items than a test can take")
    return items


def big_int(digits: Any) -> int:
    """A whole number from its digits in base 16. Raises `ValueError`, or `TooMuchError`."""
    if not isinstance(digits, str):
        raise ValueError("int: no text")
    if len(digits) > MAX_HEX:
        raise TooMuchError("int: more digits than a test can take")
    return int(digits, 16)


def short_range(body: Any) -> range:
    """A range from its start, stop and step. Raises `ValueError`, or `TooMuchError`."""
    start, stop, step = map(whole, body)
    made = range(start, stop, step)
    if made and (made[-1] - made[0]) // step >= MAX_ITEMS:
        raise TooMuchError("range: more items than a test can take")
    return made


def check_parts(data: bytes) -> None:
    """Refuse a JSON text of more brackets and commas than a test can take: each may cost a hundred bytes once it is
    read. Those inside texts are no such parts."""
    if len(data) > MAX_PARTS and _parts(data) > MAX_PARTS and _parts(TEXTS.sub(b"", data)) > MAX_PARTS:
        raise TooMuchError("message: more parts than a test can take")


def _parts(data: bytes) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")
