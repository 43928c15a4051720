"""The one visual language of every chart: colours, markers, sizes, the legend, and how a drawing becomes an SVG.

The colours are those of Okabe and Ito (*Color Universal Design*, 2008), which stay apart for colour-blind readers; a
marker or a hatch always says the same thing as the colour. Text is sized so that it can be read when the chart is as
narrow as a phone. Matplotlib is imported when something is drawn, and its global state is never touched.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5B5B5B")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "|||", "---")
INK, MUTED = "#1a1a1a", "#595959"
WIDTH = 4.8  # inches: at the 320 pixels of a phone 11 points are still 10 pixels high

Number: TypeAlias = Any
"""A float, or an interval: anything with ``mean``, ``low`` and ``high``."""

_STYLE: Any = {
    "font.size": 11,
    "font.family": "DejaVu Sans",  # ships with matplotlib, so that every machine draws the same shapes
    "text.color": INK,
    "text.parse_math": False,  # "from $3 to $5" is text
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "hatch.linewidth": 0.6,
    "svg.hashsalt": "ragkit",  # ids inside the file do not change from build to build
    "svg.fonttype": "path",
}


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawn chart: ``svg`` for a page, ``data`` in words for a terminal."""

    svg: str
    data: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.data


def is_interval(value: object) -> bool:
    """Whether a value carries ``mean``, ``low`` and ``high``, as ``ragkit.metrics.Interval`` does."""
    return all(hasattr(value, name) for name in ("mean", "low", "high"))


def mean(value: Number) -> float:
    """A number itself, an interval's mean."""
    return float(value.mean) if is_interval(value) else float(value)


def band(value: Number) -> tuple[float, float]:
    """The ends of an interval; of a number, the number twice."""
    return (float(value.low), float(value.high)) if is_interval(value) else (float(value), float(value))


def say(value: Number, fmt: str) -> str:
    """A value in words.

    >>> say(0.5, "{:.2f}")
    '0.50'
    """
    text = fmt.format(mean(value))
    return f"{text} [{', '.join(fmt.format(v) for v in band(value))}]" if is_interval(value) else text


def legend(ax: Any, names: Collection[str]) -> None:
    """A legend above the plot: inside it would cover data, beside it would squeeze the plot on a phone."""
    columns = min(len(names), 3 if max(map(len, names)) <= 8 else 2 if max(map(len, names)) <= 18 else 1)
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=columns,
        columnspacing=1.2,
        frameon=False,
        borderaxespad=0.2,
        handlelength=2.4,
    )


def chart(draw: Callable[[Any], None], height: float, label: str, words: Sequence[str]) -> Chart:
    """Draw on fresh axes, ``height`` inches high; ``words`` tell the same numbers, one value a line."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(WIDTH, height), layout="constrained", facecolor="white")
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight", pad_inches=0.1)
    return Chart(out.getvalue(), "\n".join([f"{label}:" if label else "", *words]).lstrip("\n"))
