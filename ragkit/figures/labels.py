"""Labels beside points, each put where it covers least: eight places are tried, as in Christensen et al. (1995).

The choice is greedy, label by label in the order given. Left out: moving a label again once it stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

Box: TypeAlias = tuple[float, float, float, float]
"""Left, bottom, right, top, in pixels."""


def label_points(
    ax: Any,
    points: Mapping[str, tuple[float, float]],
    size: float = 10.5,
    radius: Mapping[str, float] | None = None,
    segments: Sequence[tuple[str, str]] = (),
    only: Collection[str] | None = None,
) -> None:
    """Put each label where it covers least of the points, the edges and the labels already placed.

    ``radius`` is how far from its point a label starts, in points of 1/72 inch. A white outline keeps a label
    legible where it has to cross an edge. ``only`` are the points that get one, all by default.
    """
    import numpy as np
    from matplotlib.patheffects import withStroke

    figure = ax.figure
    figure.draw_without_rendering()  # settles the limits, without which pixels mean nothing
    pixel = {name: ax.transData.transform(xy) for name, xy in points.items()}
    dots = np.array(list(pixel.values()))
    t = np.linspace(0, 1, 25)[:, None]
    strokes = np.concatenate([pixel[a] + t * (pixel[b] - pixel[a]) for a, b in segments]) if segments else dots[:0]
    scale = figure.dpi / 72
    taken: list[Box] = []
    for name, xy in points.items():
        if only is not None and name not in only:
            continue
        text = ax.annotate(name, xy, (0, 0), textcoords="offset points", size=size, zorder=4)
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
        extent = text.get_window_extent()
        x, y = pixel[name]
        r = (radius or {}).get(name, 5.0) + 2.0
        tried: list[tuple[float, int, Box, tuple[float, float, str, str]]] = []
        for right, up in ((1, 0), (0, 1), (0, -1), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)):
            dx, dy = right * r * (0.8 if up else 1), up * r * (0.8 if right else 1)
            left = x + dx * scale - extent.width * (1 - right) / 2
            bottom = y + dy * scale - extent.height * (1 - up) / 2
            box = (left, bottom, left + extent.width, bottom + extent.height)
            cost = sum(_overlap(box, other) for other in taken)
            cost += 150 * _inside(dots, box, 2) + 40 * _inside(strokes, box, 3)
            cost += 20 * (max(0.0, box[2] - figure.bbox.x1) + max(0.0, figure.bbox.x0 - box[0]))
            side = (dx, dy, ("center", "left", "right")[right], ("center", "bottom", "top")[up])
            tried.append((cost, len(tried), box, side))
        _, _, box, (dx, dy, ha, va) = min(tried)
        text.set(position=(dx, dy), ha=ha, va=va)
        taken.append(box)


def _inside(points: Any, box: Box, margin: float) -> int:
    """How many of the ``(n, 2)`` points lie in a box widened by ``margin``."""
    x, y = points[:, 0], points[:, 1]
    across = (x > box[0] - margin) & (x < box[2] + margin)
    return int((across & (y > box[1] - margin) & (y < box[3] + margin)).sum())


def _overlap(a: Box, b: Box) -> float:
    """The area that two boxes ``(left, bottom, right, top)`` share.

    >>> _overlap((0, 0, 2, 2), (1, 1, 3, 3)), _overlap((0, 0, 1, 1), (2, 2, 3, 3))
    (1, 0)
    """
    return max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
