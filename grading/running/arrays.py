"""numpy's part of the codec: arrays and scalars as plain data, views that stay views.

numpy is imported only when an array arrives, so a student's process that never sees one starts without it. An array of
objects travels item by item, never as its buffer: that would hold addresses. A shape is believed only where as many
bytes or items have arrived as it asks for, so a few letters never become a billion numbers.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Mapping
from typing import Any

from grading.running.caps import PLAIN_DTYPE, count, whole


def is_array(value: Any) -> bool:
    """Whether a value is an array that can travel (arrays with named fields cannot)."""
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.names is None


def is_scalar(value: Any) -> bool:
    """Whether a value is one of numpy's own numbers or texts."""
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic) and not value.dtype.hasobject


def pack_scalar(value: Any) -> list[str]:
    """[dtype, bytes] of one of numpy's scalars."""
    return [value.dtype.str, base64.b64encode(value.tobytes()).decode()]


def unpack_scalar(body: list[str]) -> Any:
    """The scalar of `pack_scalar`. Raises `ValueError` for bytes that are not one of its type."""
    import numpy as np

    dtype, data = plain_dtype(body[0]), base64.b64decode(body[1])
    if len(data) != dtype.itemsize:
        raise ValueError("scalar: the bytes are not those of one number")
    return np.frombuffer(data, dtype)[0] if data else dtype.type()


def contents(value: Any, pack: Callable[[Any], Any]) -> list[Any]:
    """[kind, ...] of an array: "o" with its items, or "a" with dtype, shape, bytes and whether it may be written."""
    if value.dtype.hasobject:
        return ["o", list(value.shape), [pack(item) for item in value.ravel().tolist()]]
    data = base64.b64encode(value.tobytes()).decode()
    return ["a", value.dtype.str, list(value.shape), data, bool(value.flags.writeable)]


def snapshot(value: Any) -> list[Any] | bytes:
    """What to compare with later, to see whether an array has changed."""
    return list(value.ravel().tolist()) if value.dtype.hasobject else bytes(value.tobytes())


def place_in_known(value: Any, numbers: Mapping[int, int]) -> list[Any] | None:
    """[number, strides, offset] of a known array whose memory this one looks into, if any; `numbers` is by `id`."""
    base = value.base
    while base is not None and is_array(base):
        number = numbers.get(id(base))
        if number is not None:
            start = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            return [number, list(value.strides), start]
        base = base.base
    return None


def make(kind: str, body: list[Any], known: Mapping[int, Any], unpack: Callable[[Any], Any]) -> Any:
    """An array from the rest of its `contents`; for the kind "v" a view into a known one.

    Raises `ValueError` where shape, type and data do not belong together, `TooMuchError` for a shape beyond the caps.
    """
    import numpy as np

    if kind == "o":
        shape, items = body
        if count(shape) != len(items):
            raise ValueError("shape: not that of the items")
        made = np.empty(len(items), dtype=object)
        for index, item in enumerate(items):  # one by one: an assignment at once would take sequences apart
            made[index] = unpack(item)
        return made.reshape(shape)
    if kind not in ("a", "v"):
        raise ValueError(f"kind: {kind!r} is none"[:100])
    *place, name, shape, text, writeable = body
    dtype, data = plain_dtype(name), base64.b64decode(text)
    if count(shape) * dtype.itemsize != len(data):
        raise ValueError("shape: not that of the bytes")
    if kind == "v":
        number, strides, offset = place
        base: Any = known.get(number)
        if is_array(base) and not base.dtype.hasobject and base.flags.c_contiguous:
            try:
                return np.ndarray(shape, dtype, base.data, whole(offset), list(map(whole, strides)))
            except (ValueError, TypeError):
                pass  # the layouts differ here: a copy is the best there is
    array = np.frombuffer(data, dtype).reshape(shape).copy() if data else np.zeros(shape, dtype)
    array.flags.writeable = bool(writeable)
    return array


def refill(value: Any, fresh: Any) -> None:
    """Give an array the contents of another in place, where it may be written and has the shape."""
    if is_array(value) and value.shape == fresh.shape and value.flags.writeable:
        value[...] = fresh


def plain_dtype(name: str) -> Any:
    """The dtype of a name: numbers, truth values, times and texts. Raises `ValueError` for any other, one that holds
    objects among them."""
    import numpy as np

    if isinstance(name, str) and name.startswith("|O"):
        raise ValueError(f"dtype: {name!r} holds objects, and object arrays travel item by item"[:100])
    if not isinstance(name, str) or not PLAIN_DTYPE.fullmatch(name):
        raise ValueError(f"dtype: {name!r} is no plain one"[:100])
    try:
        return np.dtype(name)
    except TypeError:
        raise ValueError(f"dtype: {name!r} is none"[:100]) from None
