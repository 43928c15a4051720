"""Numbers in sentences: asserted against a band first, then glued for the prose.

The gluing is that of MyST-NB (``glue``). Left out: claims about order or shape; assert those in a cell.
"""

from __future__ import annotations

import math
from typing import Any

from ragkit.figures import is_interval


def claim(name: str, value: Any, low: float, high: float, fmt: str = "{:.2f}") -> None:
    """Assert that ``value`` lies in ``[low, high]``, then glue its text for ``{glue:text}`` in the prose.

    ``value`` is a number or an interval; of an interval the mean is asserted, and the text reads
    ``0.62 [0.51, 0.73]``. The band is the claim that the sentence makes: a build in which it no longer holds
    fails here, by name.
    Prints nothing. Outside a notebook only the assertion is made.
    """
    if math.isnan(low) or math.isnan(high) or low > high:
        raise ValueError(f"claim {name!r}: low must not exceed high, got [{low}, {high}]")
    interval = is_interval(value)
    number = float(value.mean if interval else value)
    if not low <= number <= high:  # also catches NaN
        raise AssertionError(f"claim {name!r} does not hold: {number:g} is outside [{low:g}, {high:g}]")
    text = f"{fmt} [{fmt}, {fmt}]".format(value.mean, value.low, value.high) if interval else fmt.format(value)
    try:
        from IPython import get_ipython
        from myst_nb import glue
    except ImportError:
        return
    if get_ipython() is not None:  # without a kernel, gluing would print
        glue(name, text, display=False)
