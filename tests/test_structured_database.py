"""The guarded connection: what a statement cannot do, each gate tried on SQLite itself, and what it says."""

import sqlite3
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.structured import Database, Result, connect


def make(connection):
    connection.executescript(
        "CREATE TABLE stores (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO stores VALUES (1, 'Hill'), (2, 'Quay');"
        "CREATE TABLE wages (id INTEGER, amount INTEGER); INSERT INTO wages VALUES (1, 900);"
        "CREATE VIEW shops AS SELECT name FROM stores; CREATE VIEW pay AS SELECT amount FROM wages;"
        "CREATE VIEW paid AS SELECT count(*) AS n FROM wages;"
    )
    return connection


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "shop.db"
    with sqlite3.connect(file) as connection:
        make(connection)
    return file


@pytest.fixture
def memory():
    return make(sqlite3.connect(":memory:"))


def refused(database, sql):
    """The database's words for refusing ``sql``."""
    with pytest.raises((sqlite3.Error, ValueError)) as caught:
        database.run(sql)
    return str(caught.value)


# --- opening


@pytest.mark.parametrize(
    "name", ["what?.db", "a#b.db", "50%.db", "100%25.db", "two words & more.db", "é‰.db", "a?mode=rwc"]
)
def test_sqlite_uri_with_question_mark_hash_and_percent_opens_that_file(tmp_path, name):
    with sqlite3.connect(tmp_path / name) as made:
        make(made)
    assert Database(tmp_path / name).run("SELECT count(*) FROM stores").rows == [(2,)]
    assert [file.name for file in tmp_path.iterdir()] == [name]  # and no other file came into being


def test_the_slip_it_guards_against_an_unquoted_uri_opens_another_file(tmp_path):
    with sqlite3.connect(tmp_path / "what?.db") as made:
        make(made)
    with pytest.raises(sqlite3.OperationalError):
        sqlite3.connect(f"file:{tmp_path}/what?.db?mode=ro", uri=True).execute("SELECT * FROM stores")


def test_a_missing_file_is_an_error_and_is_not_created(tmp_path):
    with pytest.raises(ValueError, match="path is no file"):
        connect(tmp_path / "none.db")
    with pytest.raises(ValueError, match="path is no file"):
        connect(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_connection_itself_cannot_write(path):
    connection = connect(path)
    for sql in ("INSERT INTO stores VALUES (3, 'x')", "DROP TABLE wages", "PRAGMA user_version = 5"):
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute(sql)


def test_text_that_is_not_utf8_is_read_with_replacement_characters(tmp_path):
    with sqlite3.connect(tmp_path / "x.db") as made:
        made.execute("CREATE TABLE t (a TEXT)")
        made.execute("INSERT INTO t VALUES (CAST(x'4de9' AS TEXT))")
    assert Database(tmp_path / "x.db").run("SELECT a FROM t").rows == [("M\ufffd",)]


# --- the gates


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO stores VALUES (3, 'x')",
        "DELETE FROM stores",
        "WITH x AS (SELECT 1) DELETE FROM stores",
        "DROP TABLE stores",
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE t (a)",
        "ATTACH DATABASE ':memory:' AS other",
        "PRAGMA query_only = OFF",
        "PRAGMA table_info(stores)",
        "SELECT * FROM pragma_table_info('wages')",
        "SELECT count(*) FROM pragma_table_info('wages')",
        "SELECT load_extension('x')",
        "VACUUM INTO '/tmp/copy.db'",
        "BEGIN",
        "SELECT 1; DROP TABLE stores",
        "EXPLAIN SELECT 1",
    ],
)
def test_nothing_but_one_select_passes(memory, sql):
    assert refused(Database(memory), sql)
    assert memory.execute("SELECT count(*) FROM stores").fetchone() == (2,)


def test_the_authorizer_refuses_without_the_help_of_reading_the_text(memory, monkeypatch):
    """The text check is switched off: the authorizer alone must hold."""
    monkeypatch.setattr("ragkit.structured.database.check_query", lambda sql: sql)
    database = Database(memory)
    for sql in (
        "DELETE FROM stores",
        "ATTACH ':memory:' AS o",
        "PRAGMA query_only = OFF",
        "DROP TABLE stores",
        "BEGIN",
    ):
        assert "not authorized" in refused(database, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT amount FROM wages",
        "SELECT count(*) FROM wages",
        "SELECT count(*) FROM main.WAGES",
        'SELECT 1 FROM "wages"',
        "SELECT * FROM pay",
        "SELECT * FROM paid",
        "SELECT name FROM stores WHERE id IN (SELECT id FROM wages)",
        "SELECT name FROM stores WHERE id IN wages",
        "SELECT EXISTS (SELECT 1 FROM wages)",
        "SELECT name FROM stores NATURAL JOIN wages",
        "SELECT name FROM stores LEFT JOIN wages USING (id)",
        "SELECT 1 FROM (SELECT 900 AS amount) NATURAL JOIN wages",  # a guess at a value, one by one
        "SELECT name FROM stores UNION SELECT amount FROM wages",
        "WITH shops AS (SELECT * FROM wages) SELECT * FROM shops",
        "WITH shops AS (SELECT count(*) AS n FROM wages) SELECT n FROM shops",
        "SELECT * FROM (SELECT amount FROM wages) AS shops",
        "SELECT name FROM sqlite_master",
        "SELECT count(*) FROM sqlite_schema",
        "SELECT * FROM sqlite_temp_master",
        "SELECT count(*) FROM dbstat",
    ],
)
def test_a_role_reads_its_tables_and_no_others(memory, sql):
    assert refused(Database(memory, tables={"stores", "shops"}), sql)


def test_a_role_reads_what_is_its_own_in_every_form(memory):
    database = Database(memory, tables=["Stores", "shops"])
    assert database.tables == ("shops", "stores")
    for sql in (
        "SELECT count(*) FROM stores",
        "SELECT count(*) FROM STORES",
        "SELECT count(*) FROM shops",
        "WITH mine AS (SELECT name FROM stores) SELECT count(*) FROM mine",
        "SELECT count(*) FROM (SELECT id FROM stores)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2) SELECT count(*) FROM n",
    ):
        assert database.run(sql).rows == [(2,)], sql


def test_a_view_gives_no_rights_because_a_common_table_expression_can_take_its_name(memory):
    """SQLite names view and common table expression alike to the authorizer: trusting that name would open wages."""
    told = []
    memory.set_authorizer(lambda *given: told.append(given) or sqlite3.SQLITE_OK)
    memory.execute("SELECT * FROM pay").fetchall()
    memory.execute("WITH pay AS (SELECT amount FROM wages) SELECT * FROM pay").fetchall()
    memory.set_authorizer(None)
    reads = [given[-1] for given in told if given[0] == sqlite3.SQLITE_READ and given[1] == "wages"]
    assert reads == ["pay", "pay"]
    assert "wages" in refused(Database(memory, tables={"pay"}), "SELECT amount FROM pay")
    assert Database(memory, tables={"pay", "wages"}).run("SELECT amount FROM pay").rows == [(900,)]


def test_the_authorizer_is_not_told_what_a_natural_join_compares(memory):
    """The gap that the look at the program closes; a newer SQLite that reports it makes the look spare, not wrong."""
    told = []
    memory.set_authorizer(lambda *given: told.append(given[:2]) or sqlite3.SQLITE_OK)
    memory.execute("SELECT 1 FROM (SELECT 900 AS amount) NATURAL JOIN wages").fetchall()
    memory.set_authorizer(None)
    if sqlite3.sqlite_version_info[:2] == (3, 40):
        assert (sqlite3.SQLITE_READ, "wages") not in told
    message = refused(Database(memory, tables=["stores"]), "SELECT 1 FROM (SELECT 900 AS amount) NATURAL JOIN wages")
    assert message == "access to wages is prohibited"


def test_an_index_and_a_table_without_rowid_belong_to_their_table(memory):
    memory.execute("CREATE INDEX by_name ON stores (name)")
    memory.execute("CREATE TABLE pairs (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID")
    assert Database(memory, tables=["stores"]).run("SELECT name FROM stores WHERE name > 'I'").rows == [("Quay",)]
    assert Database(memory, tables=["pairs"]).run("SELECT a FROM pairs WHERE a = 1").rows == []
    assert refused(Database(memory, tables=["pairs"]), "SELECT name FROM stores INDEXED BY by_name WHERE name > 'I'")


def test_tables_of_an_attached_database_are_not_read(memory):
    memory.execute("ATTACH ':memory:' AS other")
    memory.execute("CREATE TABLE other.secret (a)")
    memory.execute("CREATE TABLE other.stores (a)")
    database = Database(memory)
    for sql in ("SELECT a FROM secret", "SELECT count(*) FROM secret", "SELECT count(*) FROM other.stores"):
        assert refused(database, sql)


def test_all_tables_means_all_but_those_of_sqlite(memory):
    database = Database(memory)
    assert database.tables == ("paid", "pay", "shops", "stores", "wages")
    assert database.run("SELECT n FROM paid").rows == [(1,)]
    assert refused(database, "SELECT sql FROM sqlite_master")


def test_the_database_says_why_in_its_own_words(memory):
    database = Database(memory, tables={"stores"})
    assert refused(database, "SELECT amount FROM wages") == "access to wages.amount is prohibited"
    assert refused(database, "SELECT title FROM stores") == "no such column: title"


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n"


def test_a_query_without_end_is_stopped_and_the_connection_lives_on(memory):
    database = Database(memory, seconds=0.1)
    start = time.monotonic()
    assert refused(database, ENDLESS.format("count(*)")) == "stopped: the query ran longer than 0.1 s"
    assert time.monotonic() - start < 5
    assert database.run("SELECT 1").rows == [(1,)]


def test_a_value_that_one_step_would_make_huge_is_refused(memory):
    for sql in ("SELECT zeroblob(1000000000)", "SELECT hex(randomblob(900000))"):
        assert "too big" in refused(Database(memory), sql)
    assert "too complex" in refused(Database(memory), f"SELECT 'a' LIKE '{'%' * 300}'")
    assert len(memory.execute("SELECT zeroblob(2000000)").fetchone()[0]) == 2_000_000  # the owner's limits are back


def test_a_result_cut_at_the_row_cap_says_so(memory):
    database = Database(memory, max_rows=50)
    assert not database.run(f"{ENDLESS.format('i')} LIMIT 50").truncated
    more = database.run(f"{ENDLESS.format('i')} LIMIT 51")
    assert more.truncated
    assert more.rows == [(i,) for i in range(1, 51)]
    assert more.text().endswith("(the first 50 rows; there are more)")
    assert database.run(ENDLESS.format("i")).truncated  # and nothing beyond the cap is fetched


def test_the_guard_is_gone_after_a_query_and_after_an_error(memory):
    database = Database(memory, tables={"stores"})
    database.run("SELECT 1")
    refused(database, "SELECT amount FROM wages")
    memory.execute("INSERT INTO wages VALUES (2, 800)")
    assert memory.execute("SELECT count(*) FROM wages").fetchone() == (2,)


def test_tables_of_a_query_come_from_the_compiler(memory):
    database = Database(memory)
    assert database.tables_of("SELECT count(*) FROM stores WHERE id IN (SELECT id FROM wages)") == ["stores", "wages"]
    assert database.tables_of("SELECT amount FROM pay") == ["pay", "wages"]
    assert database.tables_of("SELECT 'stores'") == []


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), st.none() | st.text(max_size=3)), max_size=8), st.integers(1, 10))
def test_rows_are_those_of_sqlite_up_to_the_cap(rows, cap):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a INTEGER, b TEXT)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    found = Database(connection, max_rows=cap).run("SELECT a, b FROM t")
    assert found == Result(("a", "b"), rows[:cap], len(rows) > cap)


def test_results_as_text():
    assert Result(("a",), []).text() == "a\n(no rows)"
    assert Result(("a",), [(1,), (2,)]).text(1) == "a\n1\n(the first 1 of 2 rows)"
    assert Result(("a", "b"), [(b"xy", "one\ntwo")]).text() == "a | b\n(2 bytes) | one two"
    assert len(Result(("a",), [("x" * 200,)]).text().splitlines()[1]) == 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tables": "stores"}, "tables must be a collection"),
        ({"tables": ["stores", "nowhere"]}, "tables holds 'nowhere'"),
        ({"tables": ["sqlite_master"]}, "tables holds 'sqlite_master'"),
        ({"seconds": 0}, "seconds must be above 0"),
        ({"max_rows": 0}, "max_rows must be at least 1"),
        ({"max_rows": True}, "max_rows must be at least 1"),
    ],
)
def test_bad_arguments_are_named(memory, arguments, message):
    with pytest.raises(ValueError, match=message):
        Database(memory, **arguments)


def test_an_empty_role_reads_nothing_and_an_empty_database_is_ordinary(memory):
    assert Database(memory, tables=[]).run("SELECT 1").rows == [(1,)]
    assert refused(Database(memory, tables=[]), "SELECT name FROM stores")
    assert Database(sqlite3.connect(":memory:")).tables == ()
