"""Lines over a number, with bands for intervals. Left out: a second axis, whose crossings mean nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragkit.figures.style import COLOURS, DASHES, MARKERS, Chart, Number, band, chart, is_interval, legend, mean, say


def lines(
    series: Mapping[str, Sequence[tuple[float, Number]]],
    x_label: str = "",
    y_label: str = "",
    y_limits: tuple[float, float] | None = None,
    log_x: bool = False,
) -> Chart:
    """One line a series over its ``(x, y)`` points; where ``y`` is an interval, a band shows it.

    Each series has its own colour, marker and dash. ``log_x`` suits ranks and corpus sizes.
    """
    if not series or not all(series.values()):
        raise ValueError("series must hold at least one line, and every line at least one point")

    def draw(ax: Any) -> None:
        for i, (name, points) in enumerate(series.items()):
            xs = [float(x) for x, _ in points]
            colour = COLOURS[i % len(COLOURS)]
            ax.plot(
                xs,
                [mean(y) for _, y in points],
                color=colour,
                marker=MARKERS[i % len(MARKERS)],
                linestyle=DASHES[i % len(DASHES)],
                linewidth=1.8,
                markersize=5.5,
                label=name,
            )
            if any(is_interval(y) for _, y in points):
                bands = [band(y) for _, y in points]
                ax.fill_between(xs, [b[0] for b in bands], [b[1] for b in bands], color=colour, alpha=0.15, linewidth=0)
        ax.set_xlabel(x_label)
        ax.set_ylabel(y_label)
        if log_x:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter("{x:g}")
        xs_all = sorted({float(x) for points in series.values() for x, _ in points})
        if len(xs_all) <= 8:
            ax.set_xticks(xs_all, [f"{x:g}" for x in xs_all])
            ax.minorticks_off()
        if y_limits is not None:
            ax.set_ylim(*y_limits)
        ax.grid(axis="y", color="#dddddd", linewidth=0.8)
        ax.set_axisbelow(True)
        if len(series) > 1:
            legend(ax, series)

    words = [f"{name} at {x:g}: {say(y, '{:.2f}')}" for name, points in series.items() for x, y in points]
    return chart(draw, 3.2, y_label, words)
