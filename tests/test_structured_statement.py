"""SQL as text: statements, order, and the one statement in a reply, with SQLite's own tokenizer as the oracle."""

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.structured.statement import check_query, is_ordered, parses, sql_in_reply, statements, tokens

SELECT = "SELECT name FROM stores WHERE town = 'Tarn; mouth' -- so; it goes"
BARE = "SELECT name FROM stores"


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab'\"`[](); -/*\n1", max_size=30))
def test_tokens_joined_are_the_text(text):
    assert "".join(token.text for token in tokens(text)) == text
    assert all(token.depth >= 0 for token in tokens(text))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["SELECT 1", "SELECT ';'", 'SELECT 1 AS ";"', "SELECT 1 -- ;\n", "/* ; */ SELECT 2"])))
def test_statements_are_those_that_sqlite_completes(parts):
    """``sqlite3.complete_statement`` says where SQLite's tokenizer sees an end."""
    script = "".join(f"{part};" for part in parts)
    assert len(statements(script)) == len(parts)
    assert all(sqlite3.complete_statement(f"{one}\n;") for one in statements(script))
    rows = [sqlite3.connect(":memory:").execute(one).fetchone() for one in statements(script)]
    assert len(rows) == len(parts)


@pytest.mark.parametrize("script", ["", " ;; ", "-- nothing; here", "/* a; b */ ;"])
def test_blanks_and_comments_are_no_statement(script):
    assert statements(script) == []


def test_gold_cells_with_several_alternatives_divide_at_semicolons_outside_text():
    assert statements("SELECT ';' FROM a;SELECT \"x;y\" FROM b;") == ["SELECT ';' FROM a", 'SELECT "x;y" FROM b']


@pytest.mark.parametrize(
    ("sql", "ordered"),
    [
        ("SELECT a FROM t order\n by a", True),
        ("SELECT a FROM t UNION SELECT b FROM u ORDER BY 1 LIMIT 3", True),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 3)", False),
        ("SELECT rank() OVER (ORDER BY a) FROM t", False),
        ("SELECT 'ORDER BY' FROM t -- ORDER BY a", False),
        ('SELECT "order by" FROM t', False),
        ("WITH x AS (SELECT a FROM t ORDER BY a) SELECT a FROM x ORDER BY a", True),
    ],
)
def test_only_an_order_of_the_whole_result_counts(sql, ordered):
    assert is_ordered(sql) is ordered


# --- a reply


@pytest.mark.parametrize(
    "reply",
    [
        BARE,
        f"  {BARE} ;  ",
        f"```sql\n{BARE};\n```",
        f"```\n{BARE}\n```",
        f"```SQL\n{BARE}```",
        f"```sqlite\n{BARE}\n",  # cut off before the fence closes
        f"~~~sql\n{BARE}\n~~~",
        f"```sql {BARE}```",
        f"```{BARE}```",
        f"`{BARE}`",
        f"SQLQuery: {BARE}",
        f"SQL:\n{BARE}",
        f"Question: which?\nSQLQuery: {BARE}\nSQLResult: [('Hill',)]\nAnswer: Hill",
        f"Sure! Here is the query you asked for:\n\n{BARE}\n\nThis query lists the stores.",
        f"Here you go: {BARE}; It lists the stores; that's all.",
        f"To select all stores with their names, use this query:\n```sql\n{BARE};\n```\nSelect it and press run.",
        f"{BARE};\n\nWith this query you get the names.",
        f"{BARE}\nThis lists them.\n\n- one a row\n- in no order",
        f"```sql\n{BARE};\n```\nOr again:\n```sql\n{BARE}\n```",
        f"I use the table `stores` and its column `name`.\n{BARE}",
    ],
)
def test_fences_labels_prose_and_the_final_semicolon_go(reply):
    assert sql_in_reply(reply) == BARE


def test_stripping_a_set_of_characters_would_eat_the_first_letter():
    reply = "```sql\nselect name from stores\n```"
    assert reply.strip("```sql\n").startswith("elect")  # noqa: B005 - the slip itself: a set of letters
    assert sql_in_reply(reply) == "select name from stores"
    assert sql_in_reply("```sql\nselect cols from sqls\n```") == "select cols from sqls"


@pytest.mark.parametrize(
    "sql",
    [
        SELECT.split(" --")[0],
        "SELECT name\n\nFROM stores\n\nWHERE town IS NULL",
        "WITH big AS (\n  SELECT * FROM stores\n)\nSELECT name FROM big",
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 9) select i from n",
        "SELECT\n\n  count(*)\n  total\nFROM stores",
        "SELECT '```' AS fence FROM stores",
        "VALUES (1), (2)",
    ],
)
def test_a_statement_comes_back_whole(sql):
    assert sql_in_reply(sql) == sql
    assert sql_in_reply(f"Query:\n{sql};") == sql


def test_a_clause_is_never_dropped_to_make_a_text_parse():
    broken = "SELECT name FROM stores\nWHERE town = = 'Hill'"
    assert sql_in_reply(broken) == broken
    later = "SELECT name FROM stores\nsomething odd here\nWHERE town = 'Hill'"
    assert sql_in_reply(later) == later


@pytest.mark.parametrize("reply", ["", "  \n", "I cannot answer that.", "```\n```", "Please select one of the stores."])
def test_a_reply_without_sql_is_refused(reply):
    with pytest.raises(ValueError, match="no SQL statement"):
        sql_in_reply(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE stores;",
        "SELECT 1;\nDELETE FROM stores",
        "SELECT 1; -- and\nSELECT 2",
        "```sql\nSELECT 1\n```\nor\n```sql\nSELECT 2\n```",
    ],
)
def test_two_statements_are_refused_and_not_guessed_between(reply):
    with pytest.raises(ValueError, match="2 statements"):
        sql_in_reply(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "```sql\nDROP TABLE stores;\n```",
        "INSERT INTO stores SELECT * FROM stores",
        "PRAGMA query_only = OFF",
        "ATTACH DATABASE '/tmp/x' AS x",
        "EXPLAIN SELECT 1",
        "CREATE TABLE t AS SELECT 1",
        "UPDATE stores SET name = 'x'",
    ],
)
def test_a_statement_that_is_no_select_is_found_and_then_refused(reply):
    with pytest.raises(ValueError, match="must be a SELECT"):
        check_query(sql_in_reply(reply))


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("", "none"),
        ("-- only this", "none"),
        ("SELECT 1; SELECT 2", "got 2"),
        ("WITH x AS (SELECT 1) DELETE FROM stores", "must be a SELECT"),
        ("WITH x AS (SELECT 1) INSERT INTO stores SELECT * FROM x", "must be a SELECT"),
        ("BEGIN", "must be a SELECT"),
        ("'SELECT'", "must be a SELECT"),
    ],
)
def test_one_read_only_statement_or_none(sql, message):
    with pytest.raises(ValueError, match=message):
        check_query(sql)


def test_replace_as_a_function_and_verbs_inside_parentheses_are_no_writes():
    assert check_query("SELECT replace(name, 'a', 'b') FROM stores;") == "SELECT replace(name, 'a', 'b') FROM stores"
    assert check_query("WITH d AS (SELECT 1) SELECT * FROM d")


def test_parses_asks_sqlite_and_not_whether_tables_exist():
    assert parses("SELECT absent FROM nowhere")
    assert not parses("SELECT FROM WHERE")
    assert not parses("SELECT 1 )")
    assert not parses("SELECT 'open")


def test_non_latin_names_are_words():
    assert sql_in_reply("Запрос: SELECT имя FROM магазины;") == "SELECT имя FROM магазины"
