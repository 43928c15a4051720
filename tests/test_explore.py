"""The explorers in Python: what they compute against the package and by hand, what they refuse, and live widgets."""

import json
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import networkx as nx
import numpy as np
import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragkit.base import Hit
from ragkit.explore import Explorer, cache_explorer, cost_explorer, fusion_explorer, walk_explorer
from ragkit.explore.explorer import control
from ragkit.explore.markup import fixed, grid
from ragkit.search import reciprocal_rank_fusion, weighted_fusion_by_id
from ragkit.systems import audit
from ragkit.systems.cost import Prices, caching_pays_from, compare, crossover, prefix_price

FEW = settings(max_examples=50, deadline=None)

KEYWORD = [Hit("notes", "n", 9.0), Hit("listing", "l", 5.0), Hit("ticket", "t", 1.0)]
VECTOR = [Hit("listing", "l", 0.8), Hit("remarks", "r", 0.6), Hit("notes", "n", 0.5)]
ROW = [("kettle", "maker"), ("maker", "founder"), ("founder", "town")]
PAIRS = [
    ("How long is the warranty?", "What is the length of the warranty?", True),
    ("Where is order 12345?", "Where is order 12346?", False),
    ("Is the red kettle dear?", "Is the blue kettle dear?", False),
]


def turned(texts: list[str]) -> NDArray[np.float32]:
    """Vectors that hang on the texts alone, some close to each other."""
    angles = [0.3 * (len(text) % 7) for text in texts]
    return np.array([[math.cos(a), math.sin(a)] for a in angles], dtype=np.float32)


def every() -> dict[str, Explorer]:
    """One explorer of each kind, small, and fit for a page."""
    return {
        "fusion": fusion_explorer({"keyword": KEYWORD, "vector": VECTOR}, {"notes": 3}),
        "walk": walk_explorer(ROW, "kettle"),
        "cost": cost_explorer(),
        "cache": cache_explorer(PAIRS, turned, names=["red", "blue"]),
    }


# Fusion


def test_the_hand_worked_fusion_of_the_chapter_is_what_the_explorer_shows() -> None:
    result = fusion_explorer({"keyword": KEYWORD, "vector": VECTOR}).result()
    assert [(an_id, round(score, 5)) for an_id, score, _ in result["by_rank"]] == [
        ("listing", 0.03252),
        ("notes", 0.03227),
        ("remarks", 0.01613),
        ("ticket", 0.01587),
    ]
    assert result["ranks"] == {"listing": [2, 1], "notes": [1, 3], "remarks": [None, 2], "ticket": [3, None]}
    assert result["shared"] == 2


hits = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.floats(-3, 30)), max_size=8, unique_by=lambda pair: pair[0]
).map(lambda found: [Hit(an_id, an_id, score) for an_id, score in found])


@FEW
@given(st.lists(hits.filter(len), min_size=2, max_size=3), st.integers(0, 200), st.integers(0, 20), st.integers(1, 8))
def test_fusion_gives_the_scores_of_the_package_and_parts_that_add_up(
    rankings: list[list[Hit]], kappa: int, twentieth: int, depth: int
) -> None:
    depth = min(depth, max(map(len, rankings)))
    named = dict(zip(("one", "two", "three"), rankings, strict=False))
    result = fusion_explorer(named, kappa=kappa, weight=twentieth / 20, depth=depth).result()
    cut = [found[:depth] for found in rankings]
    wanted = reciprocal_rank_fusion([[hit.id for hit in found] for found in cut], kappa)
    assert [(an_id, score) for an_id, score, _ in result["by_rank"]] == wanted
    scores = [{hit.id: hit.score for hit in found} for found in cut]
    assert [row[:2] for row in result["by_score"]] == [
        list(pair) for pair in weighted_fusion_by_id(scores[0], scores[1], twentieth / 20)
    ]
    for _, score, parts in result["by_rank"] + result["by_score"]:
        assert sum(parts) == pytest.approx(score, abs=1e-12)


def test_a_third_ranking_can_be_left_out_again() -> None:
    explorer = fusion_explorer({"keyword": KEYWORD, "vector": VECTOR, "again": KEYWORD})
    two = fusion_explorer({"keyword": KEYWORD, "vector": VECTOR})
    assert explorer.result(third=False)["by_rank"] == two.result()["by_rank"]
    assert len(explorer.result()["by_rank"][0][2]) == 3
    assert "third" not in two.state()


def test_gold_passages_are_shown_wherever_they_stand() -> None:
    long = [Hit(f"p{i}", "", 50.0 - i) for i in range(30)]
    page = fusion_explorer({"one": long, "two": long[:3]}, {"p29": 1}, rows=4).html()
    gold = BeautifulSoup(page, "html.parser").select("tr.rk-gold")
    assert [row.th.get_text() for row in gold if row.th] == ["30. p29 gold", "30. p29 gold"]
    assert "Gold passage p29: place 30 by rank, place 30 by score." in page


# The walk


def test_the_walk_of_the_chapter_settles_at_fifteenths() -> None:
    explorer = walk_explorer(ROW, "kettle")
    assert explorer.result(step=3)["mass"] == [0.5, 0.25, 0.125, 0.125]
    assert explorer.result(step=4)["mass"] == [0.5625, 0.25, 0.125, 0.0625]
    assert np.allclose(np.array(explorer.result()["settled"]) * 15, [8, 4, 2, 1])
    assert explorer.result()["dangling"] == [False, False, False, True]


def test_mass_that_a_dead_end_does_not_give_back_is_lost() -> None:
    explorer = walk_explorer(ROW, "kettle")
    assert explorer.result(step=4, back=False)["sum"] == 0.9375
    lost = explorer.result(step=40, back=False)
    assert np.allclose(lost["settled"], [0.5, 0.25, 0.125, 0.0625])
    assert np.allclose(lost["mass"], lost["settled"], atol=1e-9)


nodes = "abcdefgh"
graphs = st.lists(st.tuples(st.sampled_from(nodes), st.sampled_from(nodes)).filter(lambda e: e[0] != e[1]), min_size=2)


@FEW
@given(graphs, st.integers(1, 20), st.booleans(), st.integers(0, 40))
def test_mass_sums_to_one_and_settles_where_networkx_says(
    edges: list[tuple[str, str]], twentieth: int, both: bool, step: int
) -> None:
    restart, seed = twentieth / 20, edges[0][0]
    where = {name: (i / 10, (i % 3) / 3) for i, name in enumerate(nodes)}
    explorer = walk_explorer(edges, seed, restart=restart, positions=where)
    result = explorer.result(both=both, step=step)
    assert result["sum"] == pytest.approx(1, abs=1e-12)
    graph: Any = nx.DiGraph()
    for a, b in edges + ([(b, a) for a, b in edges] if both else []):
        graph.add_edge(a, b, weight=graph.get_edge_data(a, b, {"weight": 0})["weight"] + 1)
    wanted = nx.pagerank(graph, alpha=1 - restart, personalization={seed: 1}, tol=1e-13, max_iter=5000)
    assert result["settled"] == pytest.approx([wanted[name] for name in explorer.data["names"]], abs=1e-9)


def test_an_undirected_drawing_shows_no_arrow() -> None:
    assert "rk-head" in walk_explorer(ROW, "kettle").html()
    assert "rk-head" not in walk_explorer(ROW, "kettle", both=True).html()


# Cost


def test_half_a_million_tokens_at_a_dollar_a_million() -> None:
    result = cost_explorer().result()
    assert result["each"] == pytest.approx([0.5, 0.05, 0.005])
    assert result["daily"] == pytest.approx([1000, 100, 10])
    assert result["times"] == pytest.approx([100, 10, 1])
    assert result["fits"]


@FEW
@given(st.sampled_from([1000, 70_000, 3_000_000]), st.sampled_from([500, 20_000]), st.floats(0.01, 50))
def test_cost_is_that_of_the_cost_model(corpus: int, retrieved: int, price: float) -> None:
    one = compare(1, corpus, 1, retrieved, prices=Prices(price), queries_per_day=500)
    result = cost_explorer(corpus, retrieved, price, questions=500).result()
    assert result["each"] == pytest.approx([one.long, one.long_cached, one.retrieved])
    assert result["daily"][0] == pytest.approx(one.long_daily)
    assert result["times"][:2] == pytest.approx([one.ratio, one.cached_ratio])
    assert result["fits"] == one.fits


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_at_the_crossover_both_ways_cost_the_same(share: float) -> None:
    tokens = cost_explorer(share=share, retrieved=20_000).result()["same_as_retrieval"]
    there = cost_explorer(round(tokens), 20_000, share=share).result()["each"]
    assert there[1] == pytest.approx(there[2], rel=1e-4)


@pytest.mark.parametrize("questions", [1, 2, 4, 10, 20])
def test_the_crossover_is_that_of_the_cost_model(questions: int) -> None:
    explorer = cost_explorer(share=(questions - 1) / questions)
    wanted = crossover(5000, prices=Prices(1.0), questions=questions)
    assert explorer.result()["same_as_retrieval"] == pytest.approx(wanted)


def test_ten_questions_of_which_nine_find_the_prefix_cost_what_the_cost_model_says() -> None:
    explorer = cost_explorer(share=0.9, questions=10)
    assert explorer.result()["daily"][1] == pytest.approx(prefix_price(500_000, 10, prices=Prices(1.0)))
    # the second use pays: half of two questions find the prefix, and that is more than the share shown
    assert caching_pays_from(Prices(1.0)) == 2
    assert 0 < explorer.result()["pays_from"] < 0.5
    shares = {share: explorer.result(share=share)["each"] for share in (0.2, 0.25)}
    assert shares[0.2][1] > shares[0.2][0]
    assert shares[0.25][1] < shares[0.25][0]


# The cache


@FEW
@given(st.lists(st.sampled_from(PAIRS), min_size=1, max_size=6), st.integers(30, 100), st.booleans())
def test_the_cache_counts_what_the_audit_counts(pairs: list[Any], hundredth: int, gate: bool) -> None:
    threshold, names = hundredth / 100, ["red", "blue"]
    result = cache_explorer(pairs, turned, names=names).result(threshold=threshold, gate=gate)
    report = audit(pairs, threshold, turned, guard=gate, names=names)
    assert [result[name] for name in ("hits", "false_hits", "missed", "refused")] == list(report)
    assert np.sum(result["bins"]) == len(pairs)


def test_the_second_gate_says_why_it_refused() -> None:
    same = cache_explorer(PAIRS, lambda texts: np.ones((len(texts), 2), dtype=np.float32), names=["red", "blue"])
    alone, both = same.result(threshold=1.0), same.result(threshold=1.0, gate=True)
    assert (alone["hits"], alone["false_hits"]) == (1, 2)
    assert (both["hits"], both["false_hits"]) == (1, 0)
    assert both["reasons"] == {"identifier": 1, "name": 1}


def test_the_misjudged_pairs_that_are_shown_are_the_closest() -> None:
    explorer = cache_explorer(PAIRS, turned)
    cosines = [pair[2] for pair in explorer.data["pairs"]]
    result = explorer.result(threshold=0.3)
    wrong = [i for i in (1, 2) if cosines[i] >= 0.3]
    assert result["false_hit"] == max(wrong, key=lambda i: cosines[i], default=-1)


# Bad input


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: fusion_explorer({"one": KEYWORD}), "rankings"),
    (lambda: fusion_explorer(dict.fromkeys("abcd", KEYWORD)), "rankings"),
    (lambda: fusion_explorer({"one": [], "two": [], "three": KEYWORD}), "rankings"),
    (lambda: fusion_explorer({"one": KEYWORD + KEYWORD, "two": VECTOR}), r"rankings\['one'\]"),
    (lambda: fusion_explorer({"one": KEYWORD, "two": VECTOR}, kappa=-1), "kappa"),
    (lambda: fusion_explorer({"one": KEYWORD, "two": VECTOR}, weight=1.5), "weight"),
    (lambda: fusion_explorer({"one": KEYWORD, "two": VECTOR}, depth=4), "depth"),
    (lambda: fusion_explorer({"one": KEYWORD, "two": VECTOR}, rows=0), "rows"),
    (lambda: fusion_explorer({"one": KEYWORD, "two": VECTOR}, source="replayed"), "answered and date"),
    (lambda: walk_explorer([], "a"), "edges"),
    (lambda: walk_explorer([("a", "a"), ("a", "b")], "a"), "edges holds a loop at 'a'"),
    (lambda: walk_explorer({("a", "b"): -1.0}, "a"), "edges holds a weight"),
    (lambda: walk_explorer([(str(i), str(i + 1)) for i in range(12)], "1"), "edges must join 2 to 12"),
    (lambda: walk_explorer(ROW, "pond"), "seed"),
    (lambda: walk_explorer(ROW, "kettle", restart=0.0), "restart"),
    (lambda: walk_explorer(ROW, "kettle", step=99), "step"),
    (lambda: walk_explorer(ROW, "kettle", positions={"kettle": (0, 0)}), "positions lacks the node 'maker'"),
    (lambda: walk_explorer(ROW, "kettle", positions=dict.fromkeys(nodes_of(ROW), (2, 0))), "positions puts"),
    (lambda: walk_explorer(ROW, "kettle", positions=dict.fromkeys(nodes_of(ROW), (0, 0))), "upon another"),
    (lambda: cost_explorer(0), "corpus"),
    (lambda: cost_explorer(10), "corpus"),
    (lambda: cost_explorer(retrieved=0), "retrieved"),
    (lambda: cost_explorer(price=math.nan), "price"),
    (lambda: cost_explorer(share=1.1), "share"),
    (lambda: cost_explorer(questions=0), "questions"),
    (lambda: cost_explorer(window=5), "window"),
    (lambda: cost_explorer(read=0), "read"),
    (lambda: cost_explorer(write=0.5), "write"),
    (lambda: cache_explorer([], turned), "pairs"),
    (lambda: cache_explorer([("a", " ", True)], turned), "pairs holds a blank"),
    (lambda: cache_explorer(PAIRS, lambda texts: np.zeros((len(texts), 2), dtype=np.float32)), "embed"),
    (lambda: cache_explorer(PAIRS, turned, threshold=0.1), "threshold"),
    (lambda: cost_explorer().result(size=3), "size is no control"),
    (lambda: cost_explorer().result(share=0.123), "share must be one of"),
    (lambda: control("speed", "Speed", "slider", [1, 2], 3), "speed must be one of 1, 2"),
]


def nodes_of(edges: Sequence[tuple[str, str]]) -> list[str]:
    return sorted({end for edge in edges for end in edge})


@pytest.mark.parametrize(("call", "named"), BAD, ids=[name for _, name in BAD])
def test_bad_input_is_refused_by_name(call: Callable[[], Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        call()


# How it is shown


@pytest.mark.parametrize("kind", ["fusion", "walk", "cost", "cache"])
def test_a_page_gets_markup_that_a_reader_without_scripts_can_read(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGKIT_BOOK", "1")
    bundle = every()[kind]._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    root = BeautifulSoup(bundle["text/html"], "html.parser").select_one(".rk-explorer")
    assert root is not None
    assert root["role"] == "group"
    assert root["aria-label"]
    assert root.select_one("output[aria-live=polite]") is not None
    assert root.select("table caption")
    assert not root.select("script, input, button, [id]")  # nothing that does nothing, and no id that is there twice
    assert all(svg.get("aria-label") or svg.get("aria-hidden") for svg in root.find_all("svg"))
    inputs = json.loads(str(root["data-input"]))
    explorer = every()[kind]
    assert inputs["data"] == json.loads(json.dumps(explorer.data))
    assert [each["name"] for each in inputs["controls"]] == list(explorer.state())
    assert len(bundle["text/html"]) < 20_000


def test_text_from_outside_is_data_and_never_markup() -> None:
    bad = '<img src=x onerror="alert(1)">'
    shown = [
        fusion_explorer({bad: [Hit(bad, bad, 1.0)], "two": VECTOR}, [bad], title=bad).html(),
        walk_explorer([(bad, "b")], bad, title=bad).html(),
        cache_explorer([(bad, f"{bad}?", False)], turned, threshold=0.3, title=bad).html(),
    ]
    assert all(not BeautifulSoup(page, "html.parser").find("img") for page in shown)


def live(explorer: Explorer) -> tuple[dict[str, Any], Callable[[], str]]:
    """The widgets by the words beside them, and what their last texts say."""
    box = explorer.widget()
    found: dict[str, Any] = {}
    texts: list[Any] = []

    def walk(part: Any) -> None:
        for child in getattr(part, "children", ()):
            walk(child)
        if getattr(part, "description", ""):
            found[part.description] = part
        elif hasattr(part, "value"):
            texts.append(part)

    walk(box)
    return found, lambda: " ".join(part.value for part in texts)


def test_a_notebook_gets_widgets_and_the_page_for_viewers_that_know_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAGKIT_BOOK", raising=False)
    bundle = every()["cost"]._repr_mimebundle_()
    assert {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"} == set(bundle)
    assert "Cheapest a question: retrieved passages" in bundle["text/plain"]
    assert os.environ.get("RAGKIT_BOOK") is None


def test_live_fusion_follows_its_sliders() -> None:
    parts, text = live(every()["fusion"])
    parts["Constant κ of rank fusion"].value = 0
    assert "κ = 0" in text()
    assert fixed(1 / 1 + 1 / 3, 5) in text()
    parts["Weight w of keyword"].value = 1.0
    assert "w = 1.00 for keyword" in text()
    assert "place 1 by score" in text()
    parts["Passages taken from each"].value = 1
    assert "Passages in more than one ranking: 0." in text()


def test_the_live_walk_steps_forth_and_back_and_stops_at_the_ends() -> None:
    parts, text = live(every()["walk"])
    parts["Step back"].click()
    assert "Step 0: the mass sums to 1.0000" in text()
    for _ in range(4):
        parts["Step on"].click()
    assert "Step 4" in text()
    assert "0.5625" in text()
    parts["Step back"].click()
    assert "Step 3" in text()
    parts["Mass of dead ends goes back to the seed"].value = False
    parts["Step on"].click()
    assert "the mass sums to 0.9375" in text()
    parts["Step"].value = 40
    parts["Step on"].click()
    assert "Step 40" in text()
    parts["Seed"].value = "town"
    parts["Walk the edges both ways"].value = True
    assert "town (seed)" in text()
    assert "dead end)" not in text()


def test_live_cost_and_cache_follow_their_sliders() -> None:
    parts, text = live(every()["cost"])
    parts["Tokens of the corpus"].value = 1000
    assert "Cheapest a question: long context, cached prefix" in text()
    parts["Context window"].value = 32_000
    parts["Tokens of the corpus"].value = 10_000_000
    assert "does not fit" in text()
    parts, text = live(cache_explorer(PAIRS, lambda texts: np.ones((len(texts), 2), dtype=np.float32)))
    assert "2 of 2 changed questions wrongly (100%)" in text()
    parts["Second gate: identifiers, numbers, names, negation"].value = True
    assert "1 of 2 changed questions wrongly (50%)" in text()  # colours are no names here


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_decimals_round_halves_away_from_zero(value: float, digits: int) -> None:
    text = fixed(value, digits)
    assert abs(float(text) - value) <= 0.5 * 10**-digits + 1e-9
    assert not (text.startswith("-") and float(text) == 0)


def test_a_table_without_rows_is_still_a_table() -> None:
    assert "<tbody></tbody>" in grid("Nothing", [("a", False)], [])
