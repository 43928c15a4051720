"""Execution accuracy: a predicted query is right if it returns what the gold query returns.

The measure of Spider's test suites (Zhong, Yu and Klein, *Semantic Evaluation for Text-to-SQL with Distilled Test
Suites*, EMNLP 2020) and of BIRD (Li et al., NeurIPS 2023). The rules here:

- Rows are a multiset: their order counts only where the gold query orders its result, their number always. BIRD's
  script compares sets, so that a join which doubles every row passes it. Rows that the gold's ORDER BY leaves tied
  have no order to agree with, so a gold query that orders should break its ties.
- Columns may come in another order, the same for all rows, as in Zhong et al.: a question seldom says which comes
  first. ``columns="position"`` demands the gold's order, as BIRD does. Names of columns never count; their number does,
  also where no row is found.
- A number equals another if they differ by less than one part in 10^9 (sums of floats depend on the order of adding),
  but two different whole numbers are never equal. ``NULL`` equals ``NULL``; ``1`` and ``'1'`` differ.

A wrong query can return the right rows by chance, the more easily the smaller the database: Zhong et al. therefore run
several databases. Left out: that, and the efficiency score of BIRD.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any, Literal

from ragkit.structured.database import Database
from ragkit.structured.result import Result, Row
from ragkit.structured.statement import is_ordered, statements

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Verdict:
    """Whether a result is right; if not, ``reason`` says in what it differs."""

    correct: bool
    reason: str = ""


def compare(
    gold: Result, predicted: Result, ordered: bool = False, columns: Literal["any", "position"] = "any"
) -> Verdict:
    """Hold one result against another. ``ValueError`` if either is truncated: what was not fetched may differ.

    >>> compare(Result(("n", "x"), [(1, "a"), (2, "b")]), Result(("p", "q"), [("b", 2.0), ("a", 1)]))
    Verdict(correct=True, reason='')
    """
    if columns not in ("any", "position"):
        raise ValueError(f"columns must be 'any' or 'position', got {columns!r}")
    for name, result in (("gold", gold), ("predicted", predicted)):
        if result.truncated:
            raise ValueError(f"{name} is truncated after {len(result.rows)} rows: raise max_rows to compare")
    width, found = len(gold.columns), len(predicted.columns)
    if width != found:
        return Verdict(False, f"{found} columns instead of {width}")
    if len(gold.rows) != len(predicted.rows):
        return Verdict(False, f"{len(predicted.rows)} rows instead of {len(gold.rows)}")
    same = _same_numbers([*gold.rows, *predicted.rows])
    left = [tuple(same.get(cell, cell) for cell in map(_cell, row)) for row in gold.rows]
    right = [tuple(same.get(cell, cell) for cell in map(_cell, row)) for row in predicted.rows]
    if columns == "position":
        orders: Iterator[Sequence[int]] = iter([range(width)])
    else:
        orders = _alignments(left, right, width)
    for order in orders:
        moved = [tuple(row[i] for i in order) for row in right]
        if moved == left or (not ordered and Counter(moved) == Counter(left)):
            return Verdict(True)
    if ordered and compare(gold, predicted, False, columns).correct:
        return Verdict(False, "the right rows in another order")
    return Verdict(False, "other values")


def _cell(value: Any) -> Any:
    """A cell that compares by kind and value: Python takes ``True`` for 1, which SQLite means too, and -0.0 for 0."""
    return ("number", value) if isinstance(value, (int, float)) else value


def _same_numbers(rows: Sequence[Row]) -> dict[Any, Any]:
    """Every number of the rows -> the one that stands for all that count as equal to it.

    Rounding would part two neighbours that lie at either side of a rounding edge; so numbers are sorted, and one that
    is close to the one before joins it, unless both it and an earlier one of the group are whole.
    """
    numbers = sorted({cell for row in rows for cell in row if isinstance(cell, (int, float))})
    same: dict[Any, Any] = {}
    first = last = whole = None  # of the group: its first number, its last, and a whole number in it
    for number in numbers:
        integer = float(number).is_integer()
        if last is None or (integer and whole is not None) or not _close(last, number):
            first, whole = number, None
        whole = number if integer else whole
        same["number", number] = ("number", first)
        last = number
    return same


def _close(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _alignments(left: Sequence[Row], right: Sequence[Row], width: int) -> Iterator[tuple[int, ...]]:
    """Orders of the right-hand columns under which every beginning of the rows agrees as a multiset.

    A column is put next to those chosen only if the rows so far still agree, which leaves few orders to try; of two
    columns that are equal in every row one is tried.
    """
    wanted = [Counter(row[:n] for row in left) for n in range(width + 1)]

    def extend(chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(chosen) == width:
            yield chosen
            return
        tried: set[Row] = set()
        for i in range(width):
            column = tuple(row[i] for row in right)
            if i in chosen or column in tried:
                continue
            tried.add(column)
            longer = (*chosen, i)
            if Counter(tuple(row[j] for j in longer) for row in right) == wanted[len(longer)]:
                yield from extend(longer)

    return extend(())


def execution_match(
    database: Database, gold: str, predicted: str, columns: Literal["any", "position"] = "any"
) -> Verdict:
    """Run both queries and compare what they return.

    ``gold`` may hold several right queries divided by ";", as the cells of defog's questions do: one match is enough,
    and the reason is that of the first. A prediction that does not run is wrong and says why. A gold query that does
    not run raises the database's error, and a result beyond the database's ``max_rows`` a `ValueError`: both are
    faults of the benchmark or its set-up, never of the prediction.
    """
    golds = statements(gold)
    if not golds:
        raise ValueError("gold holds no statement")
    expected = [(database.run(query), is_ordered(query)) for query in golds]
    try:
        found = database.run(predicted)
    except (ValueError, sqlite3.Error) as error:
        return Verdict(False, f"error: {error}")
    verdicts = [compare(result, found, ordered, columns) for result, ordered in expected]
    return next((verdict for verdict in verdicts if verdict.correct), verdicts[0])
