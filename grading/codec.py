"""Plain data between the process that judges and the process that runs a student's code.

Both sides keep a `Heap`: a table of the mutable objects (lists, dicts, sets, arrays) that have crossed, by number. A
message carries atoms by value and mutable objects by number, with the contents of the objects that are new or have
changed since the last message. Three things follow: a function that changes its argument is seen to have changed it; a
result that *is* an argument, or a view into it, arrives as that argument; and a container the student kept sees later
changes by the test. Everything that is no plain data (functions, classes, instances) stays where it is and travels as a
handle. Only JSON is read, never pickle, so the far side can send wrong data and nothing worse. numpy is imported only
when an array arrives.

Left out: sharing between two arrays sent as arguments, object arrays' identity, and cells of closures.
"""

from __future__ import annotations

import base64
import builtins
import operator
import sys
from collections.abc import Callable
from typing import Any

Wire = Any  # what json.loads gives: None, bool, int, float, str, or a dict with one short key
Update = list[Any]  # [number, kind, ...contents]

BIG = 1 << 62


class Heap:
    """One side's table of shared objects. `side` is 0 for the judge and 1 for the student; numbers never clash.

    `remote(description)` makes the local stand-in for an object that lives on the other side; `describe(value)` says
    what the other side should know about an object that stays here.
    """

    def __init__(
        self, side: int, remote: Callable[[dict[str, Any]], Any], describe: Callable[[Any], dict[str, Any]]
    ) -> None:
        self.remote, self.describe = remote, describe
        self.next = side
        self.objects: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}
        self.shots: dict[int, Any] = {}
        self.handles: dict[int, Any] = {}
        self.handle_numbers: dict[int, int] = {}
        self.stand_ins: dict[int, Any] = {}
        self.stand_in_numbers: dict[int, int] = {}
        self.pending: list[Update] = []
        self.dropped: list[int] = []

    def pack(self, value: Any) -> Wire:
        """Wire form of a value: (1, "a") -> {"t": [1, "a"]}."""
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if -BIG < value < BIG else {"i": hex(value)}
        if kind is float:
            return value
        if value is Ellipsis:
            return {"e": 0}
        if id(value) in self.stand_in_numbers:
            return {"own": self.stand_in_numbers[id(value)]}
        if isinstance(value, tuple):
            return {"t": [self.pack(item) for item in tuple.__iter__(value)]}
        if isinstance(value, frozenset):
            return {"f": [self.pack(item) for item in frozenset.__iter__(value)]}
        if isinstance(value, range):
            return {"g": [value.start, value.stop, value.step]}
        if kind is complex:
            return {"c": [value.real, value.imag]}
        numpy: Any = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.generic) and not value.dtype.hasobject:
            return {"n": [value.dtype.str, base64.b64encode(value.tobytes()).decode()]}
        if isinstance(value, bytes):
            return {"b": base64.b64encode(value).decode()}
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return self.pack(int.__int__(value))
        if isinstance(value, float):
            return float.__float__(value)
        if isinstance(value, type) and vars(builtins).get(kind_name := str(getattr(value, "__name__", ""))) is value:
            return {"y": kind_name}
        if isinstance(value, (list, dict, set)) or self._is_array(value):
            return {"r": self._number(value)}
        return {"h": self._handle(value)}

    def unpack(self, wire: Wire) -> Any:
        """The value of a wire form; mutable objects must have been brought by `apply` before."""
        if not isinstance(wire, dict):
            return wire
        ((key, body),) = wire.items()
        match key:
            case "r":
                return self.objects[body]
            case "t":
                return tuple(self.unpack(item) for item in body)
            case "f":
                return frozenset(self.unpack(item) for item in body)
            case "i":
                return int(body, 16)
            case "g":
                return range(*body)
            case "b":
                return base64.b64decode(body)
            case "c":
                return complex(*body)
            case "e":
                return Ellipsis
            case "n":
                import numpy as np

                return np.frombuffer(base64.b64decode(body[1]), dtype=_plain_dtype(body[0]))[0]
            case "y":
                found = getattr(builtins, body)
                if not isinstance(found, type):
                    raise ValueError("not a type")
                return found
            case "own":
                return self.handles[body]
            case "h":
                return self._stand_in(body)
        raise ValueError(f"unknown wire form {key!r}")

    def updates(self) -> list[Update]:
        """Every object that is new or has changed since the last message, in wire form."""
        new = {update[0] for update in self.pending}
        for number, value in list(self.objects.items()):
            if number not in new:
                shot = self._shot(value)
                if not _same(shot, self.shots[number]):
                    self.shots[number] = shot
                    self.pending.append([number, *self._contents(value)])
        sent, self.pending = self.pending, []
        return sent

    def apply(self, updates: list[Update]) -> None:
        """Take in the other side's new and changed objects: shells first, so that cycles close, then contents."""
        fresh: set[int] = set()
        for number, kind, *body in updates:
            if number not in self.objects:
                shell: Any = {"l": list, "d": dict, "s": set}[kind]() if kind in "lds" else self._new_array(kind, body)
                self._adopt(number, shell)
                fresh.add(number)
        for number, kind, *body in updates:
            value = self.objects[number]
            if kind == "l":
                list.__setitem__(value, slice(None), [self.unpack(item) for item in body[0]])
            elif kind == "d":
                pairs = [(self.unpack(key), self.unpack(item)) for key, item in body[0]]
                dict.clear(value)
                dict.update(value, pairs)
            elif kind == "s":
                items = [self.unpack(item) for item in body[0]]
                set.clear(value)
                set.update(value, items)
            elif number not in fresh:
                self._refill(value, kind, body)
        for number, *_ in updates:
            self.shots[number] = self._shot(self.objects[number])

    def prune(self) -> list[int]:
        """Forget objects that nobody here but this table holds (the other side is told their numbers)."""
        dropped = []
        for number in list(self.objects):
            value = self.objects[number]
            if sys.getrefcount(value) <= 3:  # the table, `value`, the argument
                dropped.append(number)
                self.forget(number)
        return dropped

    def forget(self, number: int) -> None:
        value = self.objects.pop(number, None)
        self.numbers.pop(id(value), None)
        self.shots.pop(number, None)

    def _take_number(self) -> int:
        self.next += 2
        return self.next

    def _adopt(self, number: int, value: Any) -> None:
        self.objects[number] = value
        self.numbers[id(value)] = number

    def _number(self, value: Any) -> int:
        known = self.numbers.get(id(value))
        if known is not None:
            return known
        number = self._take_number()
        shared = self._shared(value) if self._is_array(value) else None
        self._adopt(number, value)
        contents = self._contents(value)
        self.shots[number] = self._shot(value)
        self.pending.append([number, *(["v", *shared, *contents[1:]] if shared else contents)])
        return number

    def _contents(self, value: Any) -> list[Any]:
        if isinstance(value, list):
            return ["l", [self.pack(item) for item in list.__iter__(value)]]
        if isinstance(value, dict):
            return ["d", [[self.pack(key), self.pack(item)] for key, item in dict.items(value)]]
        if isinstance(value, set):
            return ["s", [self.pack(item) for item in set.__iter__(value)]]
        if value.dtype.hasobject:
            return ["o", list(value.shape), [self.pack(item) for item in value.ravel().tolist()]]
        data = base64.b64encode(value.tobytes()).decode()
        return ["a", value.dtype.str, list(value.shape), data, bool(value.flags.writeable)]

    def _shot(self, value: Any) -> list[Any] | bytes:
        """What to compare with later: a container's very items (each is compared itself), or an array's bytes."""
        if isinstance(value, list):
            return list(list.__iter__(value))
        if isinstance(value, dict):
            return [part for pair in dict.items(value) for part in pair]
        if isinstance(value, set):
            return list(set.__iter__(value))
        return list(value.ravel().tolist()) if value.dtype.hasobject else bytes(value.tobytes())

    def _handle(self, value: Any) -> dict[str, Any]:
        number = self.handle_numbers.get(id(value))
        if number is None:
            number = self._take_number()
            self.handles[number] = value
            self.handle_numbers[id(value)] = number
        return {"number": number, **self.describe(value)}

    def _stand_in(self, description: dict[str, Any]) -> Any:
        number = description["number"]
        if number not in self.stand_ins:
            made = self.remote(description)
            self.stand_ins[number] = made
            self.stand_in_numbers[id(made)] = number
        return self.stand_ins[number]

    @staticmethod
    def _is_array(value: Any) -> bool:
        numpy: Any = sys.modules.get("numpy")
        return numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.names is None

    def _shared(self, value: Any) -> list[Any] | None:
        """[number, strides, offset] of a known array whose memory this one looks into, if any."""
        base = value.base
        while base is not None and self._is_array(base):
            number = self.numbers.get(id(base))
            if number is not None:
                start = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
                return [number, list(value.strides), start]
            base = base.base
        return None

    def _new_array(self, kind: str, body: list[Any]) -> Any:
        import numpy as np

        if kind == "o":
            made = np.empty(int(np.prod(body[0])), dtype=object)
            made[:] = [self.unpack(item) for item in body[1]]
            return made.reshape(body[0])
        if kind == "v":
            number, strides, offset, dtype, shape, data, writeable = body
            base: Any = self.objects.get(number)
            if self._is_array(base) and base.flags.c_contiguous:
                try:
                    return np.ndarray(shape, _plain_dtype(dtype), base.data, offset, strides)
                except (ValueError, TypeError):
                    pass  # the layouts differ here: a copy is the best there is
        else:
            dtype, shape, data, writeable = body
        array = np.frombuffer(base64.b64decode(data), dtype=_plain_dtype(dtype)).reshape(shape).copy()
        array.flags.writeable = writeable
        return array

    def _refill(self, value: Any, kind: str, body: list[Any]) -> None:
        fresh = self._new_array(kind, body)
        if value.shape == fresh.shape and value.flags.writeable:
            value[...] = fresh


def _same(one: list[Any] | bytes, other: list[Any] | bytes) -> bool:
    """Whether two shots are the same, items by identity: no method of a student's object is called."""
    if isinstance(one, bytes) or isinstance(other, bytes):
        return one == other
    return len(one) == len(other) and all(map(operator.is_, one, other))


def _plain_dtype(name: str) -> Any:
    import numpy as np

    dtype = np.dtype(name)
    if dtype.hasobject:  # such a buffer would hold addresses
        raise ValueError("object arrays travel item by item")
    return dtype
