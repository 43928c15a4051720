"""Points in the plane, all of them or some with their names. Left out: sizes, and densities of many thousands."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ragkit.figures.labels import label_points
from ragkit.figures.style import COLOURS, MARKERS, MUTED, Chart, chart, legend


def scatter(
    points: Mapping[str, tuple[float, float]],
    x_label: str = "",
    y_label: str = "",
    groups: Mapping[str, str] | None = None,
    diagonal: bool = False,
    log_x: bool = False,
    labelled: Collection[str] | None = None,
) -> Chart:
    """Labelled points. ``groups`` gives a point the colour and marker of its group; ``diagonal`` draws
    y = x, and ``log_x`` suits costs. ``labelled`` are the points whose names are written, all by default: a name that
    is no point is a ``ValueError``."""
    if not points:
        raise ValueError("points must hold at least one point")
    if unknown := sorted(set(labelled or ()) - set(points)):
        raise ValueError(f"labelled names {unknown[0]!r}, which is not among the points")
    names = list(dict.fromkeys((groups or {}).get(p, "") for p in points))

    def draw(ax: Any) -> None:
        for g, group in enumerate(names):
            members = [xy for p, xy in points.items() if (groups or {}).get(p, "") == group]
            ax.scatter(
                [x for x, _ in members],
                [y for _, y in members],
                s=46,
                color=COLOURS[g % len(COLOURS)],
                marker=MARKERS[g % len(MARKERS)],
                label=group,
                zorder=3,
            )
        ax.set_xlabel(x_label)
        ax.set_ylabel(y_label)
        if log_x:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter("{x:g}")
        ax.margins(0.16)
        ax.locator_params(axis="y", nbins=6)
        ax.grid(color="#dddddd", linewidth=0.8)
        ax.set_axisbelow(True)
        if diagonal:
            ax.axline((0, 0), slope=1, color=MUTED, linewidth=1, linestyle=":")
        if len(names) > 1:
            legend(ax, names)
        label_points(ax, points, only=labelled)

    return chart(draw, 3.6, y_label, [f"{p}: ({x:.3g}, {y:.3g})" for p, (x, y) in points.items()])
