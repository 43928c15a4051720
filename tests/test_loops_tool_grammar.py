"""Constrained tool calls: every text of the schema is read by the parser; the local model cannot leave the form."""

import json
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.loops.react_parser import parse_turn
from ragkit.loops.tool_calls import ToolCall
from ragkit.loops.tool_grammar import call_grammar, call_schema
from ragkit.loops.tools import Tool, calculator_tool, text_argument
from ragkit.models.protocol import check_answer, check_schema

WIDE = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": 12},
        "where": {"enum": ["inside", "outside"]},
        "k": {"type": "integer"},
        "exact": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 4}, "maxItems": 2},
        "least": {"type": "number"},
    },
    "required": ["query", "where"],
}
TOOLS = [
    Tool("search", "finds", WIDE, str),
    calculator_tool(),
    Tool("today", "the date", {"type": "object", "properties": {}}, str),
    Tool("note", "notes", {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}}, str),
]
texts = st.text(st.characters(codec="utf-8"), max_size=12)
SEARCHES = st.fixed_dictionaries(
    {"query": st.text(min_size=1, max_size=12), "where": st.sampled_from(["inside", "outside"])},
    optional={"k": st.integers(-9, 99), "exact": st.booleans(), "tags": st.lists(st.text(max_size=4), max_size=2)},
)


@settings(max_examples=50, deadline=None)
@given(texts, SEARCHES)
def test_every_call_that_obeys_the_schema_is_read_by_the_parser(thought, arguments):
    text = json.dumps({"thought": thought, "action": "search", "arguments": arguments}, ensure_ascii=False)
    check_answer(text, call_schema(TOOLS))
    assert parse_turn(text).call == ToolCall("search", arguments)


@settings(max_examples=50, deadline=None)
@given(texts, st.text(min_size=1, max_size=20))
def test_every_answer_that_obeys_the_schema_is_read_by_the_parser(thought, answer):
    text = json.dumps({"thought": thought, "final_answer": answer}, ensure_ascii=False)
    check_answer(text, call_schema(TOOLS))
    assert parse_turn(text).final == answer


@pytest.mark.parametrize(
    "value",
    [
        {"thought": "x", "action": "web", "arguments": {}},
        {"thought": "x", "action": "calculator", "arguments": {"query": "1"}},
        {"thought": "x", "action": "search", "arguments": {"query": "", "where": "inside"}},
        {"thought": "x", "action": "search", "arguments": {"query": "a", "where": "there"}},
        {"thought": "x" * 161, "final_answer": "y"},
        {"thought": "x"},
        {"thought": "x", "final_answer": "y", "action": "today", "arguments": {}},
    ],
)
def test_the_schema_refuses_what_is_no_call(value):
    with pytest.raises(ValueError, match="schema was not kept to"):
        check_answer(json.dumps(value), call_schema(TOOLS))


def test_every_string_of_the_schema_is_bounded():
    def strings(part):
        if isinstance(part, dict):
            if part.get("type") == "string":
                yield part
            for inner in part.values():
                yield from strings(inner)
        elif isinstance(part, list):
            for inner in part:
                yield from strings(inner)

    found = list(strings(call_schema(TOOLS)))
    assert len(found) == 10
    assert all("maxLength" in part for part in found)


def test_one_tool_and_no_answer_leave_one_form():
    schema = call_schema([calculator_tool()], final=False)
    assert schema["properties"]["action"] == {"const": "calculator"}
    check_schema(schema)
    assert "Final Answer" not in call_grammar([calculator_tool()], final=False)


# --- the grammar, by a sampler of its own: the rules are read back and expanded at random


def sample(grammar, rng):
    """A random text of a grammar in the part of GBNF that is used here."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.strip().splitlines())
    token = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|\{\d+,\d+\}|[()|?*]|\w+')

    def expand(name):
        tokens = token.findall(rules[name])
        text, end = choices(tokens, 0)
        assert end == len(tokens), (name, tokens[end:])
        return text()

    def choices(tokens, i):
        options, (one, i) = [], sequence(tokens, i)
        options.append(one)
        while i < len(tokens) and tokens[i] == "|":
            one, i = sequence(tokens, i + 1)
            options.append(one)
        return (lambda: rng.choice(options)()), i

    def sequence(tokens, i):
        parts = []
        while i < len(tokens) and tokens[i] not in "|)":
            part, i = atom(tokens, i)
            low, high = 1, 1
            if i < len(tokens) and tokens[i] == "?":
                low, high, i = 0, 1, i + 1
            elif i < len(tokens) and tokens[i][0] == "{":
                low, high = map(int, tokens[i][1:-1].split(","))
                i += 1
            parts.append((part, low, min(high, low + 6)))
        return (lambda: "".join(p() for p, low, high in parts for _ in range(rng.randint(low, high)))), i

    def atom(tokens, i):
        it = tokens[i]
        if it == "(":
            inner, i = choices(tokens, i + 1)
            assert tokens[i] == ")"
            return inner, i + 1
        if it[0] == '"':
            return (lambda: json.loads(it)), i + 1
        if it[0] == "[":
            allowed = [c for c in '"\\/bfnrt0123456789 aZ{}[]:,é水' if re.fullmatch(it, c)]
            return (lambda: rng.choice(allowed)), i + 1
        return (lambda: expand(it)), i + 1

    return expand("root")


@pytest.mark.parametrize("seed", range(60))
def test_every_text_of_the_grammar_is_one_call_or_one_answer(seed):
    text = sample(call_grammar(TOOLS), random.Random(seed))
    turn = parse_turn(text)
    assert not turn.error, text
    if turn.call is not None:
        tool = next(tool for tool in TOOLS if tool.name == turn.call.tool)
        check_schema(tool.schema)(dict(turn.call.arguments))
        assert text.endswith("}")
    else:
        assert turn.final is not None


def test_schemas_that_the_grammar_cannot_say_are_refused():
    for part in ({"type": "object"}, {"type": "string", "pattern": "a"}, {"type": "integer", "minimum": 1}, {}):
        tool = Tool("t", "d", {"type": "object", "properties": {"x": part}}, str)
        with pytest.raises(ValueError, match="tools holds t"):
            call_grammar([tool])
    with pytest.raises(ValueError, match="tools"):
        call_grammar([])
    with pytest.raises(ValueError, match="thought"):
        call_schema(TOOLS, thought=0)
    with pytest.raises(ValueError, match="length"):
        call_grammar(TOOLS, length=0)


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize("form", ["schema", "grammar"])
def test_the_local_model_cannot_leave_the_form_however_hot_it_samples(form):
    from ragkit.models import Local

    tools = [Tool("search", "finds", text_argument("query", length=40), str), calculator_tool()]
    limits = {"thought": 30, "answer": 30}
    rule = (
        {"schema": call_schema(tools, **limits)}
        if form == "schema"
        else {"grammar": call_grammar(tools, length=40, **limits)}
    )
    for seed in range(4):
        completion = Local(max_tokens=300, temperature=1.5, seed=seed, **rule).generate("What is 17 times 24?")
        turn = parse_turn(completion.text)
        assert not turn.error
        assert turn.call is None or turn.call.tool in ("search", "calculator")
