"""The agent's loop: a scripted model walks through it, a hostile one tries its caps, and the log shows every step."""

import json
import random
import sqlite3
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Passage
from ragkit.loops.agent import CLOSING, agent, system_prompt
from ragkit.loops.tools import (
    Tool,
    calculator_tool,
    code_tool,
    outside_tool,
    passages_tool,
    sql_tool,
    text_argument,
)
from ragkit.search import BM25
from ragkit.structured import CodeSearch, Database, code_chunks, code_tokens
from ragkit.text import count_tokens

PASSAGES = [
    Passage("price", "The Aster kettle costs 40 pounds."),
    Passage("founder", "Larkfield Goods was founded by Ida Falk."),
]
TOOLS = [passages_tool(BM25(PASSAGES), k=1), calculator_tool()]
QUESTION = "What do three Aster kettles cost?"


class Script:
    """Gives its replies in order, the last one for ever, and keeps what it was sent."""

    def __init__(self, *replies):
        self.replies, self.sent = replies, []

    def __call__(self, messages):
        self.sent.append(messages)
        return self.replies[min(len(self.sent), len(self.replies)) - 1]


SEARCH = 'Thought: I need the price.\nAction: search\nAction Input: {"query": "Aster kettle costs"}'
GOOD = (SEARCH, "Thought: times three\nAction: calculator[3 * 40]", "Thought: done\nFinal Answer: 120 pounds")


def never(*_):
    pytest.fail("called")


def test_several_tools_in_one_conversation():
    llm = Script(*GOOD)
    result = agent(QUESTION, tools=TOOLS, llm=llm)
    assert (result.answer, result.stopped) == ("120 pounds", "answer")
    assert [step.kind for step in result.steps] == ["ok", "ok", "answer"]
    assert [message["role"] for message in result.messages] == ["system", "user"] + ["assistant", "user"] * 2 + [
        "assistant"
    ]
    assert llm.sent[2][-1] == {"role": "user", "content": "Observation: 120"}
    assert "[price] The Aster kettle costs 40 pounds." in llm.sent[1][-1]["content"]
    assert result.ids == ("price",)
    assert not result.faults
    assert result.messages[:-1] == tuple(llm.sent[-1])


def test_all_five_tools_serve_one_conversation_and_every_step_is_in_the_log():
    connection = sqlite3.connect(":memory:")
    connection.executescript("CREATE TABLE staff (store, people); INSERT INTO staff VALUES ('Riverside', 7)")
    chunks = code_chunks("def price(n):\n    return 40 * n\n", "shop")
    tools = [
        passages_tool(BM25(PASSAGES), k=1),
        outside_tool(BM25([Passage("blog", "A rival kettle costs 55 pounds.")])),
        code_tool(CodeSearch(chunks, lambda ps: BM25(ps, tokenize=code_tokens))),
        sql_tool(Database(connection).run, tables="staff(store, people)"),
        calculator_tool(),
    ]
    turns = [
        ("search", {"query": "Aster kettle costs"}, "[price] The Aster kettle costs 40 pounds."),
        ("outside", {"query": "rival kettle"}, "[blog] A rival kettle costs 55 pounds."),
        ("code", {"query": "price"}, "[shop.price]\ndef price(n):\n    return 40 * n"),
        ("sql", {"query": "SELECT people FROM staff"}, "people\n7"),
        ("calculator", {"expression": "7 * 40"}, "280"),
    ]
    replies = [f"Thought: next\nAction: {tool}\nAction Input: {json.dumps(given)}" for tool, given, _ in turns]
    llm = Script(*replies, "Thought: done\nFinal Answer: 280 pounds")
    result = agent(QUESTION, tools=tools, llm=llm, max_steps=6)
    assert (result.answer, result.stopped, result.faults) == ("280 pounds", "answer", Counter())
    assert [step.turn.call.tool for step in result.steps[:-1]] == [tool for tool, _, _ in turns]
    assert [step.observation.text.strip() for step in result.steps[:-1]] == [said for _, _, said in turns]
    assert [m["content"] for m in result.messages[3::2]] == [
        f"Observation: {s.observation.text}" for s in result.steps[:-1]
    ]
    assert result.ids == ("price", "blog", "shop.price")
    assert [row["action"] for row in result.trace.rows()] == ["think", "call", "observe"] * 5 + ["think", "answer"]
    assert all(f"- {tool}(" in llm.sent[0][0]["content"] for tool, _, _ in turns)


def test_every_step_is_logged():
    rows = agent(QUESTION, tools=TOOLS, llm=Script(*GOOD)).trace.rows()
    assert [row["action"] for row in rows] == ["think", "call", "observe"] * 2 + ["think", "answer"]
    assert rows[1]["text"] == "search Aster kettle costs"
    assert rows[2]["passages"] == "price"


def test_tokens_count_the_conversation_each_time_it_is_sent():
    llm = Script(*GOOD)
    result = agent(QUESTION, tools=TOOLS, llm=llm)
    sent = sum(count_tokens(message["content"]) for messages in llm.sent for message in messages)
    assert result.tokens == sent + sum(count_tokens(reply) for reply in GOOD)


def test_invented_observations_are_cut_off_and_never_enter_the_conversation():
    llm = Script(SEARCH + "\nObservation: 99 pounds\nFinal Answer: 99 pounds", GOOD[2])
    result = agent(QUESTION, tools=TOOLS, llm=llm)
    assert result.faults == Counter(invented=1)
    assert all("99" not in message["content"] for message in llm.sent[1])
    assert "99" in result.steps[0].reply


def test_an_answer_beside_an_action_does_not_count():
    result = agent(QUESTION, tools=TOOLS, llm=Script(SEARCH + "\nFinal Answer: 99", GOOD[2]))
    assert result.answer == "120 pounds"
    assert result.faults["early answer"] == 1


def test_a_repeated_query_is_detected_whatever_its_dress_and_the_tool_is_not_run_again():
    runs = []
    tool = Tool("search", "finds", text_argument("query"), lambda query: runs.append(query) or "nothing")
    dress = [
        "Action: search[Red Kettle]",
        'Action: Search\nAction Input: {"query": "red  kettle"}',
        "Action: search[red kettle]",
    ]
    llm = Script(*dress, "Final Answer: never asked")
    result = agent("Which?", tools=[tool], llm=llm, max_repeats=2)
    assert runs == ["Red Kettle"]
    assert (result.stopped, result.faults["repeat"]) == ("repeat", 2)
    assert "in step 1" in llm.sent[2][-1]["content"]
    assert llm.sent[-1][-1]["content"] == CLOSING
    assert result.answer == "never asked"


@pytest.mark.parametrize(
    ("reply", "kind", "told"),
    [
        ("Action: web[x]", "unknown tool", "Error: there is no tool 'web'. Tools: search, calculator."),
        ("Action: search(wrong=1)", "bad arguments", "Error: bad arguments for search"),
        ("Action: calculator[import os]", "failed", "Error: calculator failed"),
        ("The kettle is red.", "unreadable", "neither an action nor a final answer"),
        ("", "unreadable", "neither an action nor a final answer"),
        ('Action: search\nAction Input: {"query', "unreadable", "start like JSON"),
        ("Action: None", "unreadable", "there is no final answer"),
    ],
)
def test_what_is_wrong_is_told_to_the_model_and_the_loop_goes_on(reply, kind, told):
    llm = Script(reply, "Final Answer: 3")
    result = agent(QUESTION, tools=TOOLS, llm=llm)
    assert result.faults[kind] == 1
    assert told in llm.sent[1][-1]["content"]
    assert result.answer == "3"


def test_an_answer_that_ignores_what_was_found_is_counted():
    assert agent("Who founded it?", tools=TOOLS, llm=Script("Action: search[founded]", "Final Answer: Bo")).faults[
        "ignored"
    ]
    assert not agent("Who?", tools=TOOLS, llm=Script("Action: search[founded]", "Final Answer: Ida Falk.")).faults[
        "ignored"
    ]
    assert not agent("Who?", tools=TOOLS, llm=Script("Final Answer: Bo")).faults["ignored"]


def endless():
    number = iter(range(10**6))
    return lambda messages: f"Action: search[query {next(number)}]"


def test_a_hard_cap_on_steps_and_one_closing_call():
    calls, inner = [], endless()

    def llm(messages):
        calls.append(messages)
        return inner(messages)

    result = agent(QUESTION, tools=TOOLS, llm=llm, max_steps=3, budget=100_000)
    assert (len(calls), result.stopped, result.answer) == (4, "steps", "")
    assert result.steps[-1].kind == "closing"


def test_the_closing_call_takes_plain_words_for_an_answer():
    assert (
        agent(QUESTION, tools=TOOLS, llm=Script(SEARCH, "It is 120 pounds."), max_steps=1).answer == "It is 120 pounds."
    )


def test_a_budget_of_tokens_ends_the_loop_before_a_call_that_would_break_it():
    result = agent(QUESTION, tools=TOOLS, llm=endless(), max_steps=50, budget=1_500, reply_tokens=20)
    assert result.stopped == "budget"
    assert 0 < result.tokens <= 1_500
    assert agent(QUESTION, tools=TOOLS, llm=never, budget=100).stopped == "budget"


def test_a_long_observation_is_cut_and_says_so():
    tool = Tool("search", "finds", text_argument("query"), lambda query: "word " * 1000)
    result = agent("Which?", tools=[tool], llm=Script("Action: search[x]", "Final Answer: y"), observation_tokens=10)
    assert result.steps[0].observation.text == "word " * 9 + "word [cut]"


def test_a_blank_question_costs_nothing():
    result = agent(" ", tools=TOOLS, llm=never)
    assert (result.answer, result.stopped, result.tokens) == ("", "blank", 0)


def test_braces_and_dollars_in_a_question_and_instructions_are_safe():
    llm = Script("Final Answer: {x}")
    assert agent("What is {x} for $5?", tools=TOOLS, llm=llm, instructions="Be $brief {now}.").answer == "{x}"
    assert llm.sent[0][0]["content"].endswith("Be $brief {now}.")
    assert llm.sent[0][1]["content"] == "What is {x} for $5?"


def test_the_system_turn_names_tools_and_their_arguments():
    prompt = system_prompt(TOOLS)
    assert "- search(query: string): finds passages" in prompt
    assert 'Action Input: the arguments as JSON, such as {"query": "..."}' in prompt


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_steps", 0),
        ("max_steps", 101),
        ("max_repeats", 0),
        ("budget", 0),
        ("reply_tokens", -1),
        ("observation_tokens", 1.5),
        ("tools", []),
    ],
)
def test_a_bad_argument_is_named(name, value):
    with pytest.raises(ValueError, match=name):
        agent(QUESTION, **{"tools": TOOLS, "llm": never, name: value})


replies = st.sampled_from(
    [
        SEARCH,
        GOOD[1],
        "",
        "Action: None",
        "Action: web[1]",
        "Observation: x",
        "words " * 30,
        "Action: search[a]\nObservation: b\nAction: search[c]",
        '{"name": "search", "arguments": {}}',
        "Final Answer: 120",
    ]
)


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 2**32),
    st.lists(replies, min_size=1, max_size=5),
    st.integers(1, 8),
    st.integers(1, 4),
    st.integers(50, 4_000),
)
def test_an_agent_never_exceeds_its_caps(seed, choices, max_steps, max_repeats, budget):
    rng, calls, runs = random.Random(seed), [], []

    def llm(messages):
        calls.append(messages)
        return rng.choice(choices)

    tool = Tool("search", "finds", text_argument("query"), lambda query: runs.append(query) or "found " * 50)
    result = agent(
        QUESTION,
        tools=[tool, calculator_tool()],
        llm=llm,
        max_steps=max_steps,
        max_repeats=max_repeats,
        budget=budget,
        reply_tokens=60,
        observation_tokens=30,
    )
    assert len(calls) <= max_steps + 1
    assert result.tokens <= budget
    assert len(runs) == len(set(runs)) <= max_steps
    assert result.faults["repeat"] <= max_repeats
    assert len(result.steps) == len(calls)
    assert result.stopped in ("answer", "steps", "repeat", "budget")
