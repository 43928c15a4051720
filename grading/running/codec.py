"""Plain data between the process that judges and the process that runs a student's code.

Both sides keep a `Heap`: a table of the mutable objects (lists, dicts, sets, arrays) that have crossed, by number. A
message carries atoms by value and mutable objects by number, with the contents of the objects that are new or have
changed since the last message. Three things follow: a function that changes its argument is seen to have changed it; a
result that *is* an argument, or a view into it, arrives as that argument; and a container the student kept sees later
changes by the test. Everything that is no plain data (functions, classes, instances) stays where it is and travels as a
handle. Only JSON is read, never pickle, so the far side can send wrong data and nothing worse; how much it can send is
bounded before anything is allocated (`caps`). numpy's arrays and scalars are packed by `arrays`.

Left out: sharing between two arrays sent as arguments, object arrays' identity, and cells of closures.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable
from typing import Any

from grading.running import arrays, containers, forms
from grading.running.caps import MAX_DEPTH, MAX_HANDLES, MAX_OBJECTS, TooMuchError, whole
from grading.running.forms import BIG, Wire

Update = list[Any]  # [number, kind, ...contents]

ATOMS = frozenset((type(None), bool, str, float))  # what JSON has, small whole numbers aside
CONTAINERS = frozenset((list, dict, set))


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
        if kind in ATOMS:
            return value
        if kind is int:
            return value if -BIG < value < BIG else {"i": hex(value)}
        if kind in CONTAINERS:
            return {"r": self._number(value)}
        if id(value) in self.stand_in_numbers:
            return {"own": self.stand_in_numbers[id(value)]}
        if isinstance(value, tuple):
            return {"t": self.pack_all(tuple.__iter__(value))}
        if isinstance(value, frozenset):
            return {"f": self.pack_all(frozenset.__iter__(value))}
        if (form := forms.pack(value)) is not None:
            return form
        if isinstance(value, (list, dict, set)) or arrays.is_array(value):
            return {"r": self._number(value)}
        return {"h": self._handle(value)}

    def pack_all(self, values: Iterable[Any]) -> list[Wire]:
        """Wire forms of several values."""
        return [value if type(value) in ATOMS else self.pack(value) for value in values]

    def unpack(self, wire: Wire, depth: int = 0) -> Any:
        """The value of a wire form; mutable objects must have been brought by `apply` before.

        Raises `ValueError`, `TypeError` or `KeyError` for what is no wire form, `TooMuchError` for what is too much.
        """
        kind = type(wire)
        if kind is not dict:
            if kind in ATOMS or kind is int:
                return wire
            raise ValueError("wire form: a bare list")
        if depth > MAX_DEPTH:
            raise TooMuchError("wire form: nested too deep")
        ((key, body),) = wire.items()
        match key:
            case "r":
                return self.objects[body]
            case "t":
                return tuple(self.unpack_all(body, depth + 1))
            case "f":
                return frozenset(self.unpack_all(body, depth + 1))
            case "own":
                return self.handles[body]
            case "h":
                return self._stand_in(body)
        return forms.unpack(key, body)

    def unpack_all(self, wires: Any, depth: int = 0) -> list[Any]:
        """The values of several wire forms."""
        return [wire if type(wire) in ATOMS else self.unpack(wire, depth) for wire in _items(wires)]

    def updates(self) -> list[Update]:
        """Every object that is new or has changed since the last message, in wire form."""
        new = {update[0] for update in self.pending}
        for number, value in list(self.objects.items()):
            if number not in new and self._changed(value, self.shots[number]):
                self.shots[number] = self._shot(value)
                self.pending.append([number, *self._contents(value)])
        sent, self.pending = self.pending, []
        return sent

    def apply(self, updates: list[Update]) -> None:
        """Take in the other side's new and changed objects: shells first, so that cycles close, then contents.

        Raises as `unpack` does, and `ValueError` for a number or a kind that is not the object's own.
        """
        if len(self.objects) + len(_items(updates)) > MAX_OBJECTS:
            raise TooMuchError("objects: more than a test can take")
        fresh: set[int] = set()
        for number, kind, *body in updates:
            if whole(number) in self.objects:
                if kind not in kinds_of(self.objects[number]):
                    raise ValueError(f"kind: object {number} is of another one")
                continue
            if number < 2 or number % 2 == self.next % 2:
                raise ValueError(f"number: {number} is none that the other side gives")
            shell: Any = containers.SHELLS[kind]() if kind in containers.SHELLS else self._array(kind, body)
            self._adopt(number, shell)
            fresh.add(number)
        for number, kind, *body in updates:
            value = self.objects[number]
            if kind in containers.SHELLS:
                containers.fill(value, kind, _items(body[0]), self.unpack_all)
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
        plain = type(value) in CONTAINERS
        shared = None if plain or not arrays.is_array(value) else arrays.place_in_known(value, self.numbers)
        self._adopt(number, value)
        contents = self._contents(value)
        self.shots[number] = self._shot(value)
        self.pending.append([number, *(["v", *shared, *contents[1:]] if shared else contents)])
        return number

    def _contents(self, value: Any) -> list[Any]:
        if type(value) not in CONTAINERS and arrays.is_array(value):
            return arrays.contents(value, self.pack)
        return containers.contents(value, self.pack_all)

    def _shot(self, value: Any) -> containers.Snapshot:
        if type(value) not in CONTAINERS and arrays.is_array(value):
            return arrays.snapshot(value)
        return containers.snapshot(value)

    def _changed(self, value: Any, shot: containers.Snapshot) -> bool:
        if type(value) is list and type(shot) is list:  # by far the most, and no copy is needed
            return len(value) != len(shot) or not all(map(operator.is_, value, shot))
        return not containers.same(self._shot(value), shot)

    def _handle(self, value: Any) -> dict[str, Any]:
        number = self.handle_numbers.get(id(value))
        if number is None:
            number = self._take_number()
            self.handles[number] = value
            self.handle_numbers[id(value)] = number
        return {"number": number, **self.describe(value)}

    def _stand_in(self, description: dict[str, Any]) -> Any:
        number = whole(description["number"])
        if number not in self.stand_ins:
            if len(self.stand_ins) >= MAX_HANDLES:
                raise TooMuchError("handles: more than a test can take")
            made = self.remote(description)
            self.stand_ins[number] = made
            self.stand_in_numbers[id(made)] = number
        return self.stand_ins[number]

    def _array(self, kind: str, body: list[Any]) -> Any:
        return arrays.make(kind, body, self.objects, self.unpack)


def kinds_of(value: Any) -> tuple[str, ...]:
    """The kinds of update that a shared object may get: [1] -> ("l",)."""
    if arrays.is_array(value):
        return ("o",) if value.dtype.hasobject else ("a", "v")
    return tuple(kind for kind, base in containers.SHELLS.items() if isinstance(value, base))


def _items(body: Any) -> list[Any]:
    """The list that a wire form should hold. Raises `ValueError`."""
    if type(body) is not list:
        raise ValueError("wire form: no list where one belongs")
    return body
