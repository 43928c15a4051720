"""A graph as nodes and links, laid out by networkx (Fruchterman and Reingold, 1991, beyond five nodes)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ragkit.figures.labels import label_points
from ragkit.figures.style import COLOURS, MARKERS, MUTED, Chart, chart


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
        label_points(
            ax, at, size=10, radius={node: math.sqrt(area[node]) / 2 for node in graph}, segments=list(weights)
        )

    mark = "→" if directed else "–"
    words = [f"{a} {mark} {b}: {w:g}" for (a, b), w in weights.items()]
    words += [f"community {c}: {', '.join(sorted(members))}" for c, members in enumerate(communities or [])]
    return chart(draw, 3.8, "network", words)
