"""The orders that no document speaks of: some thousands, with their lines and returns, the same for the same seed.

A store's collections are from its own range, at the prices of the autumn list; nothing is collected while it is shut.
Carriers, their shares and their rates of late parcels follow the documents (Redgate Vans from August, Curlew Carriers
from November), as do the terms for returns. Left out: stock, customers, and every change of price.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta

from ragkit.corpus.database.facts import Facts, Row
from ragkit.corpus.database.numbers import order_numbers, return_numbers

_FIRST, _LAST = date(2024, 6, 1), date(2025, 1, 31)
_ORDERS = 3_200
_RETURN_SHARE = 0.07  # of the order lines that reached the customer
_SHUT = {date(2024, 12, 25), date(2024, 12, 26), date(2025, 1, 1)}
_POST_ONLY_FROM = date(2024, 11, 11)  # the day of the listing of heater and dehumidifier
_NEW_RETURNS = date(2024, 9, 1)  # from here on 45 days in place of 30, and nothing is kept back for tips

# How often an article is bought against the others; parts are bought by the side.
_WEIGHTS = {
    "AK-170R": 20,
    "AK-170B": 18,
    "EARBUDS-AIR2": 22,
    "BT-240": 9,
    "BT-420": 4,
    "TB-600": 6,
    "SL-38": 5,
    "SL-83": 2,
    "WR-12": 6,
    "HS-05": 6,
    "FH-20": 6,
    "DH-12": 2,
}
_BESIDE = {
    **dict.fromkeys(("AK-170R", "AK-170B"), ("DS-3", "FLT-17", "DS-3", "BASE-170")),
    "EARBUDS-AIR2": ("TIP-M2", "TIP-L2", "TIP-S2", "CASE-AIR2"),
    "WR-12": ("WRA-12",),
}
# Share of the parcels, and share of these that come late: Redgate Vans from August, Curlew Carriers from November.
_CARRIERS = (
    (date(2024, 6, 1), {"Copperline Logistics": 0.8, "post": 0.2}),
    (date(2024, 8, 1), {"Copperline Logistics": 0.4, "Redgate Vans": 0.4, "post": 0.2}),
    (date(2024, 11, 1), {"Copperline Logistics": 0.38, "Redgate Vans": 0.42, "post": 0.12, "Curlew Carriers": 0.08}),
)
_LATE = {"Copperline Logistics": 0.11, "Redgate Vans": 0.05, "post": 0.04, "Curlew Carriers": 0.02}
_LOST = 0.006


def made_up(
    rng: random.Random, told: Facts, stores: dict[int, bool], sold: Sequence[Row], prices: dict[str, int]
) -> tuple[list[Row], list[Row], list[Row]]:
    """Orders, their lines and returns. ``stores`` are those that keep collections: whether each opens on Sundays."""
    kept = {number: {code for store, code, _ in sold if store == number} for number in stores}
    days = sorted(_FIRST + timedelta(days=rng.randrange((_LAST - _FIRST).days + 1)) for _ in range(_ORDERS))
    orders: list[Row] = []
    lines: list[Row] = []
    returns: list[Row] = []
    taken, post_only = {row["id"] for row in told["order"]}, {row["code"] for row in told["by_post"]}
    numbers = return_numbers({row["id"] for row in told["return"]})
    for day, order_id in zip(days, order_numbers(days, taken, rng), strict=True):
        store = rng.choice(list(stores)) if rng.random() < 0.45 else None
        order = _collected(order_id, day, store, stores[store], rng) if store else _sent(order_id, day, rng)
        orders.append(order)
        offered = (kept[store] if store else set(prices)) - (post_only if day < _POST_ONLY_FROM else set())
        mine = _lines(order_id, offered, prices, rng)
        lines += mine
        arrived = order[-1] if order[4] in ("collected", "delivered") else None
        for line in mine:
            if arrived and rng.random() < _RETURN_SHARE:
                returns.append(_return(next(numbers), line, day, date.fromisoformat(arrived), rng))
    return orders, lines, returns


def _collected(order_id: str, day: date, store: int, sundays: bool, rng: random.Random) -> Row:
    """An order for a store: ready within three days, held for fourteen, seldom forgotten."""
    ready = _open(day + timedelta(days=rng.choice((0, 0, 1, 1, 2, 3))), sundays)
    held = ready + timedelta(days=14)
    wanted = None if rng.random() < 0.05 else _open(ready + timedelta(days=int(rng.expovariate(0.35))), sundays)
    fetched = wanted if wanted and wanted <= held else None
    status = "collected" if fetched else "put back"
    return (order_id, str(day), store, None, status, str(ready), str(held), None, None, fetched and str(fetched))


def _open(day: date, sundays: bool) -> date:
    """The day, or the next one on which a store is open."""
    while day in _SHUT or (day.weekday() == 6 and not sundays):
        day += timedelta(days=1)
    return day


def _sent(order_id: str, day: date, rng: random.Random) -> Row:
    """An order by carrier: promised within four working days of leaving, late at the carrier's rate."""
    shares = next(shares for first, shares in reversed(_CARRIERS) if day >= first)
    carrier = rng.choices(list(shares), weights=list(shares.values()))[0]
    left = _working_days(day, rng.choice((1, 1, 2)))
    promised = _working_days(left, rng.choice((3, 3, 4)))
    if rng.random() < _LOST:
        finished, status = None, "lost"
    elif rng.random() < _LATE[carrier]:
        finished, status = _working_days(promised, rng.randrange(1, 8)), "delivered"
    else:
        finished, status = _working_days(left, rng.choice((2, 3, 3))), "delivered"
    dates = (str(left), str(promised), finished and str(finished))
    return (order_id, str(day), None, carrier, status, None, None, *dates)


def _lines(order_id: str, codes: set[str], prices: dict[str, int], rng: random.Random) -> list[Row]:
    """One or two articles that are on offer there, and now and then a part for the first of them."""
    offer = [code for code in _WEIGHTS if code in codes]
    chosen = rng.choices(offer, weights=[_WEIGHTS[code] for code in offer], k=1 if rng.random() < 0.82 else 2)
    bought = {code: 2 if rng.random() < 0.04 else 1 for code in chosen}
    beside = [code for code in _BESIDE.get(chosen[0], ()) if code in codes]
    if beside and rng.random() < 0.3:
        bought[rng.choice(beside)] = 1
    return [(order_id, n, code, quantity, prices[code]) for n, (code, quantity) in enumerate(bought.items(), 1)]


def _return(return_id: str, line: Row, placed: date, arrived: date, rng: random.Random) -> Row:
    order_id, _, code, _, _ = line
    limit = 45 if placed >= _NEW_RETURNS else 30
    ears = code == "EARBUDS-AIR2"
    if ears:
        limit = 21 if placed >= _NEW_RETURNS else 14
    received = arrived + timedelta(days=rng.randrange(1, limit + 1))
    reason = rng.choices(("not wanted", "faulty", "damaged", "wrong article"), weights=(50, 30, 8, 12))[0]
    if reason == "faulty":
        outcome = rng.choice(("to workshop", "exchanged", "refunded"))
    elif reason == "wrong article":
        outcome = rng.choice(("exchanged", "refunded"))
    else:
        outcome = "refused" if reason == "not wanted" and rng.random() < 0.04 else "refunded"
    refunded = str(_working_days(received, rng.randrange(1, 6))) if outcome == "refunded" else None
    kept_back = 6 if ears and refunded and reason == "not wanted" and placed < _NEW_RETURNS else 0
    return (return_id, order_id, code, str(received), reason, outcome, refunded, kept_back)


def _working_days(day: date, days: int) -> date:
    """``days`` working days (Monday to Friday) later.

    >>> _working_days(date(2024, 6, 7), 1)  # a Friday
    datetime.date(2024, 6, 10)
    """
    while days:
        day += timedelta(days=1)
        days -= day.weekday() < 5
    return day
