"""Numbers of made-up orders and returns: rising with the date, and no near twin of a number in the documents."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from itertools import count

ABSENT = "ORD-482914"
"""An order that customers ask for and that must not exist."""

# Numbers of orders by date, between those that the documents give.
_NUMBERS = ((date(2024, 5, 31), 479_000), (date(2024, 10, 3), 517_000), (date(2025, 2, 1), 539_000))


def order_numbers(days: Iterable[date], taken: set[str], rng: random.Random) -> Iterator[str]:
    """Numbers that rise with the days, which must be sorted, and stay clear of the ``taken`` ones and of `ABSENT`."""
    clear = _clear_of({*taken, ABSENT})
    last = 0
    for day in days:
        last = max(last + 1, _expected(day) + rng.randrange(200))
        while not clear(f"{last:06d}"):
            last += 1
        yield f"ORD-{last:06d}"


def return_numbers(taken: set[str]) -> Iterator[str]:
    clear = _clear_of(taken)
    return (f"RET-{number}" for number in count(760_011, 37) if clear(str(number)))


def _expected(day: date) -> int:
    """About which number an order of that day has, by straight lines between the known ones."""
    (d0, n0), (d1, n1) = _NUMBERS[:2] if day <= _NUMBERS[1][0] else _NUMBERS[1:]
    return n0 + (n1 - n0) * (day - d0).days // (d1 - d0).days


def _clear_of(codes: set[str]) -> Callable[[str], bool]:
    """Whether six digits are no near twin of a code: not alike but for one digit, nor the same digits mixed."""
    known = [code[-6:] for code in codes]
    mixed = {"".join(sorted(digits)) for digits in known}
    alike = {f"{digits[:i]}{d}{digits[i + 1 :]}" for digits in known for i in range(6) for d in "0123456789"}
    return lambda digits: digits not in alike and "".join(sorted(digits)) not in mixed
