"""An explorer of Personalized PageRank: a small graph, and where the walker is after each step.

Over ``ragkit.graph.pagerank`` (Page et al., 1999, section 6; Haveliwala, 2002). Two switches show what is easy to get
wrong: mass on a node without a way out goes back to the seed or is lost, and edges are walked one way or both. The
lost mass has no function in ``ragkit``, which never loses any; here its step and its limit are written out. Left out:
weights of edges in the drawing, and more seeds than one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from itertools import islice
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.explore.explorer import Control, Data, Explorer, Result, State, control, switch
from ragkit.explore.markup import drawing, fixed, grid, label, line, signed
from ragkit.figures import COLOURS
from ragkit.graph.pagerank import Transition, pagerank, steps, transition
from ragkit.show.provenance import Source, provenance

RESTARTS = tuple(twentieth / 20 for twentieth in range(1, 21))
MOST = 40  # steps: at a restart of 0.15 what is left to move is then below 0.002
WIDTH, HEIGHT, EDGE = 340, 340, 57


def compute(data: Data, state: State) -> Result:
    """Mass by node at the step, its change since the last one, where it settles, which nodes lead nowhere, the sum."""
    names = data["names"]
    edges = {(names[a], names[b]): weight for a, b, weight in data["edges"]}
    graph = transition(edges, directed=not state["both"], nodes=names)
    seeds, at, restart = graph.seeds({state["seed"]: 1.0}), state["step"], state["restart"]
    if state["back"]:
        path = list(islice(steps(graph, seeds, restart), at + 1))
        settled = pagerank(graph, seeds, restart, tolerance=1e-12, max_steps=5000).scores
    else:
        path, settled = _leaking(graph, seeds, restart, at)
    mass, before = path[at], path[max(at - 1, 0)]
    return {
        "mass": mass.tolist(),
        "change": (mass - before).tolist(),
        "settled": settled.tolist(),
        "dangling": graph.dangling.tolist(),
        "sum": float(mass.sum()),
        "moved": float(np.abs(mass - before).sum()),
    }


def _leaking(
    graph: Transition, seeds: NDArray[np.float64], restart: float, at: int
) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
    """The walk that forgets the mass of dangling nodes, and its limit: (I - (1 - restart) P^T) r = restart p."""
    path = [seeds]
    for _ in range(at):
        path.append(restart * seeds + (1 - restart) * (graph.matrix @ path[-1]))
    system = np.eye(len(seeds)) - (1 - restart) * graph.matrix.toarray()
    return path, np.linalg.solve(system, restart * seeds)


def summary(data: Data, state: State, result: Result) -> str:
    """The step, the sum, how much moved and who holds most."""
    names, mass = data["names"], result["mass"]
    best = next(i for i, held in enumerate(mass) if held >= max(mass) - 1e-9)  # rounding decides no tie
    return (
        f"Step {state['step']}: the mass sums to {fixed(result['sum'], 4)}, and {fixed(result['moved'], 4)} changed "
        f"since the last step. Most is on {names[best]}, {fixed(mass[best], 4)}."
    )


def view(data: Data, state: State, result: Result) -> str:
    """The graph, areas by mass, and the same numbers as a table."""
    names = data["names"]
    rows = []
    for i, name in enumerate(names):
        marks = [mark for mark, so in (("seed", name == state["seed"]), ("dead end", result["dangling"][i])) if so]
        note = f" ({', '.join(marks)})" if marks else ""
        numbers = [fixed(result["mass"][i], 4), signed(result["change"][i], 4), fixed(result["settled"][i], 4)]
        rows.append(("", [f"{escape(name)}{note}", *numbers]))
    total, end = sum(result["change"]), sum(result["settled"])
    rows.append(("rk-total", ["sum", fixed(result["sum"], 4), signed(total, 4), fixed(end, 4)]))
    header = [("node", False), ("mass", True), ("change", True), ("settles at", True)]
    table = grid(f"Mass after step {state['step']}", header, rows)
    return f'<div class="rk-two">{_graph(data, state, result)}{table}</div>'


def _graph(data: Data, state: State, result: Result) -> str:
    names, where = data["names"], data["where"]
    radius = [5 + 27 * math.sqrt(mass) for mass in result["mass"]]
    shapes = "".join(
        _link(where[a], where[b], radius[a], radius[b], arrow=not state["both"]) for a, b, _ in data["edges"]
    )
    for i, name in enumerate(names):
        x, y = where[i]
        look = f'cx="{x}" cy="{y}" r="{fixed(radius[i], 1)}" class="rk-node" fill="{COLOURS[0]}"'
        # A broken rim says that no arrow leaves; a second rim says that the walk starts here.
        rim = ' stroke="currentColor" stroke-width="2" stroke-dasharray="3 3"' if result["dangling"][i] else ""
        shapes += f"<circle {look}{rim}/>"
        if name == state["seed"]:
            ring = f'cx="{x}" cy="{y}" r="{fixed(radius[i] + 4, 1)}" fill="none" class="rk-ring"'
            shapes += f'<circle {ring} stroke="{COLOURS[1]}" stroke-width="3"/>'
        lines = data["lines"][i]
        for j, words in enumerate([*lines, fixed(result["mass"][i], 3)]):
            shapes += label(x, y + radius[i] + 17 + 14 * j, words, look="rk-mass" if j == len(lines) else "")
    kind = "lines" if state["both"] else "arrows"
    said = f"A graph of {len(names)} nodes and {len(data['edges'])} {kind}. The larger a node, the more mass it holds."
    return drawing(WIDTH, HEIGHT, said, shapes)


def _link(a: Sequence[float], b: Sequence[float], from_radius: float, to_radius: float, arrow: bool) -> str:
    """A line between two rims, with a head where it has a direction."""
    length = math.sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]))
    x, y = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    if length <= from_radius + to_radius + 6:  # two large nodes may touch
        return ""
    start = (a[0] + x * (from_radius + 2), a[1] + y * (from_radius + 2))
    tip = (b[0] - x * (to_radius + 4), b[1] - y * (to_radius + 4))
    shape = line(*start, *tip, "rk-edge", "#7a7f87", 1.5)
    if arrow:
        base = (tip[0] - 9 * x, tip[1] - 9 * y)
        corners = (tip, (base[0] - 4 * y, base[1] + 4 * x), (base[0] + 4 * y, base[1] - 4 * x))
        points = " ".join(f"{fixed(px, 1)},{fixed(py, 1)}" for px, py in corners)
        shape += f'<polygon points="{points}" class="rk-head" fill="#7a7f87"/>'
    return shape


def walk_explorer(
    edges: Sequence[tuple[str, str]] | Mapping[tuple[str, str], float],
    seed: str,
    *,
    restart: float = 0.5,
    step: int = 0,
    both: bool = False,
    positions: Mapping[str, tuple[float, float]] | None = None,
    title: str = "A walk, step by step",
    source: Source = "computed",
    answered: str | Sequence[str] | None = None,
    date: str | None = None,
    note: str | None = None,
) -> Explorer:
    """The walk from ``seed`` on at most 12 nodes; ``both`` walks the edges both ways at the start.

    ``edges`` are pairs (a repeated one counts each time), or pairs with weights. ``positions`` place the nodes, x to
    the right and y downwards, both in [0, 1]; without them networkx does (Kamada and Kawai, 1989). ``restart`` and
    ``step`` are settings at the start. The last four are those of `ragkit.show.table`. ValueError for a graph without
    edges or with loops, and a seed or a position that fits no node.
    """
    weights: dict[tuple[str, str], float] = {}
    for pair in edges:
        weights[pair] = edges[pair] if isinstance(edges, Mapping) else weights.get(pair, 0.0) + 1.0
    names = list(dict.fromkeys(end for pair in weights for end in pair))
    if not 2 <= len(names) <= 12:
        raise ValueError(f"edges must join 2 to 12 nodes to be legible, got {len(names)}")
    if loops := [a for a, b in weights if a == b]:
        raise ValueError(f"edges holds a loop at {loops[0]!r}, which is not drawn")
    if any(not (weight > 0 and math.isfinite(weight)) for weight in weights.values()):
        raise ValueError("edges holds a weight that is not above 0 and finite")
    if seed not in names:
        raise ValueError(f"seed must be a node of edges, got {seed!r}")
    if positions is not None and (lost := [name for name in names if name not in positions]):
        raise ValueError(f"positions lacks the node {lost[0]!r}")
    index = {name: i for i, name in enumerate(names)}
    data: Data = {
        "names": names,
        "lines": [wrap(name, 16, break_long_words=False) for name in names],
        "edges": [[index[a], index[b], float(weight)] for (a, b), weight in weights.items()],
        "where": _placed(names, positions if positions is not None else _layout(list(weights))),
    }
    restarts = sorted({*RESTARTS, restart} if 0 < restart <= 1 else RESTARTS)
    controls: list[Control] = [
        control("step", "Step", "stepper", range(MOST + 1), step),
        control("seed", "Seed", "choice", names, seed),
        control("restart", "Chance α of restarting", "slider", restarts, restart, [fixed(a, 2) for a in restarts]),
        switch("back", "Mass of dead ends goes back to the seed", True),
        switch("both", "Walk the edges both ways", both),
    ]
    said = provenance(source, answered, date, note)
    return Explorer("walk", title, tuple(controls), data, compute, summary, view, said)


def _layout(edges: Sequence[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    import networkx as nx

    found: dict[str, Any] = nx.kamada_kawai_layout(nx.Graph(edges))
    low = np.min(list(found.values()), axis=0)
    spread = np.maximum(np.max(list(found.values()), axis=0) - low, 1e-9)
    return {name: tuple((at - low) / spread) for name, at in found.items()}


def _placed(names: Sequence[str], where: Mapping[str, tuple[float, float]]) -> list[list[int]]:
    """Pixels, with room for a label below each node; ValueError for a place off the sheet or taken."""
    placed: list[list[int]] = []
    for name in names:
        x, y = where[name]
        if not (0 <= x <= 1 and 0 <= y <= 1):
            raise ValueError(f"positions puts {name!r} at {(x, y)}, outside [0, 1]")
        spot = [round(EDGE + x * (WIDTH - 2 * EDGE)), round(36 + y * (HEIGHT - 116))]
        if spot in placed:
            raise ValueError(f"positions puts {name!r} upon another node")
        placed.append(spot)
    return placed
