"""Plain data between the process that judges and the process that runs a student's code.

Both sides keep a `Heap`: a table of the mutable objects (lists, dicts, sets, arrays) that have crossed, by number. A
message carries atoms by value and mutable objects by number, with the contents of the objects that are new or have
changed since the last message. Three things follow: a function that changes its argument is seen to have changed it; a
result that *is* an argument, or a view into it, arrives as that argument; and a container the student kept sees later
changes by the test. Everything that is no plain data (functions, classes, instances) stays where it is and travels as a
handle. Only JSON is read, never pickle, so the far side can send wrong data and nothing worse. numpy's arrays and
scalars are packed by `arrays`.

Left out: sharing between two arrays sent as arguments, object arrays' identity, and cells of closures.
"""

from __future__ import annotations

import base64
import builtins
import sys
from collections.abc import Callable
from typing import Any

from grading.running import arrays, containers

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
        if arrays.is_scalar(value):
            return {"n": arrays.pack_scalar(value)}
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
        if isinstance(value, (list, dict, set)) or arrays.is_array(value):
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
                return arrays.unpack_scalar(body)
            case "y":
                found = getattr(builtins, body)
                if not isinstance(found, type):
                    raise ValueError(f"type: {body!r} is no built-in type")
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
                if not containers.same(shot, self.shots[number]):
                    self.shots[number] = shot
                    self.pending.append([number, *self._contents(value)])
        sent, self.pending = self.pending, []
        return sent

    def apply(self, updates: list[Update]) -> None:
        """Take in the other side's new and changed objects: shells first, so that cycles close, then contents."""
        fresh: set[int] = set()
        for number, kind, *body in updates:
            if number not in self.objects:
                shell: Any = containers.SHELLS[kind]() if kind in containers.SHELLS else self._array(kind, body)
                self._adopt(number, shell)
                fresh.add(number)
        for number, kind, *body in updates:
            value = self.objects[number]
            if kind in containers.SHELLS:
                containers.fill(value, kind, body[0], self.unpack)
            elif number not in fresh:
                arrays.refill(value, self._array(kind, body))
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
        """Take an object out of the table."""
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
        shared = arrays.place_in_known(value, self.numbers) if arrays.is_array(value) else None
        self._adopt(number, value)
        contents = self._contents(value)
        self.shots[number] = self._shot(value)
        self.pending.append([number, *(["v", *shared, *contents[1:]] if shared else contents)])
        return number

    def _contents(self, value: Any) -> list[Any]:
        return arrays.contents(value, self.pack) if arrays.is_array(value) else containers.contents(value, self.pack)

    def _shot(self, value: Any) -> containers.Snapshot:
        return arrays.snapshot(value) if arrays.is_array(value) else containers.snapshot(value)

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

    def _array(self, kind: str, body: list[Any]) -> Any:
        return arrays.make(kind, body, self.objects, self.unpack)
