"""Charts in one visual language: bars, lines, points, a network and a heat map, as SVG.

No paper stands behind this module. The colours are those of Okabe and Ito (*Color Universal Design*, 2008), which
stay apart for colour-blind readers; a marker or a hatch always says the same thing as the colour. Nothing is
titled inside the plot: the page gives caption and alternative text. Text is sized so that it can be read when the
chart is as narrow as a phone. Left out: interaction and animation.

Matplotlib is imported when something is drawn, and its global state is never touched.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5B5B5B")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "|||", "---")
INK, MUTED = "#1a1a1a", "#595959"
WIDTH = 4.8  # inches: at the 320 pixels of a phone 11 points are still 10 pixels high

Number: TypeAlias = Any  # a float, or an interval: anything with mean, low and high
Box: TypeAlias = tuple[float, float, float, float]  # left, bottom, right, top, in pixels
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
            means = [_mean(v) for v in shown]
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
                low, high = _band(v)
                if is_interval(v):
                    ax.plot([low, high], [y, y], color=INK, linewidth=1.4, marker="|", markersize=5, zorder=3)
                ends.append((max(high, _mean(v), 0.0), y, fmt.format(_mean(v))))
        ax.set_yticks(range(len(groups)), list(groups))
        ax.tick_params(axis="y", length=0)
        ax.invert_yaxis()
        ax.set_xlabel(label)
        if limits is not None:
            ax.set_xlim(*limits)
        for x, y, text in ends:
            ax.annotate(text, (x, y), xytext=(5, 0), textcoords="offset points", va="center", annotation_clip=False)
        if len(series) > 1:
            _legend(ax, series)

    rows = len(groups) * len(series)
    words = [f"{name}{f', {s}' if s else ''}: {_say(v, fmt)}" for name, g in groups.items() for s, v in g.items()]
    return _chart(draw, max(1.3, 0.34 * rows + 0.16 * len(groups) + 0.8), label, words)


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
                [_mean(y) for _, y in points],
                color=colour,
                marker=MARKERS[i % len(MARKERS)],
                linestyle=DASHES[i % len(DASHES)],
                linewidth=1.8,
                markersize=5.5,
                label=name,
            )
            if any(is_interval(y) for _, y in points):
                bands = [_band(y) for _, y in points]
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
            _legend(ax, series)

    words = [f"{name} at {x:g}: {_say(y, '{:.2f}')}" for name, points in series.items() for x, y in points]
    return _chart(draw, 3.2, y_label, words)


def scatter(
    points: Mapping[str, tuple[float, float]],
    x_label: str = "",
    y_label: str = "",
    groups: Mapping[str, str] | None = None,
    diagonal: bool = False,
    log_x: bool = False,
) -> Chart:
    """Labelled points. ``groups`` gives a point the colour and marker of its group; ``diagonal`` draws
    y = x, and ``log_x`` suits costs."""
    if not points:
        raise ValueError("points must hold at least one point")
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
            _legend(ax, names)
        _label_points(ax, points)

    return _chart(draw, 3.6, y_label, [f"{p}: ({x:.3g}, {y:.3g})" for p, (x, y) in points.items()])


def network(
    edges: Mapping[tuple[str, str], float] | Sequence[tuple[str, str]],
    communities: Sequence[Collection[str]] | None = None,
    sizes: Mapping[str, float] | None = None,
    directed: bool = False,
    seed: int = 0,
) -> Chart:
    """A graph, its communities told apart by colour and marker.

    ``edges`` are pairs, or a dict from pair to weight (drawn as width). ``sizes`` are scores of the nodes, such as
    PageRank's, and set their area. Arrows appear only where ``directed`` says that the graph has directions. Up to five
    nodes lie on a circle; beyond, the layout is force-directed and depends on ``seed``: distances mean nothing exact.
    """
    import networkx as nx

    weights = dict(edges) if isinstance(edges, Mapping) else dict.fromkeys(edges, 1.0)
    if not weights:
        raise ValueError("edges must hold at least one edge")
    graph: Any = nx.DiGraph() if directed else nx.Graph()
    graph.add_weighted_edges_from((a, b, w) for (a, b), w in weights.items())
    home = {node: c for c, members in enumerate(communities or []) for node in members}
    graph.add_nodes_from(n for n in home if n not in graph)
    # A few nodes read best on a circle; more need the edges to pull them together.
    if len(graph) <= 5:
        where = nx.circular_layout(graph)
    else:
        where = nx.spring_layout(graph, seed=seed, k=1.8 / math.sqrt(len(graph)), iterations=200, weight=None)
    top = max(weights.values())
    best = max((sizes or {}).values(), default=0.0) or 1.0
    area = {node: 90.0 if sizes is None else 40 + 300 * (sizes.get(node, 0.0) / best) for node in graph}

    def draw(ax: Any) -> None:
        for (a, b), w in weights.items():
            arrow = {"arrowstyle": "-|>" if directed else "-", "color": MUTED, "linewidth": 0.7 + 2.0 * w / top}
            arrow |= {"shrinkA": math.sqrt(area[a]) / 2, "shrinkB": math.sqrt(area[b]) / 2 + 1, "mutation_scale": 13}
            # Two opposite arrows on one straight line would read as a single double-headed one.
            arrow["connectionstyle"] = "arc3,rad=0.12" if directed and (b, a) in weights else "arc3"
            ax.annotate("", xy=where[b], xytext=where[a], arrowprops=arrow, zorder=1)
        for node in graph:
            c = home.get(node, len(COLOURS) - 1 if communities else 0)
            style = {"color": COLOURS[c % len(COLOURS)], "marker": MARKERS[c % len(MARKERS)]}
            ax.scatter(*where[node], s=area[node], edgecolor="white", linewidth=0.8, zorder=3, **style)
        ax.margins(0.2)
        ax.axis("off")
        at = {node: (float(x), float(y)) for node, (x, y) in where.items()}
        _label_points(
            ax, at, size=10, radius={node: math.sqrt(area[node]) / 2 for node in graph}, segments=list(weights)
        )

    mark = "→" if directed else "–"
    words = [f"{a} {mark} {b}: {w:g}" for (a, b), w in weights.items()]
    words += [f"community {c}: {', '.join(sorted(members))}" for c, members in enumerate(communities or [])]
    return _chart(draw, 3.8, "network", words)


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
    return _chart(draw, max(1.8, 0.36 * len(rows) + 1.3), label, words)


def _numbers(columns: Sequence[str], line: Sequence[float]) -> list[tuple[str, float]]:
    return [(c, v) for c, v in zip(columns, line, strict=True) if not math.isnan(v)]


def _groups(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    groups = {name: dict(v) if isinstance(v, Mapping) else {"": v} for name, v in values.items()}
    if not groups or not all(groups.values()):
        raise ValueError("values must hold at least one bar, and every group at least one")
    return groups


def _mean(value: Any) -> float:
    return float(value.mean) if is_interval(value) else float(value)


def _band(value: Any) -> tuple[float, float]:
    return (float(value.low), float(value.high)) if is_interval(value) else (float(value), float(value))


def _say(value: Any, fmt: str) -> str:
    text = fmt.format(_mean(value))
    return f"{text} [{', '.join(fmt.format(v) for v in _band(value))}]" if is_interval(value) else text


def _legend(ax: Any, names: Collection[str]) -> None:
    # Above the plot: inside it would cover data, beside it would squeeze the plot on a phone.
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


def _label_points(
    ax: Any,
    points: Mapping[str, tuple[float, float]],
    size: float = 10.5,
    radius: Mapping[str, float] | None = None,
    segments: Sequence[tuple[str, str]] = (),
) -> None:
    """Put each label where it covers least of the points, the edges and the labels already placed.

    ``radius`` is how far from its point a label starts, in points of 1/72 inch. A white outline keeps a label
    legible where it has to cross an edge.
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


def _chart(draw: Callable[[Any], None], height: float, label: str, words: Sequence[str]) -> Chart:
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
