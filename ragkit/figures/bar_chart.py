"""Horizontal bars, plain or grouped, with whiskers for intervals. Left out: stacked bars, which hide all but one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragkit.figures.style import COLOURS, HATCHES, INK, Chart, Number, band, chart, is_interval, legend, mean, say


def bars(
    values: Mapping[str, Number | Mapping[str, Number]],
    label: str = "",
    limits: tuple[float, float] | None = (0.0, 1.0),
    fmt: str = "{:.2f}",
) -> Chart:
    """Horizontal bars, the first on top; an interval is drawn as a whisker and the mean written beside it.

    ``values`` maps a name to a number or interval, or to a dict of series, which draws grouped bars with a legend.
    ``label`` names what the axis measures; ``limits`` is its range, ``None`` to let the values decide.
    """
    groups = _groups(values)
    series = list(dict.fromkeys(name for group in groups.values() for name in group))
    height = 0.8 / len(series)

    def draw(ax: Any) -> None:
        ends: list[tuple[float, float, str]] = []
        for s, name in enumerate(series):
            at = [i + (s - (len(series) - 1) / 2) * height for i, group in enumerate(groups.values()) if name in group]
            shown = [group[name] for group in groups.values() if name in group]
            means = [mean(v) for v in shown]
            ax.barh(
                at,
                means,
                height * 0.88,
                color=COLOURS[s % len(COLOURS)],
                hatch=HATCHES[s % len(HATCHES)],
                edgecolor="white",
                linewidth=0.5,
                label=name,
            )
            for y, v in zip(at, shown, strict=True):
                low, high = band(v)
                if is_interval(v):
                    ax.plot([low, high], [y, y], color=INK, linewidth=1.4, marker="|", markersize=5, zorder=3)
                ends.append((max(high, mean(v), 0.0), y, fmt.format(mean(v))))
        ax.set_yticks(range(len(groups)), list(groups))
        ax.tick_params(axis="y", length=0)
        ax.invert_yaxis()
        ax.set_xlabel(label)
        if limits is not None:
            ax.set_xlim(*limits)
        for x, y, text in ends:
            ax.annotate(text, (x, y), xytext=(5, 0), textcoords="offset points", va="center", annotation_clip=False)
        if len(series) > 1:
            legend(ax, series)

    rows = len(groups) * len(series)
    words = [f"{name}{f', {s}' if s else ''}: {say(v, fmt)}" for name, g in groups.items() for s, v in g.items()]
    return chart(draw, max(1.3, 0.34 * rows + 0.16 * len(groups) + 0.8), label, words)


def _groups(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    groups = {name: dict(v) if isinstance(v, Mapping) else {"": v} for name, v in values.items()}
    if not groups or not all(groups.values()):
        raise ValueError("values must hold at least one bar, and every group at least one")
    return groups
