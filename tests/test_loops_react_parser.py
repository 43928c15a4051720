"""Reading an agent's turn: each rule by a turn that broke a published parser, round trips of every form, any text."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.loops.react_parser import ERRORS, parse_turn
from ragkit.loops.tool_calls import ToolCall, as_call, read_call

QUOTED = {"query": 'the "red" Aster\n2nd line: \\d+ {x}', "k": 3}


def call_of(text):
    turn = parse_turn(text)
    assert (turn.error, turn.final) == ("", None), turn
    return turn.call


def test_it_stops_at_the_first_observation():
    text = "Thought: look\nAction: search\nAction Input: kettle\nObservation: 1.7 litres\nAction: sql\nAction Input: x"
    turn = parse_turn(text)
    assert turn.call == ToolCall("search", "kettle")
    assert turn.kept == "Thought: look\nAction: search\nAction Input: kettle"
    assert turn.invented.startswith("Observation: 1.7 litres")
    assert turn.thought == "look"


@pytest.mark.parametrize(
    "mark", ["Observation:", "observation:", "**Observation:**", "Observation 1:", "> Observation:", "Observation："]
)
def test_an_observation_is_known_however_it_is_marked(mark):
    assert call_of(f"Action: search\nAction Input: kettle\n{mark} 2 litres\nFinal Answer: 2") == ("search", "kettle")


def test_an_observation_on_the_same_line_is_cut_off_too():
    turn = parse_turn("Thought: I must. Action: search Action Input: red kettle Observation: 1.7 litres")
    assert turn.call == ToolCall("search", "red kettle")
    assert turn.invented == "Observation: 1.7 litres"


def test_an_observation_inside_a_quoted_argument_is_none():
    text = 'Action: note\nAction Input: {"text": "Observation: it leaks"}\nObservation: noted'
    assert call_of(text).arguments == {"text": "Observation: it leaks"}
    assert parse_turn(text).invented == "Observation: noted"


def test_a_turn_that_begins_with_an_invented_observation_holds_nothing():
    turn = parse_turn("Observation: 1.7\nAction: search[x]")
    assert (turn.error, turn.kept) == ("nothing", "")


def test_the_first_action_counts():
    assert call_of("Action: search[one]\nAction: search[two]") == ("search", "one")
    assert call_of("Action: a\nAction Input: 1\nAction: b\nAction Input: 2") == ("a", "1")
    assert call_of('[{"name": "a", "arguments": {}}, {"name": "b", "arguments": {}}]') == ("a", {})


@pytest.mark.parametrize(
    "text",
    [
        "Action: search[kettle]\nFinal Answer: 1.7 litres",
        "Final Answer: 1.7 litres\nAction: search[kettle]",
        "Answer: 1.7 litres\nAction: search\nAction Input: kettle",
        'Final Answer: 1.7 litres\n{"name": "search", "arguments": "kettle"}',
    ],
)
def test_an_action_beats_a_hallucinated_final_answer(text):
    turn = parse_turn(text)
    assert turn.call == ToolCall("search", "kettle")
    assert turn.dropped == "1.7 litres"
    assert not turn.kept.startswith(("Final", "Answer"))


@pytest.mark.parametrize("none", ["None", "none.", "N/A", "No action", "null", "*None*"])
def test_action_none_is_no_action(none):
    turn = parse_turn(f"Thought: I know.\nAction: {none}\nFinal Answer: 1.7 litres")
    assert turn.final == "1.7 litres"
    assert parse_turn(f"Action: {none}").error == "none"
    assert call_of(f"Action: {none}\nAction: search[x]") == ("search", "x")
    assert parse_turn(f"Action: {none}\nAction Input: None").error == "none"


@pytest.mark.parametrize("stray", ["\nObserv", "\nObs", "\nObservation", " Observ", "Observati", "\n  Observa  \n"])
def test_a_stray_piece_of_the_stop_word_goes(stray):
    assert call_of("Action: search\nAction Input: red kettle" + stray) == ("search", "red kettle")
    assert call_of("Action: search[red kettle]" + stray) == ("search", "red kettle")
    assert parse_turn("Final Answer: 1.7 litres" + stray).final == "1.7 litres"
    assert not parse_turn("Action: search[red kettle]" + stray).kept.rstrip().endswith(stray.strip())


def test_words_that_begin_alike_stay():
    assert call_of("Action: search\nAction Input: the Observatory") == ("search", "the Observatory")
    assert call_of("Action: search\nAction Input: an Observation") == ("search", "an Observation")


def test_multi_line_inputs_keep_their_lines():
    sql = 'SELECT name\nFROM stores\n\nWHERE city = "Riverside"'
    assert call_of(f"Action: sql\nAction Input: {sql}\nObservation: x") == ("sql", sql)
    assert call_of(f"Action: sql\nAction Input:\n```sql\n{sql}\n```") == ("sql", sql)
    assert call_of(f"Action: sql[{sql}]") == ("sql", sql)
    assert call_of("Action: search\nthe kettle") == ("search", "the kettle")


def test_quotes_newlines_and_reordered_arguments_are_kept():
    for pairs in (QUOTED.items(), reversed(QUOTED.items())):
        text = json.dumps(dict(pairs))
        assert call_of(f"Action: search\nAction Input: {text}\nObservation: x").arguments == QUOTED
        assert call_of(f'{{"arguments": {text}, "name": "search"}}').arguments == QUOTED
        assert call_of(f'{{"name": "search", "arguments": {text}}}').arguments == QUOTED
    assert call_of('Action: search\nAction Input: {"query": "a\nb"}').arguments == {"query": "a\nb"}
    assert call_of("Action: search\nAction Input: {'query': 'it\\'s', 'k': 3}").arguments == {"query": "it's", "k": 3}


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("Action: search[red kettle]", ("search", "red kettle")),
        ('Action: search["red kettle"]', ("search", "red kettle")),
        ('Action: search["red" or "blue"]', ("search", '"red" or "blue"')),
        ("Action 2: Search[the [new] kettle]", ("Search", "the [new] kettle")),
        ("search[kettle]", ("search", "kettle")),
        ('Action: search("red (new) kettle")', ("search", "red (new) kettle")),
        ('Action: search(query="kettle", k=3)', ("search", {"query": "kettle", "k": 3})),
        ('Action: search({"query": "kettle"})', ("search", {"query": "kettle"})),
        ("Action: calculator(17 * 24)", ("calculator", "17 * 24")),
        ("Action: `search`\nAction Input: kettle", ("search", "kettle")),
        ("**Action:** search\n**Action Input:** kettle", ("search", "kettle")),
        ("Action: list", ("list", {})),
        ('{"action": "search", "action_input": "kettle"}', ("search", "kettle")),
        ('```json\n{"tool": "search", "query": "kettle"}\n```', ("search", {"query": "kettle"})),
        ('<tool_call>\n{"name": "search", "arguments": "{\\"q\\": 1}"}\n</tool_call>', ("search", {"q": 1})),
        ('{"type": "function", "function": {"name": "s", "arguments": {"q": 1}}}', ("s", {"q": 1})),
        ('Action: {"name": "search", "parameters": null}', ("search", {})),
        ("<think>Action: old[x]</think>Action: new[y]", ("new", "y")),
        ("Action: søg[rød kedel 水]", ("søg", "rød kedel 水")),
    ],
)
def test_the_forms_of_a_call(text, call):
    assert call_of(text) == call


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Thought: I know.\nFinal Answer: 1.7 litres\nand red", "1.7 litres\nand red"),
        ("Final Answer: search[kettle]", "search[kettle]"),
        ("Action: Finish[1,800 ft]", "1,800 ft"),
        ('{"action": "Final Answer", "action_input": "yes"}', "yes"),
        ('{"thought": "easy", "final_answer": "yes"}', "yes"),
        ("Final Answer:", ""),
        ("Final Answer: 3\nObservation: wrong\nFinal Answer: 4", "3"),
        ("I have seen enough. Final Answer: 3", "3"),
    ],
)
def test_the_forms_of_a_final_answer(text, answer):
    assert parse_turn(text).final == answer


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "nothing"),
        ("It holds 1.7 litres.", "nothing"),
        ("The film is called Lights, Camera, Action: go", "nothing"),
        ('{"name": "Ida", "age": 3}', "nothing"),
        ("Action:", "unnamed"),
        ('{"name": "", "arguments": {}}', "unnamed"),
        ('Action: search\nAction Input: {"query": "kettle', "arguments"),
        ('Action: {"name": "search", "argum', "arguments"),
    ],
)
def test_documented_errors(text, error):
    turn = parse_turn(text)
    assert turn.error == error
    assert error in ERRORS
    assert turn.call is None
    assert turn.final is None


def test_a_reply_that_is_no_text_is_refused():
    with pytest.raises(ValueError, match="reply"):
        parse_turn(None)


def test_a_call_needs_a_key_that_says_so():
    assert as_call(["search"]) is None
    assert as_call({"name": "Ida"}) is None
    assert read_call("search") is None


PIECES = (
    "Thought:|Action:|Action Input:|Final Answer:|Observation:|Observ|None|search|[|]|{|}|'|\n| |\\|(|)|```json|"
    '<think>|"|</think>|水|\x00|\ud800|kettle|Action: Finish[1]|**|=|,|{"name": "a", "arguments": {"q": "x"}}|'
    + "1"
    * 5000
)
pieces = st.sampled_from(PIECES.split("|"))


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(pieces, max_size=25).map("".join)))
def test_no_text_raises_and_a_turn_is_one_thing(text):
    turn = parse_turn(text)
    assert (turn.call is not None) + (turn.final is not None) + bool(turn.error) == 1
    assert turn.error in {"", *ERRORS}
    again = parse_turn(turn.kept)  # what goes into the conversation says the same
    assert (again.call, again.final) == (turn.call, turn.final)


def test_long_and_deep_texts_are_read_in_time():
    for text in ("{" * 20_000, '{"a":' * 5_000, "Action: " + "[" * 20_000, "Action: f(" + "(" * 20_000, " " * 50_000):
        parse_turn(text)


values = st.recursive(
    st.one_of(st.text(max_size=12), st.integers(-9, 9), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)
names = st.from_regex(r"[a-z]{3,8}(_[a-z]{2,5})?", fullmatch=True).filter(
    lambda name: name not in {"none", "null", "nil", "nothing", "finish", "final_answer"}
)
tails = st.sampled_from(
    ["", "\n", "\nObserv", "\nObservation: made up\nFinal Answer: 7", "\nThought: done?", " And so on."]
)


@settings(max_examples=80, deadline=None)
@given(
    names, st.dictionaries(st.text(max_size=8), values, max_size=4), tails, st.sampled_from([None, 2]), st.booleans()
)
def test_what_was_written_as_json_is_read_back_whatever_follows(name, arguments, tail, indent, ascii_only):
    written = json.dumps(arguments, indent=indent, ensure_ascii=ascii_only)
    expected = ToolCall(name, arguments)
    assert call_of(f"Thought: so.\nAction: {name}\nAction Input: {written}{tail}") == expected
    one = json.dumps({"arguments": arguments, "name": name}, indent=indent, ensure_ascii=ascii_only)
    assert call_of(one + tail) == expected
    assert call_of(f"```json\n{one}\n```{tail}") == expected
