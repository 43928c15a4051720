"""Values as the text of a cell: floats of one column share their decimals, so that digits line up.

Left out: units, which belong into the header.
"""

from __future__ import annotations

import math
from typing import Any

from ragkit.corpus.records import CLASSES
from ragkit.figures import is_interval


def is_number(value: object) -> bool:
    """Whether a value is shown as a number.

    >>> is_number(2), is_number(True), is_number("2")
    (True, False, False)
    """
    # numpy's scalars are numbers too, so the test is what the value can do; a bool reads yes or no.
    return hasattr(value, "__float__") and hasattr(value, "__add__") and not _is_bool(value)


def _is_bool(value: object) -> bool:
    return type(value).__name__ in ("bool", "bool_")


def column(values: list[Any], spec: str | None) -> list[str]:
    """The texts of one column. Its floats share their decimals, so that digits line up.

    >>> column([0.5, 0.25, 1.0], None), column([0.0164, 0.0161], None), column([1234, None, True], None)
    (['0.50', '0.25', '1.00'], ['0.0164', '0.0161'], ['1,234', '–', 'yes'])
    >>> column(["single_fact", "one_of_its_own"], None)
    ['single fact', 'one_of_its_own']
    """
    floats = [abs(float(v)) for v in values if is_number(v) and not hasattr(v, "__index__")]
    sizes = [v for v in floats if v and math.isfinite(v)]
    if sizes and min(sizes) >= 1000:
        fallback = ",.0f"
    elif sizes and max(sizes) < 0.1:
        fallback = ".4f"
    else:
        fallback = ",.2f"
    return [_text(v, spec, fallback) for v in values]


def _text(value: Any, spec: str | None, fallback: str) -> str:
    if value is None:
        return "–"
    if _is_bool(value):
        return "yes" if value else "no"
    if is_interval(value):
        if not math.isfinite(value.mean):
            return "–"
        s = spec or ".2f"
        return f"{value.mean:{s}} [{value.low:{s}}, {value.high:{s}}]"
    if is_number(value):
        if not math.isfinite(float(value)):
            return "–" if math.isnan(float(value)) else str(value)
        return format(value, spec or ("," if hasattr(value, "__index__") else fallback))
    # A question class is an identifier in the corpus and words on a page.
    return value.replace("_", " ") if value in CLASSES else str(value)
