"""A graph as nodes and links, laid out by networkx (Kamada and Kawai, 1989, beyond five nodes)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ragkit.figures.labels import label_points
from ragkit.figures.style import COLOURS, MARKERS, MUTED, Chart, chart


def network(
    edges: Mapping[tuple[str, str], float] | Sequence[tuple[str, str]],
    communities: Sequence[Collection[str]] | None = None,
    sizes: Mapping[str, float] | None = None,
    directed: bool = False,
) -> Chart:
    """A graph, its communities told apart by colour and marker.

    ``edges`` are pairs, or a dict from pair to weight (drawn as width). ``sizes`` are scores of the nodes, such as
    PageRank's, and set their area. Arrows appear only where ``directed`` says that the graph has directions. Up to five
    nodes lie on a circle; beyond, a distance on the page follows the number of links between two nodes, as far as the
    page allows. Parts without a link between them stand side by side, the largest first.
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
    where = nx.circular_layout(graph) if len(graph) <= 5 else _islands(graph.to_undirected())
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


def _islands(graph: Any) -> dict[str, tuple[float, float]]:
    """A place for every node. Each connected part is laid out by itself and fills a box of its own: one layout of all
    would push the parts apart and leave no room inside them."""
    import networkx as nx

    where: dict[str, tuple[float, float]] = {}
    left = 0.0
    for part in sorted(nx.connected_components(graph), key=lambda part: (-len(part), min(part))):
        # In the order of the graph and not of the set, which changes from run to run.
        island = nx.Graph(edge for edge in graph.edges if edge[0] in part)
        island.add_nodes_from(part)
        at = nx.circular_layout(island) if len(part) < 3 else nx.kamada_kawai_layout(island, weight=None)
        places = np.array([at[node] for node in island])
        size = np.ptp(places, axis=0)
        # A part that lies on a line stays there: its breadth is rounding, and would be blown up to the page's.
        size = np.where(size > 0.05 * size.max(), size, size.max() or 1)
        width = math.sqrt(len(part))
        middle = (places.min(axis=0) + places.max(axis=0)) / 2
        places = ((places - middle) / size + 0.5) * (width, 1) + (left, 0)
        where |= {node: (float(x), float(y)) for node, (x, y) in zip(island, places, strict=True)}
        left += 1.6 * width
    return where
