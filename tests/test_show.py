"""Tables, passages and claims: what a page shows, and what it refuses to show."""

import math
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit
from ragkit.show import Table, claim, passages, table


class Interval(NamedTuple):
    mean: float
    low: float
    high: float
    n: int


HALF = Interval(0.62, 0.51, 0.73, 25)


def html(shown: object) -> BeautifulSoup:
    return BeautifulSoup(shown._repr_html_(), "html.parser")  # type: ignore[attr-defined]


def cells(shown: Table) -> list[list[str]]:
    return [[c.get_text() for c in row.find_all(["th", "td"])] for row in html(shown).select("tbody tr")]


def test_a_table_has_caption_scopes_and_provenance() -> None:
    tree = html(table([{"system": "BM25", "recall@5": HALF}], caption="Recall at 5"))
    assert tree.caption is not None
    assert tree.caption.get_text() == "Recall at 5"
    assert [th["scope"] for th in tree.find_all("th")] == ["col", "col", "row"]
    assert tree.select_one(".rk-badge.rk-computed") is not None
    # a box that scrolls has to be reachable by keyboard and to have a name
    box = tree.select_one(".rk-scroll")
    assert box is not None
    assert (box["tabindex"], box["aria-label"]) == ("0", "Recall at 5")


def test_an_interval_reads_mean_and_bounds() -> None:
    assert cells(table([{"system": "BM25", "recall@5": HALF}])) == [["BM25", "0.62 [0.51, 0.73]"]]
    assert "0.62 [0.51, 0.73]" in repr(table([{"system": "BM25", "recall@5": HALF}]))


def test_the_intervals_of_ragkit_metrics_are_recognised() -> None:
    metrics = pytest.importorskip("ragkit.metrics")
    shown = table([{"s": "a", "x": metrics.Interval(0.5, 0.25, 0.75, 4)}])
    assert cells(shown) == [["a", "0.50 [0.25, 0.75]"]]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567, "1,234,567"),
        (0.5, "0.50"),
        (np.float32(0.25), "0.25"),
        (np.int64(7), "7"),
        (0.0164, "0.0164"),
        (12345.6, "12,346"),
        (True, "yes"),
        (np.bool_(False), "no"),
        (None, "–"),
        (math.nan, "–"),
        (Interval(math.nan, math.nan, math.nan, 0), "–"),
        ("BM25", "BM25"),
    ],
)
def test_each_kind_of_value_has_one_form(value: object, text: str) -> None:
    assert cells(table((["name", "value"], [["row", value]]))) == [["row", text]]


def test_the_floats_of_a_column_share_their_decimals_unless_told() -> None:
    rows = [{"id": "a", "score": 0.0163, "t": 0.5}, {"id": "b", "score": 0.03252, "t": 100.0}]
    assert [row[1:] for row in cells(table(rows))] == [["0.0163", "0.50"], ["0.0325", "100.00"]]
    assert [row[1] for row in cells(table(rows, formats={"score": ".5f"}))] == ["0.01630", "0.03252"]


def test_columns_come_in_order_of_first_appearance_and_gaps_are_shown() -> None:
    shown = table([{"a": 1, "b": 2}, {"a": 3, "c": 4}])
    assert shown.header == ("a", "b", "c")
    assert cells(shown) == [["1", "2", "–"], ["3", "–", "4"]]


def test_an_empty_table_with_a_header_is_fine_and_one_without_is_refused() -> None:
    assert cells(table((["a", "b"], []))) == []
    assert "a" in repr(table((["a"], [])))
    with pytest.raises(ValueError, match="rows"):
        table([])


def test_bad_rows_are_named() -> None:
    with pytest.raises(ValueError, match="has 1 cells, the header has 2"):
        table((["a", "b"], [["only"]]))
    with pytest.raises(ValueError, match="rows must be dicts"):
        table([["a", "b"]])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="formats names the column 'x'"):
        table([{"a": 1}], formats={"x": ".1f"})


def test_a_replayed_table_says_who_answered_and_when() -> None:
    shown = table([{"a": 1}], source="replayed", answered=["hand", "135M"], date="2026-11-29", note="dev split")
    line = html(shown).select_one(".rk-source")
    assert line is not None
    for word in ("replayed", "hand", "135M", "2026-11-29", "dev split"):
        assert word in line.get_text()
    for missing in ({"answered": "hand"}, {"date": "2026-11-29"}, {}):
        with pytest.raises(ValueError, match="answered and date"):
            table([{"a": 1}], source="replayed", **missing)  # type: ignore[arg-type]


def test_a_cited_table_names_its_source_and_unknown_words_are_refused() -> None:
    assert "Gao et al. 2023" in repr(table([{"a": 1}], source="cited", note="Gao et al. 2023, table 1"))
    with pytest.raises(ValueError, match="note"):
        table([{"a": 1}], source="cited")
    with pytest.raises(ValueError, match="source must be"):
        table([{"a": 1}], source="guessed")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="answered must be one of hand, 135M, hosted"):
        table([{"a": 1}], answered="GPT")


@given(st.text(max_size=40))
@settings(max_examples=50, deadline=None)
def test_whatever_a_cell_holds_the_markup_stays_ours(text: str) -> None:
    hostile = f'<script>alert("x")</script>{text}</td><img src=x onerror=y>'
    for shown in (
        table([{hostile: hostile, "n": 1}], caption=hostile, note=hostile),
        passages([Hit(hostile, hostile, 1.0)], relevant={hostile, hostile + "2"}, width=400),
    ):
        tree = html(shown)
        assert tree.find("script") is None
        assert tree.find("img") is None


def test_passages_mark_gold_in_words_and_name_what_is_missing() -> None:
    hits = [Hit("p1", "Holds 1.7 litres.", 2.0), Hit("p2", "Red or blue.", 1.0)]
    shown = passages(hits, relevant={"p2": 3, "p9": 1})
    items = html(shown).find_all("li")
    assert ["gold" in item.get_text() for item in items] == [False, True]
    assert "p9" in html(shown).get_text()
    assert "Gold passages not retrieved: p9." in repr(shown)
    assert "Every gold passage" in repr(passages(hits, relevant=["p1"]))


def test_passages_without_labels_or_hits() -> None:
    assert "old" not in repr(passages([Hit("p1", "Red.", 1.0)]))
    assert "Nothing was retrieved" in html(passages([])).get_text()
    assert "Gold passages not retrieved: p1." in repr(passages([], relevant=["p1"]))
    with pytest.raises(ValueError, match="width"):
        passages([], width=0)


@given(st.text(min_size=1, max_size=80), st.integers(1, 40))
@settings(max_examples=50, deadline=None)
def test_a_shown_passage_is_one_line_of_the_asked_width(text: str, width: int) -> None:
    shown = passages([Hit("p", text, 1.0)], width=width).hits[0][-1]
    assert len(shown) <= width
    assert len(shown.splitlines()) <= 1
    if len(" ".join(text.split())) <= width:
        assert shown == " ".join(text.split())


def test_a_claim_inside_its_band_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    for value in (0.5, 0.4, 0.6, np.float64(0.5), HALF._replace(mean=0.5)):
        assert claim("recall", value, 0.4, 0.6) is None  # type: ignore[func-returns-value]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("value", [0.39, 0.61, math.nan, math.inf, HALF._replace(mean=0.7)])
def test_a_claim_outside_its_band_fails_by_name(value: object) -> None:
    with pytest.raises(AssertionError, match="hybrid-recall"):
        claim("hybrid-recall", value, 0.4, 0.6)


@pytest.mark.parametrize("band", [(0.6, 0.4), (math.nan, 1.0), (0.0, math.nan)])
def test_a_band_that_could_never_or_always_hold_is_refused(band: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="recall"):
        claim("recall", 0.5, *band)


def test_importing_show_draws_in_neither_matplotlib_nor_ipython() -> None:
    code = "import ragkit.show, sys; print([m for m in ('matplotlib', 'IPython', 'networkx') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
