"""Orders of passages in a prompt: the contract played out, the libraries' parity, dates and reading order."""

from collections import deque
from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit
from ragkit.systems import edge_weighted_order, parity_reorder, reading_order, recency_order, recency_scores


def naive_edges(chunks_with_scores):
    """Place rank after rank into the free slot nearest the front, then nearest the back, and so on."""
    slots = [None] * len(chunks_with_scores)
    front, back = 0, len(slots) - 1
    rest = list(enumerate(chunks_with_scores))
    for rank in range(1, len(slots) + 1):
        best = max(rest, key=lambda item: (item[1][1], -item[0]))
        rest.remove(best)
        if rank % 2:
            slots[front], front = best[1][0], front + 1
        else:
            slots[back], back = best[1][0], back - 1
    return slots


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-2, 2).map(float)), max_size=9))
def test_edge_weighted_order_equals_its_contract(pairs):
    before = list(pairs)
    assert edge_weighted_order(pairs) == naive_edges(pairs)
    assert pairs == before


@pytest.mark.parametrize("n", range(1, 12))
def test_the_best_is_first_and_the_second_best_last_whatever_the_parity(n):
    order = edge_weighted_order([(rank, -rank) for rank in range(n, 0, -1)])
    assert order[0] == 1
    assert order[-1] == min(n, 2)


def test_input_need_not_be_sorted_and_equal_chunks_all_appear():
    assert edge_weighted_order([("x", 0.1), ("x", 0.3), ("y", 0.2)]) == ["x", "x", "y"]
    assert edge_weighted_order([]) == []
    with pytest.raises(ValueError, match="not a number"):
        edge_weighted_order([("x", float("nan"))])


def test_where_the_libraries_put_the_best_depends_on_parity():
    assert parity_reorder([1, 2, 3, 4, 5]) == [1, 3, 5, 4, 2]
    assert parity_reorder([1, 2, 3, 4]) == [2, 4, 3, 1]
    assert parity_reorder(list(range(1, 11))) == [2, 4, 6, 8, 10, 9, 7, 5, 3, 1]
    assert parity_reorder([]) == []


@pytest.mark.parametrize("n", range(12))
def test_parity_reorder_equals_putting_the_weakest_in_front_and_behind_in_turn(n):
    played: deque[int] = deque()
    for turn, rank in enumerate(range(n, 0, -1)):
        (played.append if turn % 2 else played.appendleft)(rank)
    assert parity_reorder(list(range(1, n + 1))) == list(played)


@pytest.mark.parametrize("n", range(1, 12))
def test_for_odd_lengths_both_orders_are_one_and_for_even_ones_mirrored(n):
    ours = edge_weighted_order([(rank, -rank) for rank in range(1, n + 1)])
    theirs = parity_reorder(list(range(1, n + 1)))
    assert theirs == (ours if n % 2 else ours[::-1])


def test_recency_puts_the_newest_first_the_undated_last_and_keeps_ties():
    chunks = [("old", "2020-01-31"), ("?", None), ("b", date(2026, 3, 1)), ("c", "2026-03-01T10:00:00"), ("", "")]
    assert recency_order(chunks) == ["b", "c", "old", "?", ""]
    assert recency_order([("x", datetime(2026, 1, 1)), ("y", "2026-01-02")]) == ["y", "x"]
    with pytest.raises(ValueError, match="ISO 8601"):
        recency_order([("x", "3 May 2024")])


def test_recency_scores_halve_with_age_and_treat_the_undated_as_the_oldest():
    scores = recency_scores([1, 1, 1, 1], ["2026-03-02", "2026-03-01", "2026-02-19", None], "2026-03-01", 10)
    assert scores == [1, 1, 0.5, 0.5]
    assert recency_scores([0.9, 0.2], ["2026-01-01", "2026-03-01"], "2026-03-01", 365)[0] > 0.2
    assert recency_scores([], [], "2026-03-01", 10) == []


@pytest.mark.parametrize(
    ("args", "name"),
    [
        (([1.0], [None], "2026-01-01", 0), "half_life_days"),
        (([1.0], [], "2026-01-01", 1), "not aligned"),
        (([-1.0], [None], "2026-01-01", 1), "scores"),
        (([1.0], [None], "", 1), "today"),
    ],
)
def test_recency_scores_name_what_is_wrong(args, name):
    with pytest.raises(ValueError, match=name):
        recency_scores(*args)


def test_reading_order_groups_by_document_best_hit_first():
    hits = [Hit(i, i, 1.0) for i in ("b2", "a3", "loose", "b1", "a1")]
    place = {i: (i[0], int(i[1])) for i in ("a1", "a3", "b1", "b2")}
    assert [hit.id for hit in reading_order(hits, place)] == ["b1", "b2", "a1", "a3", "loose"]
    assert reading_order([], place) == []
