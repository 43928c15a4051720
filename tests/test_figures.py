"""Charts: what is drawn is what was given, the same file each time, and told apart without colour."""

import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple
from xml.etree.ElementTree import fromstring

import matplotlib as mpl
import networkx as nx
import pytest

from ragkit.figures import COLOURS, DASHES, HATCHES, MARKERS, Chart, bars, heatmap, lines, network, node_link, scatter


class Interval(NamedTuple):
    mean: float
    low: float
    high: float


HALF = Interval(0.5, 0.4, 0.6)
EDGES = [("a", "b"), ("b", "c")]
CHARTS: dict[str, Callable[[], Chart]] = {
    "bars": lambda: bars({"BM25": HALF, "dense": 0.25}, label="recall@5"),
    "grouped": lambda: bars({"codes": {"BM25": HALF, "dense": 0.25}, "gaps": {"dense": 0.75}}, label="recall@5"),
    "lines": lambda: lines({"BM25": [(1, HALF), (5, 0.75)], "dense": [(1, 0.2), (5, 0.3)]}, "k", "recall@k"),
    "scatter": lambda: scatter(
        {"BM25": (1, 0.5), "HyDE": (900, 0.75)}, "ms", "recall@5", {"HyDE": "model"}, log_x=True
    ),
    "network": lambda: network(EDGES, communities=[{"a"}, {"b", "c"}]),
    "directed": lambda: network({("a", "b"): 2.0, ("b", "a"): 1.0}, directed=True, sizes={"a": 0.7, "b": 0.3}),
    "heatmap": lambda: heatmap(["BM25"], ["codes", "gaps"], [[0.9, None]], label="recall@5"),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_one_svg_drawn_alike_each_time(name: str) -> None:
    chart = CHARTS[name]()
    assert chart.svg.count("<svg ") == 1
    assert chart._repr_svg_() == CHARTS[name]().svg
    assert not re.search(r"(?:href|src|url\()=?[\"']?https?:", chart.svg)


def test_drawing_leaves_the_global_state_alone() -> None:
    before = dict(mpl.rcParams)
    CHARTS["bars"]()
    assert dict(mpl.rcParams) == before


def test_every_chart_tells_its_numbers_in_words() -> None:
    assert repr(CHARTS["bars"]()) == "recall@5:\nBM25: 0.50 [0.40, 0.60]\ndense: 0.25"
    assert "codes, BM25: 0.50 [0.40, 0.60]" in repr(CHARTS["grouped"]())
    assert "BM25 at 5: 0.75" in repr(CHARTS["lines"]())
    assert "HyDE: (900, 0.75)" in repr(CHARTS["scatter"]())
    assert "BM25, codes: 0.90" in repr(CHARTS["heatmap"]())
    assert "gaps" not in repr(CHARTS["heatmap"]())


def test_an_undirected_graph_claims_no_directions() -> None:
    """Published pages print undirected graphs with arrows."""
    assert "a – b: 1" in repr(network(EDGES))
    assert "→" not in repr(network(EDGES))
    assert "a → b: 2" in repr(CHARTS["directed"]())
    # an arrow head is a filled path beyond the shaft: the directed drawing of the same edges has more paths
    plain, arrows = network(EDGES).svg, network(EDGES, directed=True).svg
    assert arrows.count("<path") > plain.count("<path")


def test_a_graph_is_drawn_the_same_whatever_the_order_of_its_sets() -> None:
    """Names are hashed anew in each process, so two processes go through a set in two orders."""
    many = [(f"n{i}", f"n{(i + 1) % 9}") for i in range(9)] + [("x", "y"), ("y", "z")]
    code = f"from ragkit.figures import network; print(network({many}).svg)"
    drawn = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert drawn[0] == drawn[1] != ""


def test_parts_without_a_link_between_them_stand_side_by_side() -> None:
    """The larger on the left, each from top to bottom of the page, no node of one among those of the other."""
    graph = nx.Graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("x", "y"), ("y", "z"), ("z", "x")])
    graph.add_node("alone")
    where = node_link._islands(graph)
    large, small = [where[n] for n in "abcd"], [where[n] for n in "xyz"]
    assert max(x for x, _ in large) < min(x for x, _ in small)
    assert max(x for x, _ in small) < where["alone"][0]
    for part in (large, small):
        assert (min(y for _, y in part), max(y for _, y in part)) == (0, 1)
        assert len({(round(x, 3), round(y, 3)) for x, y in part}) == len(part)


def test_distances_follow_the_number_of_links() -> None:
    """On a path of seven nodes each is nearest to its neighbours, and the ends are furthest apart."""
    where = node_link._islands(nx.path_graph([f"n{i}" for i in range(7)]))
    apart = {(i, j): math.dist(where[f"n{i}"], where[f"n{j}"]) for i in range(7) for j in range(i)}
    assert max(apart, key=lambda pair: apart[pair]) == (6, 0)
    for i in range(7):
        nearest = min((j for j in range(7) if j != i), key=lambda j: apart[max(i, j), min(i, j)])
        assert abs(nearest - i) == 1


def test_each_series_has_its_own_marker_dash_and_hatch_beside_its_colour() -> None:
    assert len({len(COLOURS), len(MARKERS), len(DASHES), len(HATCHES)}) == 1
    for choices in (COLOURS, MARKERS, DASHES, HATCHES):
        assert len(set(choices)) == len(choices)


@pytest.mark.parametrize(
    ("draw", "argument"),
    [
        (lambda: bars({}), "values"),
        (lambda: bars({"group": {}}), "values"),
        (lambda: lines({}), "series"),
        (lambda: lines({"a": []}), "series"),
        (lambda: scatter({}), "points"),
        (lambda: scatter({"a": (1, 2)}, labelled=["b"]), "labelled"),
        (lambda: network([]), "edges"),
        (lambda: heatmap(["a"], ["b", "c"], [[1.0]]), "values"),
        (lambda: heatmap(["a"], ["b"], [[1.0]], limits=(1.0, 0.0)), "limits"),
    ],
)
def test_nothing_to_draw_is_said_by_the_name_of_the_argument(draw: Callable[[], Chart], argument: str) -> None:
    with pytest.raises(ValueError, match=f"^{argument}"):
        draw()


@pytest.mark.parametrize("name", ["<b>&\"'", "a--b", "Zoë", "a_b^c"])
def test_labels_are_text_and_never_markup(name: str) -> None:
    fromstring(bars({name: 0.5}).svg)
    fromstring(scatter({name: (1, 2)}).svg)


def test_only_the_points_that_are_labelled_have_their_names_drawn() -> None:
    points = {"kettle": (1.0, 2.0), "earbuds": (3.0, 4.0)}

    def outlines(**how: object) -> int:
        """A name is drawn as outlines, with a white one around it."""
        return scatter(points, **how).svg.count("<path")

    assert outlines() - outlines(labelled=["kettle"]) == outlines(labelled=["kettle"]) - outlines(labelled=()) > 0
    assert "earbuds: (3, 4)" in repr(scatter(points, labelled=())), "in words every point is there"


def test_dollars_are_money() -> None:
    """Between two dollar signs matplotlib sees a formula; a price list has many."""

    def letters(label: str) -> int:
        return bars({label: 0.5}).svg.count("<use xlink:href=")

    assert letters("from $3 to $5") == letters("from €3 to €5")
