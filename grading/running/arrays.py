"""numpy's part of the codec: arrays and scalars as plain data, views that stay views.

numpy is imported only when an array arrives, so a student's process that never sees one starts without it. An array of
objects travels item by item, never as its buffer: that would hold addresses.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Mapping
from typing import Any


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
    """The scalar of `pack_scalar`."""
    import numpy as np

    return np.frombuffer(base64.b64decode(body[1]), dtype=plain_dtype(body[0]))[0]


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
    """An array from the rest of its `contents`; for the kind "v" a view into a known one."""
    import numpy as np

    if kind == "o":
        made = np.empty(int(np.prod(body[0])), dtype=object)
        made[:] = [unpack(item) for item in body[1]]
        return made.reshape(body[0])
    if kind == "v":
        number, strides, offset, dtype, shape, data, writeable = body
        base: Any = known.get(number)
        if is_array(base) and base.flags.c_contiguous:
            try:
                return np.ndarray(shape, plain_dtype(dtype), base.data, offset, strides)
            except (ValueError, TypeError):
                pass  # the layouts differ here: a copy is the best there is
    else:
        dtype, shape, data, writeable = body
    array = np.frombuffer(base64.b64decode(data), dtype=plain_dtype(dtype)).reshape(shape).copy()
    array.flags.writeable = writeable
    return array


def refill(value: Any, fresh: Any) -> None:
    """Give an array the contents of another in place, where it may be written and has the shape."""
    if is_array(value) and value.shape == fresh.shape and value.flags.writeable:
        value[...] = fresh


def plain_dtype(name: str) -> Any:
    """The dtype of a name. Raises `ValueError` for one that holds objects."""
    import numpy as np

    dtype = np.dtype(name)
    if dtype.hasobject:
        raise ValueError(f"dtype: {name!r} holds objects, and object arrays travel item by item")
    return dtype
