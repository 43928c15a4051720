"""The database of the corpus: what it is built from, what it holds, and the checks of its SQL questions."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from ragkit import corpus
from ragkit.corpus.check import Minimums, asked_in_sql, check
from ragkit.corpus.checks.database import database_faults, differences
from ragkit.corpus.checks.sql import sql_faults, tables_read
from ragkit.corpus.database import ABSENT, build, facts, open_read_only
from ragkit.corpus.sql import SqlQuestion, is_ordered, sql_questions

NONE = Minimums(*[0] * len(Minimums._fields))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("database") / "larkfield.db"
    build(made)
    return made


@pytest.fixture
def database(path):
    with closing(open_read_only(path)) as connection:
        yield connection


def dump(path):
    with closing(open_read_only(path)) as connection:
        return list(connection.iterdump())


def test_the_same_seed_builds_the_same_rows_and_replaces_the_file(path, tmp_path):
    again = tmp_path / "again.db"
    again.write_text("something else")
    build(again)
    assert dump(again) == dump(path)
    build(again, seed=1)
    assert dump(again) != dump(path)


def test_a_bad_path_is_refused(tmp_path):
    with pytest.raises(ValueError, match="path lies in no folder"):
        build(tmp_path / "nowhere" / "x.db")
    with pytest.raises(ValueError, match="path is a folder"):
        build(tmp_path)
    with pytest.raises(ValueError, match="path is no file"):
        open_read_only(tmp_path / "x.db")


def test_the_opened_database_cannot_be_written(database):
    for sql in (
        "DELETE FROM stores",
        "DROP TABLE range",
        "INSERT INTO stores VALUES (13, '', '', 0, 0, NULL, NULL, 0, 0)",
    ):
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            database.execute(sql)


def test_keys_resolve_and_the_counts_are_those_of_the_world(database):
    assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    counts = {
        t: database.execute(f"SELECT COUNT(*) FROM {t}").fetchone()[0] for t in ("stores", "staffing", "products")
    }
    assert counts == {"stores": 12, "staffing": 144, "products": 23}
    assert database.execute("SELECT COUNT(*) FROM orders").fetchone()[0] > 3_000


def test_the_june_question_has_the_answer_of_the_documents(database):
    """Short in June 2024 and selling earbuds, read by hand from the staffing table and the range plan."""
    question = next(q for q in sql_questions() if "short of staff in June" in q.text)
    assert {name for (name,) in database.execute(question.sql)} == {"Riverside", "Castle Gate", "Linden Park"}


def test_the_absent_order_is_absent_and_no_made_up_number_is_a_near_twin(database):
    numbers = [row[0][4:] for row in database.execute("SELECT order_id FROM orders")]
    told = {row["id"][4:] for row in facts()["order"]} | {ABSENT[4:]}
    assert ABSENT[4:] not in numbers
    for number in set(numbers) - told:
        for code in told:
            assert sum(a != b for a, b in zip(number, code, strict=True)) > 1, (number, code)
            assert sorted(number) != sorted(code)


def test_made_up_orders_keep_to_the_calendar(database):
    """Nothing is fetched while a store is shut, nothing arrives before it left, dates rise with the numbers."""
    closed = (
        "SELECT COUNT(*) FROM orders JOIN stores USING (store_id) WHERE placed IS NOT NULL AND finished IS NOT NULL"
    )
    assert database.execute(f"{closed} AND sunday_from IS NULL AND strftime('%w', finished) = '0'").fetchone() == (0,)
    assert database.execute(f"{closed} AND finished LIKE '%-12-25'").fetchone() == (0,)
    assert database.execute("SELECT COUNT(*) FROM orders WHERE finished < left_on").fetchone() == (0,)
    placed = [
        day for (day,) in database.execute("SELECT placed FROM orders WHERE placed IS NOT NULL ORDER BY order_id")
    ]
    assert placed == sorted(placed)


# The facts against the documents ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def texts():
    return {passage.id: passage.text for passage in corpus.load().passages}


def test_the_facts_are_those_of_the_documents(texts):
    assert differences(texts) == []
    assert list(database_faults(corpus.load())) == []


@pytest.mark.parametrize(
    ("passage", "change", "complaint"),
    [
        ("price-list-2024/articles", ("£69", "£68"), "price of AK-170R"),
        ("store-staffing-2024-q2/rota", ("Riverside | ", "Riverside | 1"), "staffing of Riverside"),
        ("store-directory/tarnmouth", ("2001", "2002"), "Riverside: "),
        ("repair-scheme/drop-off", ("Northgate", "Tollgate"), "does not say"),
        ("listing-air/mallow", ("by post only", "everywhere"), "FH-20"),
        ("collection-list-january/ready", ("ORD-531460", "ORD-531461"), "ORD-531461, which the database lacks"),
        ("order-notes-june/ord-482913", ("ORD-482913", "ORD-482914"), "which must not exist"),
    ],
)
def test_a_document_that_says_something_else_is_a_difference(texts, passage, change, complaint):
    changed = {**texts, passage: texts[passage].replace(*change)}
    assert changed[passage] != texts[passage]
    assert any(complaint in line for line in differences(changed))


def test_a_missing_source_is_a_difference_and_a_fault_of_the_corpus(texts):
    assert differences({k: v for k, v in texts.items() if k != "listing-air/mallow"}) == [
        "source names no passage: listing-air/mallow"
    ]
    empty = corpus.Corpus(corpus.load().root, [], [], [])
    assert ("database", "database.toml") in {(fault.kind, fault.where) for fault in check(empty, NONE)}


# The questions ------------------------------------------------------------------------------------------------------


def question(sql, tables=("stores",), note="a test"):
    return SqlQuestion("s-1", "dev", "?", sql, tables, note)


def kinds(*questions, least=NONE):
    pair = [*questions, replace(questions[0], id="s-9", split="test")]
    return {fault.kind for fault in sql_faults(pair, least)}


def test_the_questions_of_the_course_have_no_fault():
    asked = sql_questions()
    assert list(sql_faults(asked, Minimums())) == []
    assert len(sql_questions("dev")) == len(sql_questions("test")) == len(asked) / 2 >= 20
    assert asked_in_sql(corpus.load()) == asked
    with pytest.raises(ValueError, match="split"):
        sql_questions("train")


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        (question("SELECT name FROM stores"), None),
        (question("SELECT nam FROM stores"), "sql"),
        (question("SELEC name FROM stores"), "sql"),
        (question("DELETE FROM stores"), "sql"),
        (question("SELECT name FROM stores", ("stores", "range")), "sql-tables"),
        (question("SELECT name FROM stores JOIN range USING (store_id)"), "sql-tables"),
        (question("SELECT name FROM stores JOIN range USING (store_id)", ("stores", "range")), None),
        (question("SELECT COUNT(*) FROM range", ("range",)), None),
        (question("SELECT town, name FROM stores ORDER BY town"), "sql-ties"),
        (question("SELECT town, name FROM stores ORDER BY town, name"), None),
        (question("SELECT town FROM stores ORDER BY town"), None),  # equal rows may change places
        (question("SELECT name FROM stores LIMIT 1"), "sql-ties"),
        (question("SELECT placed, order_id FROM orders ORDER BY placed DESC LIMIT 9", ("orders",)), "sql-ties"),
        (question("SELECT name FROM stores WHERE town = 'Atlantis'"), "sql-empty"),
        (question("SELECT name FROM stores WHERE town = 'Atlantis'", note="empty: no such town"), None),
        (question("SELECT name FROM stores", note="empty: so they say"), "sql-empty"),
    ],
)
def test_each_fault_of_a_gold_query_is_found(asked, kind):
    assert kinds(asked) == ({kind} if kind else set())


def test_too_few_questions_unequal_halves_and_ids_given_twice_are_faults():
    one = question("SELECT name FROM stores")
    assert kinds(one, least=NONE._replace(sql=40)) == {"size"}
    assert kinds(one, replace(one, id="s-2"), replace(one, id="s-3")) == {"split"}
    assert kinds(one, one) == {"duplicate-id"}
    assert [fault.kind for fault in sql_faults([], NONE)] == []


def test_a_table_that_only_a_join_by_using_names_is_read(database):
    """SQLite's authorizer reports no column of it."""
    sql = "SELECT COUNT(*) FROM range JOIN stores USING (store_id) WHERE name = 'Quayhouse'"
    assert tables_read(sql, database) == {"range", "stores"}


def test_only_the_outermost_order_counts():
    assert is_ordered("SELECT a FROM t ORDER BY (SELECT 1)")
    assert not is_ordered("SELECT a FROM t WHERE b IN (SELECT b FROM (SELECT b FROM t ORDER BY b) LIMIT 3)")
    assert not is_ordered("SELECT ' ORDER BY ' FROM t")
    assert not is_ordered("SELECT ROW_NUMBER() OVER (ORDER BY a) FROM t")


GOOD = """
[[question]]
id = "a"
split = "dev"
text = "?"
sql = "SELECT 1"
tables = ["stores"]
note = "n"
"""


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (('split = "dev"', 'split = "train"'), "split must be"),
        (('text = "?"', 'text = ""'), "text must be a string"),
        (('tables = ["stores"]', "tables = []"), "tables must be"),
        (('note = "n"\n', ""), "must have the keys"),
        (("[[question]]", "[[questions]]"), r"must hold \[\[question\]\]"),
        (("[[question]]", "[[question"), "is no TOML"),
    ],
)
def test_a_bad_file_of_questions_is_named(tmp_path, change, complaint):
    file = tmp_path / "sql.toml"
    file.write_text(GOOD)
    assert [q.id for q in sql_questions(path=file)] == ["a"]
    file.write_text(GOOD.replace(*change))
    with pytest.raises(ValueError, match=rf"sql.toml.*{complaint}"):
        sql_questions(path=file)
    (tmp_path / "documents").mkdir()
    faults = check(corpus.Corpus(tmp_path, [], [], []), NONE)
    assert [(fault.kind, fault.where) for fault in faults] == [("format", "sql.toml")]
    file.write_text(GOOD + GOOD)
    with pytest.raises(ValueError, match="'a' more than once"):
        sql_questions(path=file)
