"""Charts: what is drawn is what was given, the same file each time, and told apart without colour."""

import re
from collections.abc import Callable
from typing import NamedTuple
from xml.etree.ElementTree import fromstring

import matplotlib as mpl
import pytest

from ragkit.figures import COLOURS, DASHES, HATCHES, MARKERS, Chart, bars, heatmap, lines, network, scatter


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


def test_the_layout_depends_on_the_seed_alone() -> None:
    many = [(str(i), str((i + 1) % 6)) for i in range(6)]
    assert network(many, seed=1).svg == network(many, seed=1).svg
    assert network(many, seed=1).svg != network(many, seed=2).svg


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
