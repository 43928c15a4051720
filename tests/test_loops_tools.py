"""Tools: binding of arguments against the schema's own validator, and failures that come back as text."""

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit, Passage
from ragkit.loops.tool_calls import ToolCall
from ragkit.loops.tool_runs import bind, run_tool
from ragkit.loops.tools import (
    Observation,
    Tool,
    calculator_tool,
    code_tool,
    outside_tool,
    passages_tool,
    sql_tool,
    text_argument,
    toolbox,
)
from ragkit.search import BM25
from ragkit.structured import Database

PASSAGES = [Passage("kettle", "The Aster kettle holds\n1.7 litres."), Passage("lamp", "The Sorrel lamp is green.")]
SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "k": {"type": "integer", "minimum": 1}},
    "required": ["query"],
}
SEARCH = Tool("search", "finds", SCHEMA, lambda query, k=4: f"{query}|{k}")


def run(tool, arguments, name=None):
    return run_tool(toolbox([tool]), ToolCall(name or tool.name, arguments))


@pytest.mark.parametrize(
    ("arguments", "bound"),
    [
        ("kettle", {"query": "kettle"}),
        ({"query": "kettle"}, {"query": "kettle"}),
        ({"k": 3, "query": "kettle"}, {"k": 3, "query": "kettle"}),
        ({"query": "kettle", "k": "3"}, {"query": "kettle", "k": 3}),
        ({"query": 482913}, {"query": "482913"}),
        ({"_": "kettle", "k": 2}, {"query": "kettle", "k": 2}),
    ],
)
def test_arguments_are_bound(arguments, bound):
    assert bind(SEARCH, arguments) == bound


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "query"),
        ({"query": "x", "limit": 3}, "no argument 'limit'"),
        ({"query": "x", "k": 0}, "k must be bigger"),
        ({"query": "x", "k": "many"}, "k must be integer"),
        ({"query": None}, "query must be string"),
        ({"_": "a", "query": "b"}, "name the arguments"),
    ],
)
def test_bad_arguments_come_back_as_an_observation_with_the_signature(arguments, reason):
    outcome = run(SEARCH, arguments)
    assert outcome.kind == "bad arguments"
    assert reason in outcome.observation.text
    assert "search(query: string, k?: integer)" in outcome.observation.text


def test_an_unknown_tool_comes_back_with_the_names():
    outcome = run(SEARCH, "x", name="web")
    assert outcome.kind == "unknown tool"
    assert outcome.observation.text == "Error: there is no tool 'web'. Tools: search."


def test_names_match_without_case_blanks_and_hyphens():
    tool = Tool("look_up", "finds", SCHEMA, lambda query, k=4: query)
    assert [run(tool, "x", name=name).kind for name in ("Look up", "LOOK-UP", "look_up")] == ["ok"] * 3


def test_a_tool_that_raises_gives_an_observation():
    def broken(query, k=4):
        raise RuntimeError("no such table: shops")

    outcome = run(Tool("sql", "runs", SCHEMA, broken), "x")
    assert (outcome.kind, outcome.observation.text) == ("failed", "Error: sql failed: no such table: shops")


def test_passages_and_the_outside_collection_are_two_tools_and_show_ids():
    search = passages_tool(BM25(PASSAGES), k=1)
    found = run(search, "Aster kettle").observation
    assert found == Observation("[kettle] The Aster kettle holds 1.7 litres.", ("kettle",))
    assert run(search, "zebra").observation == Observation("Nothing was found.")
    assert run(search, "   ").kind == "failed"
    assert set(toolbox([search, outside_tool(BM25([]))])) == {"search", "outside"}


def test_code_keeps_its_lines():
    tool = code_tool(lambda query, k: [Hit("ragkit.f", "def f():\n    return 1", 1.0)])
    assert run(tool, "f").observation.text == "[ragkit.f]\ndef f():\n    return 1"
    assert run(code_tool(lambda query, k: []), "f").observation.text == "Nothing was found."


def test_sql_runs_what_it_is_given_and_shows_rows():
    tool = sql_tool(lambda query: [("Riverside", 3)], tables="stores(name,\n  staff)")
    assert run(tool, "SELECT 1").observation.text == '[["Riverside", 3]]'
    assert "stores(name, staff)" in tool.signature
    assert run(sql_tool(lambda query: "3 rows", tables="t"), "SELECT 1").observation.text == "3 rows"


def test_rows_of_the_guarded_database_reach_the_agent_as_a_table_that_says_what_was_cut():
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "CREATE TABLE stores (name, staff); INSERT INTO stores VALUES ('Riverside', 7), ('Hill', 4)"
    )
    tool = sql_tool(Database(connection, max_rows=1).run, tables="stores(name, staff)")
    found = run(tool, "SELECT name, staff FROM stores ORDER BY staff DESC").observation.text
    assert found == "name | staff\nRiverside | 7\n(the first 1 rows; there are more)"
    refused = run(tool, "DELETE FROM stores")
    assert (refused.kind, connection.execute("SELECT count(*) FROM stores").fetchone()) == ("failed", (2,))


def test_the_calculator_is_a_tool():
    assert run(calculator_tool(), "17 * 24").observation.text == "408"
    assert "not arithmetic" in run(calculator_tool(), "import os").observation.text


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("name", {"name": "two words"}),
        ("description", {"description": " "}),
        ("schema", {"schema": {"type": "string"}}),
        ("schema", {"schema": {"type": "object", "properties": {"q": {"type": "text"}}}}),
    ],
)
def test_a_wrongly_built_tool_is_refused(name, changed):
    given = {"name": "t", "description": "d", "schema": SCHEMA, "function": str, **changed}
    with pytest.raises(ValueError, match=name):
        Tool(**given)


def test_a_toolbox_needs_tools_with_names_that_differ():
    with pytest.raises(ValueError, match="tools"):
        toolbox([])
    with pytest.raises(ValueError, match="tools"):
        toolbox([SEARCH, Tool("Search", "finds", SCHEMA, str)])
    with pytest.raises(ValueError, match="k"):
        passages_tool(BM25(PASSAGES), k=-1)


@settings(max_examples=50, deadline=None)
@given(
    st.one_of(
        st.text(max_size=20),
        st.dictionaries(
            st.sampled_from(["query", "k", "_", "x"]), st.one_of(st.text(max_size=5), st.integers(), st.none())
        ),
    )
)
def test_a_run_never_raises_and_what_is_run_obeys_the_schema(arguments):
    seen = []
    tool = Tool("search", "finds", SCHEMA, lambda query, k=4: seen.append((query, k)) or "found")
    outcome = run(tool, arguments)
    assert outcome.kind in ("ok", "bad arguments")
    assert (outcome.kind == "ok") == bool(seen)
    for query, k in seen:
        assert isinstance(query, str)
        assert isinstance(k, int)
        assert k >= 1


def test_a_text_argument_is_bounded():
    assert (
        run(Tool("t", "d", text_argument("query", "what", length=3), lambda query: query), "abcd").kind
        == "bad arguments"
    )
