"""The loop from question to rows with stand-ins for the model, the preview, and retrieved examples."""

import sqlite3

import pytest

from ragkit.models import StandIn
from ragkit.search import BM25
from ragkit.structured import (
    Database,
    SQLAnswer,
    SQLExample,
    SQLExamples,
    answer_prompt,
    code_tokens,
    preview,
    prompt_text,
    read_schema,
    repair_prompt,
    sql_prompt,
    text_to_sql,
)
from ragkit.structured.sql_examples import same_sql_form

NASTY = 'What costs $5, {x} or "${n}"?'


@pytest.fixture
def connection():
    made = sqlite3.connect(":memory:")
    made.executescript(
        "CREATE TABLE stores (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE wages (amount INTEGER);"
        "INSERT INTO stores SELECT value, 'store ' || value FROM json_each('[1,2,3,4,5,6,7]');"
    )
    return made


@pytest.fixture
def database(connection):
    return Database(connection, tables=["stores"], max_rows=5)


@pytest.fixture
def schema(connection):
    return prompt_text(read_schema(connection).only(["stores"]))


def replies(*texts):
    """A model that gives these replies in turn, and fails the test if it is asked once more."""
    left = list(texts)

    def llm(prompt):
        llm.prompts.append(prompt)
        if not left:
            pytest.fail("asked once too often")
        return left.pop(0)

    llm.prompts = []
    return llm


def test_a_question_becomes_rows_with_a_trace(database, schema):
    llm = replies("```sql\nSELECT name FROM stores WHERE id = 3;\n```\nThat is the third.")
    answer = text_to_sql("What is the third store called?", database, llm, schema)
    assert answer.sql == "SELECT name FROM stores WHERE id = 3"
    assert answer.result.rows == [("store 3",)]
    assert answer.tables == ("stores",)
    assert answer.error == ""
    (attempt,) = answer.attempts
    assert attempt.prompt == sql_prompt("What is the third store called?", schema) == llm.prompts[0]
    assert (attempt.sql, attempt.error) == (answer.sql, "")


def test_the_databases_own_error_repairs(database, schema):
    llm = replies("SELECT title FROM stores", "SELECT name FROM stores WHERE id = 1")
    answer = text_to_sql("First store?", database, llm, schema)
    assert answer.result.rows == [("store 1",)]
    assert [a.error for a in answer.attempts] == ["no such column: title", ""]
    assert llm.prompts[1] == repair_prompt("First store?", schema, "SELECT title FROM stores", "no such column: title")


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ("I cannot answer that.", "reply holds no SQL statement"),
        ("", "reply holds no SQL statement"),
        ("DROP TABLE stores", "sql must be a SELECT"),
        ("SELECT 1; SELECT 2", "reply holds 2 statements"),
        ("SELECT amount FROM wages", "access to wages.amount is prohibited"),
        ("SELECT FROM stores", "syntax error"),
    ],
)
def test_whatever_is_wrong_goes_back_to_the_model(database, schema, reply, error):
    llm = replies(reply, "SELECT 1")
    answer = text_to_sql("?", database, llm, schema)
    assert answer.result.rows == [(1,)]
    assert error in answer.attempts[0].error
    assert f"Error: {answer.attempts[0].error}" in llm.prompts[1]
    assert f"Query: {reply or '(none)'}" in llm.prompts[1]


def test_repair_is_bounded_and_the_last_error_stays(database, schema):
    llm = replies("SELECT a FROM stores", "SELECT b FROM stores", "SELECT c FROM stores")
    answer = text_to_sql("?", database, llm, schema, max_attempts=3)
    assert answer.result is None
    assert (answer.sql, answer.error) == ("SELECT c FROM stores", "no such column: c")
    assert len(llm.prompts) == 3
    one = replies("SELECT a FROM stores")
    assert len(text_to_sql("?", database, one, schema, max_attempts=1).attempts) == 1


def test_a_model_that_repeats_itself_is_not_asked_again(database, schema):
    llm = replies("SELECT a FROM stores", "SELECT a FROM stores")
    assert len(text_to_sql("?", database, llm, schema, max_attempts=9).attempts) == 2


def test_no_row_is_an_answer_and_not_an_error(database, schema):
    answer = text_to_sql("?", database, replies("SELECT name FROM stores WHERE id = 99"), schema)
    assert answer.result.rows == []
    assert preview(answer).endswith("(no rows)")


def test_a_blank_question_costs_no_call(database, schema):
    answer = text_to_sql("  ", database, replies(), schema)
    assert (answer.sql, answer.result, answer.attempts, answer.error) == ("", None, (), "")
    assert "nothing asked" in preview(answer)


def test_bad_arguments_are_named(database, schema):
    with pytest.raises(ValueError, match="max_attempts must be at least 1"):
        text_to_sql("?", database, replies(), schema, max_attempts=0)
    answer = SQLAnswer("q", "", None, (), ())
    with pytest.raises(ValueError, match="rows must be at least 0"):
        preview(answer, rows=-1)
    with pytest.raises(ValueError, match="answer has no result"):
        answer_prompt(answer)


def test_the_preview_shows_statement_tables_rows_and_what_is_cut(database, schema):
    answer = text_to_sql("Which stores?", database, replies("SELECT title FROM x", "SELECT name FROM stores"), schema)
    assert preview(answer, rows=2) == (
        "Question: Which stores?\n"
        "SQL: SELECT name FROM stores\n"
        "Reads: stores\n"
        "Repaired: 1 attempt failed before\n"
        "name\nstore 1\nstore 2\n(the first 2 rows; there are more)"
    )
    failed = text_to_sql("?", database, replies("SELECT a FROM stores"), schema, max_attempts=1)
    assert "No result after 1 attempt: no such column: a" in preview(failed)


def test_the_prompt_for_the_answer_says_that_rows_are_missing(database, schema):
    answer = text_to_sql("How many?", database, replies("SELECT name FROM stores"), schema)
    assert "(the first 5 rows; there are more)" in answer_prompt(answer)
    assert "store 6" not in answer_prompt(answer)


def test_prompts_are_safe_for_braces_and_dollars_and_show_the_best_example_last():
    examples = [SQLExample("best {y} $z?", "SELECT '$q' AS best"), SQLExample("second?", "SELECT 2")]
    prompt = sql_prompt(NASTY, "CREATE TABLE t (a -- {b} $c\n);", examples)
    assert NASTY in prompt
    assert "-- {b} $c" in prompt
    assert prompt.index("SELECT 2") < prompt.index("SELECT '$q' AS best") < prompt.index(NASTY)
    assert "$error" in repair_prompt(NASTY, "", "SELECT 1", "near $error {x}")
    assert "Question: second?" not in sql_prompt(NASTY, "")


def test_the_prompts_hash_is_stable_so_that_recordings_can_be_keyed_by_it(database, schema):
    stand_in = StandIn({sql_prompt("First?", schema): "SELECT name FROM stores WHERE id = 1"})
    assert text_to_sql("First?", database, stand_in, schema).result.rows == [("store 1",)]


# --- examples

POOL = [
    SQLExample("How many stores are there?", "SELECT count(*) FROM stores"),
    SQLExample("What is the number of stores?", "select COUNT(*)\nfrom stores;"),
    SQLExample("Which stores opened last?", "SELECT name FROM stores ORDER BY opened DESC LIMIT 1"),
    SQLExample("How many stores are there?", "SELECT count(*) FROM stores"),
]


def bm25(passages):
    return BM25(passages, tokenize=code_tokens)


def test_examples_like_the_question_come_first_and_each_once():
    examples = SQLExamples(POOL, bm25)
    assert examples.examples == POOL[:3]
    assert examples("Which store opened last?", 1) == [POOL[2]]
    assert len(examples("stores", 10)) == 3
    assert examples("kettle", 3) == []
    assert SQLExamples([], bm25)("stores", 3) == []


def test_leave_one_out_drops_the_question_and_its_twin_with_the_same_sql():
    """Spider asks every query in two wordings: the other wording would give the answer away."""
    examples = SQLExamples(POOL, bm25)
    left = examples.leave_out("how many stores are there", "SELECT COUNT(*) FROM stores", 3)
    assert left == [POOL[2]]
    assert examples.leave_out("stores", "SELECT 1", 2) == examples("stores", 2)


def test_spider_asks_one_query_in_two_wordings(data):
    from ragkit.structured.sql_benchmarks import read_spider

    _, questions = read_spider(data / "text_to_sql" / "spider")
    forms = [(q.database, same_sql_form(q.sql)) for q in questions]
    twins = sum(forms.count(form) > 1 for form in forms)
    assert twins / len(forms) > 0.8


def test_same_sql_form_keeps_the_case_of_text_only():
    assert same_sql_form("SELECT A /* x */ FROM T;") == same_sql_form("select a\nfrom t")
    assert same_sql_form("SELECT 'A'") != same_sql_form("SELECT 'a'")


@pytest.mark.parametrize("example", [SQLExample(" ", "SELECT 1"), SQLExample("q", " ")])
def test_an_example_without_question_or_sql_is_refused(example):
    with pytest.raises(ValueError, match=r"examples\[0\] lacks"):
        SQLExamples([example], bm25)
    with pytest.raises(ValueError, match="k must"):
        SQLExamples(POOL, bm25).leave_out("q", "s", -1)
