"""Execution accuracy: multisets, orders of columns, numbers; against a search over all orders, and defog's gold."""

import itertools
import sqlite3
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.structured import Database, Result, compare, execution_match, is_ordered, statements
from ragkit.structured.sql_benchmarks import LOADABLE, defog_database, read_defog, sqlite_script

cells = st.sampled_from([None, 0, 1, 2, "1", "a", 0.5, b"a"])


def result(rows, width=None):
    rows = [tuple(row) for row in rows]
    return Result(tuple(f"c{i}" for i in range(width if width is not None else len(rows[0]))), rows)


def naive(gold, predicted, ordered):
    """Every order of the columns, tried in full."""
    for order in itertools.permutations(range(len(gold.columns))):
        moved = [tuple(row[i] for i in order) for row in predicted.rows]
        if moved == gold.rows or (not ordered and Counter(moved) == Counter(gold.rows)):
            return True
    return False


@st.composite
def pairs(draw):
    width = draw(st.integers(1, 4))
    rows = st.lists(st.tuples(*[cells] * width), max_size=5)
    gold = draw(rows)
    kind = draw(st.sampled_from(["other", "shuffled", "moved"]))
    predicted = draw(rows) if kind == "other" else list(draw(st.permutations(gold)))
    if kind == "moved":
        order = draw(st.permutations(range(width)))
        predicted = [tuple(row[i] for i in order) for row in predicted]
    return result(gold, width), result(predicted, width)


@settings(max_examples=100, deadline=None)
@given(pairs(), st.booleans())
def test_compare_equals_the_search_over_all_orders_of_columns(pair, ordered):
    gold, predicted = pair
    assert compare(gold, predicted, ordered).correct is naive(gold, predicted, ordered)
    assert compare(gold, predicted, ordered).correct is compare(predicted, gold, ordered).correct


@settings(max_examples=50, deadline=None)
@given(pairs())
def test_position_is_stricter_than_any_and_order_than_none(pair):
    if compare(*pair, columns="position").correct:
        assert compare(*pair).correct
    if compare(*pair, ordered=True).correct:
        assert compare(*pair).correct


def test_rows_are_a_multiset_where_a_set_would_forgive_a_doubling_join():
    gold, doubled = result([(1, "a"), (2, "b")]), result([(1, "a"), (2, "b"), (1, "a"), (2, "b")])
    assert set(gold.rows) == set(doubled.rows)
    assert compare(gold, doubled).reason == "4 rows instead of 2"
    assert compare(result([(1,), (1,), (2,)]), result([(1,), (2,), (2,)])).reason == "other values"


def test_order_counts_only_where_the_gold_orders():
    gold, swapped = result([(1,), (2,)]), result([(2,), (1,)])
    assert compare(gold, swapped).correct
    assert compare(gold, swapped, ordered=True).reason == "the right rows in another order"


def test_columns_move_together_for_all_rows():
    assert compare(result([(1, "x"), (2, "y")]), result([("x", 1), ("y", 2)])).correct
    assert not compare(result([(1, "x"), (2, "y")]), result([("x", 1), (2, "y")])).correct
    assert not compare(result([(1, 2), (3, 4)]), result([(1, 4), (3, 2)])).correct  # columns agree, rows do not
    assert not compare(result([(1, "x")]), result([("x", 1)]), columns="position").correct


def test_the_number_of_columns_counts_even_without_rows():
    assert compare(result([], 2), result([], 1)).reason == "1 columns instead of 2"
    assert compare(result([], 2), result([], 2)).correct


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (0.1 + 0.2, 0.3, True),
        (10, 10.0, True),
        (9.9999999999, 10, True),
        (1_000_000_001, 1_000_000_002, False),  # ids: within one part in 10^9, and different
        (0.5, 0.50001, False),
        (1, "1", False),
        (None, 0, False),
        (None, None, True),
        (float("inf"), 1e308, False),
        (float("inf"), float("inf"), True),
        (0.0, -0.0, True),
        ("a", b"a", False),
        (2**62, 2**62 + 1, False),
    ],
)
def test_which_cells_are_equal(one, other, same):
    assert compare(result([(one,)]), result([(other,)])).correct is same


def test_near_numbers_at_a_rounding_edge_are_equal():
    """round(x, 6) would part these two."""
    low, high = 0.4999995 - 1e-13, 0.4999995 + 1e-13
    assert round(low, 6) != round(high, 6)
    assert compare(result([(low,)]), result([(high,)])).correct


def test_many_equal_columns_do_not_take_factorial_time():
    rows = [(0,) * 14, (1,) * 14]
    assert compare(result(rows), result(rows[::-1])).correct
    assert not compare(result(rows), result([(0,) * 14, (1,) * 13 + (2,)])).correct


def test_what_was_cut_cannot_be_compared():
    cut = Result(("a",), [(1,)], truncated=True)
    for pair in ((cut, result([(1,)])), (result([(1,)]), cut)):
        with pytest.raises(ValueError, match="is truncated after 1 rows"):
            compare(*pair)
    with pytest.raises(ValueError, match="columns must be"):
        compare(result([(1,)]), result([(1,)]), columns="some")


@pytest.fixture
def database():
    connection = sqlite3.connect(":memory:")
    connection.executescript("CREATE TABLE t (id, name); INSERT INTO t VALUES (1, 'a;b'), (2, 'c')")
    return Database(connection)


def test_any_alternative_of_a_gold_cell_will_do(database):
    cell = "SELECT name FROM t WHERE name = 'a;b';SELECT id FROM t WHERE name = 'a;b';"
    assert execution_match(database, cell, "SELECT 1").correct
    assert execution_match(database, cell, "SELECT 'a;b'").correct
    assert execution_match(database, cell, "SELECT 2").reason == "other values"


def test_a_prediction_that_fails_is_wrong_and_a_gold_that_fails_is_an_error(database):
    assert execution_match(database, "SELECT 1", "SELECT title FROM t").reason == "error: no such column: title"
    assert execution_match(database, "SELECT 1", "DROP TABLE t").reason.startswith("error: sql must be a SELECT")
    with pytest.raises(sqlite3.OperationalError):
        execution_match(database, "SELECT title FROM t", "SELECT 1")
    with pytest.raises(ValueError, match="gold holds no statement"):
        execution_match(database, " ; ", "SELECT 1")


def test_order_by_in_the_gold_is_what_asks_for_order(database):
    assert not execution_match(database, "SELECT id FROM t ORDER BY id", "SELECT id FROM t ORDER BY id DESC").correct
    assert execution_match(database, "SELECT id FROM t", "SELECT id FROM t ORDER BY id DESC").correct


def test_postgres_casts_schemas_and_serials_go_and_text_stays():
    script = sqlite_script("CREATE TABLE public.t (a bigserial, b text DEFAULT 'public.x::y'::text); -- a::b")
    assert script == "CREATE TABLE t (a INTEGER, b text DEFAULT 'public.x::y'); -- a::b"


def test_every_gold_query_of_the_five_loadable_defog_databases_runs(data):
    folder = data / "text_to_sql" / "defog"
    questions = read_defog(folder)
    assert len(questions) == 130
    assert sum(len(statements(q.sql)) > 1 for q in questions) > 20  # cells with several right queries
    for name in LOADABLE:
        database = Database(defog_database(folder, name), seconds=20, max_rows=10_000)
        for question in (q for q in questions if q.database == name):
            for sql in statements(question.sql):
                rows = database.run(sql)
                assert compare(rows, rows, is_ordered(sql)).correct


def test_bad_folders_are_named(tmp_path):
    with pytest.raises(ValueError, match="name must be one of"):
        defog_database(tmp_path, "yelp")
    with pytest.raises(ValueError, match=r"no file sql/atis\.sql"):
        defog_database(tmp_path, "atis")
    with pytest.raises(ValueError, match=r"no file questions_gen_sqlite\.csv"):
        read_defog(tmp_path)
