"""Reading what a model wrote when it was asked for JSON or for a number.

Models wrap JSON in fences and prose, send two objects where one was asked for, or are cut off in the middle.
A greedy ``{.*}`` spans two objects and their prose; here the standard decoder starts at every brace and so
takes balanced values only. Scores come as 85, "85.5", "85%", "8/10". What this module leaves out: repair of
single quotes and of missing commas, where a guess could change the meaning.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from ragkit.text import count_tokens

_TRAILING_COMMA = re.compile(r",\s*([}\]])")
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
_FRACTION = re.compile(r"^\s*(?:/|out of)\s*(\d+(?:\.\d+)?)", re.IGNORECASE)


def json_objects(text: str) -> list[dict[str, Any]]:
    """Every complete JSON object in ``text``, in order, outermost first; prose and fences are skipped.

    Of an object that was cut off, its complete inner objects are returned, so the points or records that
    arrived whole are not lost with the last one. A comma before a closing bracket is forgiven.

    >>> json_objects('Sure: {"a": 1} and {"b": {"c": 2}}')
    [{'a': 1}, {'b': {'c': 2}}]
    >>> json_objects('{"points": [{"score": 3}, {"sco')
    [{'score': 3}]
    """
    found = _decode(text)
    if found:
        return found
    return _decode(_TRAILING_COMMA.sub(r"\1", text))


def _decode(text: str) -> list[dict[str, Any]]:
    decoder = json.JSONDecoder(strict=False)  # raw newlines inside a string are a common slip, and harmless
    found: list[dict[str, Any]] = []
    at = text.find("{")
    while at != -1:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            end = at + 1
        except RecursionError:  # a thousand levels: no reply, and trying each of them would take quadratic time
            break
        else:
            found.append(value)
        at = text.find("{", end)
    return found


def read_number(value: object) -> float | None:
    """A finite number from what a model gave for one; None where there is none.

    >>> read_number("Strength: 8"), read_number("7.5)"), read_number("high"), read_number(True)
    (8.0, 7.5, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value) if math.isfinite(value) else None
    match = _NUMBER.search(str(value))
    if match is None:
        return None
    number = float(match.group())
    return number if math.isfinite(number) else None


def read_score(value: object, scale: float = 100.0) -> float | None:
    """A score from 0 to ``scale``, clamped; None where there is no number.

    A fraction says its own scale ("8/10" is 80 of 100) and a percentage too. A bare number is taken on the
    scale that was asked for: 0.85 of 100 stays 0.85, because a low score and a wrong scale look alike.

    >>> read_score("85.5"), read_score("85%"), read_score("8/10"), read_score(130), read_score("n/a")
    (85.5, 85.0, 80.0, 100.0, None)
    """
    number = read_number(value)
    if number is None:
        return None
    if isinstance(value, str):
        match = _NUMBER.search(value)
        rest = value[match.end() :] if match else ""
        fraction = _FRACTION.match(rest)
        if fraction and float(fraction.group(1)) > 0:
            number *= scale / float(fraction.group(1))
        elif rest.lstrip().startswith("%"):
            number *= scale / 100.0
    return min(max(number, 0.0), scale)


def cut_to_tokens(text: str, budget: int) -> str:
    """The longest run of whole lines and words from the start of ``text`` within ``budget`` tokens.

    >>> cut_to_tokens("one two three", 2)
    'one two'
    """
    if count_tokens(text) <= budget:
        return text
    ends = [match.end() for match in re.finditer(r"\S+", text)]
    low, high = 0, len(ends)  # the first `low` words fit; bisection, because counting tokens is not free
    while high - low > 1:
        middle = (low + high) // 2
        if count_tokens(text[: ends[middle - 1]]) <= budget:
            low = middle
        else:
            high = middle
    return text[: ends[low - 1]] if low else ""
