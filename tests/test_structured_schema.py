"""Schemas read from databases, their texts, and schema linking; against SQLite, a brute-force search, and Spider."""

import itertools
import sqlite3

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit
from ragkit.search import BM25
from ragkit.structured import (
    Column,
    Database,
    ForeignKey,
    Schema,
    SchemaLinker,
    Table,
    code_tokens,
    create_text,
    identifier_words,
    linking_scores,
    prompt_text,
    read_schema,
    table_passages,
    table_text,
)
from ragkit.structured.schema import read_comments
from ragkit.structured.schema_linking import bridges, key_graph
from ragkit.structured.sql_benchmarks import read_spider

SHOP = """
CREATE TABLE stores (
    -- The stores, one a row.
    store_id INTEGER PRIMARY KEY, -- 1 to 12
    name TEXT NOT NULL,           -- 'Hill'
    status TEXT CHECK (status IN ('open', 'shut')),
                                  -- 'shut': for good
    photo BLOB
);
CREATE TABLE products (code TEXT PRIMARY KEY /* such as AK-1 */, "list price" INTEGER);
CREATE TABLE "range" (
    store_id INTEGER REFERENCES stores,
    code TEXT REFERENCES products (code),
    PRIMARY KEY (store_id, code)
);
CREATE TABLE notes (a INTEGER, b INTEGER, c TEXT, FOREIGN KEY (a, b) REFERENCES "range" (store_id, code));
CREATE VIEW open_stores AS SELECT name FROM stores WHERE status = 'open';
INSERT INTO stores VALUES (1, 'Hill', 'open', x'00'), (2, 'Quay', 'open', NULL), (3, 'Hill', NULL, NULL);
"""


def bm25(passages):
    return BM25(passages, tokenize=code_tokens)


@pytest.fixture
def shop():
    connection = sqlite3.connect(":memory:")
    connection.executescript(SHOP)
    return connection


def test_a_schema_by_hand(shop):
    schema = read_schema(shop)
    assert [table.name for table in schema.tables] == ["stores", "products", "range", "notes", "open_stores"]
    stores = schema.table("STORES")
    assert stores.description == "The stores, one a row."
    assert stores.columns == (
        Column("store_id", "INTEGER", "1 to 12", ("1", "2", "3")),
        Column("name", "TEXT", "'Hill'", ("Hill", "Quay")),
        Column("status", "TEXT", "'shut': for good", ("open",)),
        Column("photo", "BLOB", "", ()),
    )
    assert stores.primary_key == ("store_id",)
    assert schema.table("range").foreign_keys == (
        ForeignKey(("store_id",), "stores", ("store_id",)),  # the key named no column: it is the other's primary key
        ForeignKey(("code",), "products", ("code",)),
    )
    assert schema.table("range").primary_key == ("store_id", "code")
    assert schema.table("notes").foreign_keys == (ForeignKey(("a", "b"), "range", ("store_id", "code")),)
    assert schema.table("products").columns[0].comment == "such as AK-1"
    assert schema.table("open_stores").columns[0].samples == ("Hill", "Quay")


def test_comments_in_text_and_commas_in_parentheses_mislead_nobody():
    sql = (
        "CREATE TABLE t (a TEXT DEFAULT '-- no, not this', -- yes\n b DECIMAL(5, 2) /* two */, CHECK (a > 1) -- rule\n)"
    )
    assert read_comments(sql) == {"a": "yes", "b": "two", "check": "rule"}
    assert read_comments("") == {}


def test_samples_can_be_left_out_and_long_values_are_cut(shop):
    assert all(not column.samples for table in read_schema(shop, samples=0).tables for column in table.columns)
    shop.execute("INSERT INTO products VALUES (?, 3)", ("x" * 100,))
    assert len(read_schema(shop).table("products").columns[0].samples[0]) == 40


def test_descriptions_take_the_place_of_comments(shop):
    schema = read_schema(shop, descriptions={"stores": "Where we sell."})
    assert schema.table("stores").description == "Where we sell."
    with pytest.raises(ValueError, match="descriptions names 'shops'"):
        read_schema(shop, descriptions={"shops": ""})
    with pytest.raises(ValueError, match="samples must be at least 0"):
        read_schema(shop, samples=-1)
    with pytest.raises(ValueError, match="name is no table"):
        schema.table("shops")


def test_an_empty_database_has_a_schema_without_tables():
    schema = read_schema(sqlite3.connect(":memory:"))
    assert schema == Schema(())
    assert prompt_text(schema) == ""
    assert SchemaLinker(schema, bm25)("stores", 5).tables == ()


names = st.text(alphabet='ab _-é"order', min_size=1, max_size=8).filter(str.strip)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(names, min_size=1, max_size=4, unique_by=lambda n: n.lower()), names, st.text(alphabet="c ;'-", max_size=9)
)
def test_create_text_runs_and_reads_back_as_the_same_table(columns, name, comment):
    """The round trip: whatever the names, SQLite accepts the statement and describes the table we meant."""
    remark = " ".join(comment.split())
    table = Table(name, tuple(Column(c, "TEXT", remark) for c in columns), (columns[0],), (), remark)
    connection = sqlite3.connect(":memory:")
    connection.executescript(create_text(table))
    read = read_schema(connection).tables[0]
    assert (read.name, read.primary_key) == (table.name, table.primary_key)
    assert [(c.name, c.type) for c in read.columns] == [(c.name, c.type) for c in table.columns]


def test_the_prompt_text_of_a_schema_makes_the_schema_again(shop):
    schema = read_schema(shop).only(["stores", "products", "range"])
    again = sqlite3.connect(":memory:")
    again.executescript(prompt_text(schema))
    for one, other in zip(schema.tables, read_schema(again).tables, strict=True):
        assert (one.name, one.primary_key, one.foreign_keys) == (other.name, other.primary_key, other.foreign_keys)
    assert "-- 1 to 12; e.g. '1', '2', '3'" in prompt_text(schema)


def test_only_leaves_out_keys_to_tables_that_the_prompt_does_not_show(shop):
    (table,) = read_schema(shop).only(["Range"]).tables
    assert table.foreign_keys == ()


def test_the_text_that_is_searched_says_names_in_words(shop):
    passage = next(p for p in table_passages(read_schema(shop)) if p.id == "open_stores")
    assert passage.title == "open stores"
    text = table_text(read_schema(shop).table("stores"))
    assert text.startswith("The stores, one a row.\nColumns: store id (1 to 12), name ('Hill')")
    assert "Values: 1, 2, 3, Hill, Quay, open." in text
    assert table_text(read_schema(shop).table("stores"), ["columns"]) == "Columns: store id, name, status, photo."
    with pytest.raises(ValueError, match="parts must be among"):
        table_text(Table("t", ()), ["rows"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("store_id", ["store", "id"]),
        ("sbTxDateTime", ["sb", "tx", "date", "time"]),
        ("HTTPServer2", ["http", "server", "2"]),
        ("TV_Channel", ["tv", "channel"]),
        ("магазин_код", ["магазин", "код"]),
        ("ladenGröße", ["laden", "größe"]),
        ("___", []),
    ],
)
def test_identifier_words(name, words):
    assert identifier_words(name) == words


def test_code_tokens_keep_a_joined_name_whole_and_in_words():
    assert {"fuse_hit", "fuse", "hit"} <= set(code_tokens("calls fuse_hits"))
    assert {"search", "bm25"} <= set(code_tokens("ragkit.search.bm25.BM25"))  # and not one long code with digits


# --- linking

KEYS = {"a": ["x"], "b": ["x", "y"], "c": ["y"], "x": ["a", "b"], "y": ["b", "c"], "lone": []}


def test_a_bridge_table_that_no_question_names_comes_in_by_its_keys(shop):
    linker = SchemaLinker(read_schema(shop).only(["stores", "products", "range"]), bm25)
    found = linker("Which stores are open, and which products have a list price above 3?", 2)
    assert set(found.retrieved) == {"stores", "products"}
    assert found.bridges == ("range",)
    assert SchemaLinker(linker.schema, bm25, bridge=0)("stores and products", 2).bridges == ()


def test_bridges_by_hand():
    assert bridges(KEYS, ["a", "b"]) == ("x",)
    assert bridges(KEYS, ["a", "x", "b"]) == ()  # connected already
    assert bridges(KEYS, ["a", "c"]) == ()  # three tables lie between
    assert bridges(KEYS, ["a", "c"], most=3) == ("x", "b", "y")
    assert bridges(KEYS, ["a", "b", "c"]) == ("x", "y")
    assert bridges(KEYS, ["a", "lone"]) == bridges(KEYS, []) == bridges(KEYS, ["a"]) == ()


@st.composite
def key_graphs(draw):
    tables = "abcdefg"
    pairs = draw(st.sets(st.sampled_from(list(itertools.combinations(tables, 2)))))
    return {t: [u for u in tables if tuple(sorted((t, u))) in pairs] for t in tables}


@settings(max_examples=100, deadline=None)
@given(key_graphs(), st.lists(st.sampled_from("abcdefg"), unique=True, max_size=4), st.integers(0, 3))
def test_after_bridging_every_pair_within_reach_is_connected_and_nothing_is_added_twice(keys, tables, most):
    added = bridges(keys, tables, most)
    assert not set(added) & set(tables)
    assert len(set(added)) == len(added)
    graph = nx.Graph((t, u) for t, joined in keys.items() for u in joined)
    graph.add_nodes_from(keys)
    inside = graph.subgraph([*tables, *added])
    for one, other in itertools.combinations(tables, 2):
        if nx.has_path(graph, one, other) and nx.shortest_path_length(graph, one, other) - 1 <= most:
            assert nx.has_path(inside, one, other)
    assert most or not added


def test_keys_join_in_both_directions_and_a_key_to_itself_joins_nothing():
    tree = Table("tree", (), (), (ForeignKey(("up",), "tree", ("id",)), ForeignKey(("o",), "owner", ("id",))))
    lost = Table("lost", (), (), (ForeignKey(("x",), "missing", ("id",)),))
    assert key_graph(Schema((tree, Table("owner", ()), lost))) == {"tree": ["owner"], "owner": ["tree"], "lost": []}


def test_scores_by_hand():
    schema = Schema((Table("a", ()), Table("b", ()), Table("c", ())))

    def index(passages):
        return lambda query, k: [Hit(i, "", 1.0) for i in ("a", "b", "c")][:k]

    scores = linking_scores(SchemaLinker(schema, index), [("q", {"A", "c"}), ("q", {"b"})], 2)
    assert [(s.recall, s.all_recall, s.tables) for s in scores] == [(0.5, 0.0, 2), (1.0, 1.0, 2)]
    with pytest.raises(ValueError, match="relevant holds no relevant id"):
        linking_scores(SchemaLinker(schema, index), [("q", set())], 2)
    assert SchemaLinker(schema, index)("q", 9).retrieved == ("a", "b", "c")  # k beyond the schema
    with pytest.raises(ValueError, match="bridge must be at least 0"):
        SchemaLinker(schema, index, bridge=-1)
    with pytest.raises(ValueError, match="k must be at least 0"):
        SchemaLinker(schema, index)("q", -1)


# --- Spider


@pytest.fixture(scope="module")
def spider(data):
    return read_spider(data / "text_to_sql" / "spider")


def test_gold_tables_of_spider_are_those_that_sqlite_reads(spider):
    """Two readings of 1,034 queries: Spider's own parse, and SQLite's compiler on the schema as we write it."""
    schemas, questions = spider
    assert (len(schemas), len(questions)) == (166, 1034)
    agree = compiled = refused = 0
    for name in dict.fromkeys(q.database for q in questions):
        connection = sqlite3.connect(":memory:")
        connection.executescript(prompt_text(schemas[name]))
        database = Database(connection)
        for question in (q for q in questions if q.database == name):
            try:
                tables = database.tables_of(question.sql)
            except (sqlite3.Error, ValueError):
                refused += 1
            else:
                compiled += 1
                agree += set(tables) == set(question.tables)
    assert compiled >= 1020
    assert compiled + refused == len(questions)
    assert agree == compiled


def test_recall_of_gold_tables_on_spider_rises_with_k_and_with_bridges(spider):
    schemas, questions = spider
    found = {}
    for bridge, k in itertools.product((0, 1), (1, 2, 3)):
        scores = []
        for name in dict.fromkeys(q.database for q in questions):
            linker = SchemaLinker(schemas[name], bm25, bridge)
            mine = [(q.question, q.tables) for q in questions if q.database == name][:20]
            scores += linking_scores(linker, mine, k)
        found[bridge, k] = sum(s.all_recall for s in scores) / len(scores)
    assert found[0, 1] < found[0, 2] < found[0, 3]
    assert found[1, 2] > found[0, 2]
    assert found[1, 1] == found[0, 1]  # one table has nothing to be joined to
