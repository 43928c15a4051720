"""A table of numbers as shaded cells, in a colour scale that reads the same in grey (cividis, Nuñez et al. 2018)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ragkit.figures.style import Chart, chart


def heatmap(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    label: str = "",
    limits: tuple[float, float] = (0.0, 1.0),
    fmt: str = "{:.2f}",
) -> Chart:
    """One shaded cell a pair, its number written in it; ``None`` and NaN stay blank."""
    if len(values) != len(rows) or any(len(line) != len(columns) for line in values):
        raise ValueError(f"values must hold {len(rows)} rows of {len(columns)} numbers")
    grid = [[math.nan if v is None else float(v) for v in line] for line in values]
    low, high = limits
    if not low < high:
        raise ValueError(f"limits must rise, got {limits}")

    def draw(ax: Any) -> None:
        ax.imshow(grid, cmap="cividis", vmin=low, vmax=high, aspect="auto")
        for i, line in enumerate(grid):
            for j, v in enumerate(line):
                if not math.isnan(v):
                    ink = "black" if (v - low) / (high - low) > 0.5 else "white"
                    ax.text(j, i, fmt.format(v), ha="center", va="center", color=ink)
        ax.set_xticks(range(len(columns)), columns, rotation=40, ha="right", rotation_mode="anchor")
        ax.set_yticks(range(len(rows)), rows)
        ax.set_xlabel(label)
        ax.tick_params(length=0)
        for spine in ax.spines.values():
            spine.set_visible(False)

    words = [
        f"{r}, {c}: {fmt.format(v)}" for r, line in zip(rows, grid, strict=True) for c, v in _numbers(columns, line)
    ]
    return chart(draw, max(1.8, 0.36 * len(rows) + 1.3), label, words)


def _numbers(columns: Sequence[str], line: Sequence[float]) -> list[tuple[str, float]]:
    return [(c, v) for c, v in zip(columns, line, strict=True) if not math.isnan(v)]
