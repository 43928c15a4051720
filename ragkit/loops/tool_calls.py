"""The forms in which models write a call of a tool, read into one: the tool's name and its arguments.

JSON (OpenAI's ``{"name", "arguments"}``, LangChain's ``{"action", "action_input"}`` and their relatives), brackets
(``search[red kettle]``, the form of the ReAct paper), and a call as in Python (``search("kettle", k=3)``). A parser
made of one regular expression loses quotes, line breaks and reordered keys; here the standard decoders do the reading.
Left out: repair of JSON that is broken, where a guess could change what is asked.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

NAME_KEYS = ("name", "tool", "tool_name", "action", "function", "function_name")
ARGUMENT_KEYS = ("arguments", "args", "action_input", "tool_input", "input", "parameters", "params", "kwargs")
FINAL_KEYS = ("final_answer", "final answer")
NO_TOOL = frozenset({"", "none", "n/a", "na", "null", "nil", "no action", "nothing", "no tool", "none needed"})

_THOUGHTS = {"thought", "thoughts", "reasoning", "type", "id"}
_OPENING = re.compile(r"(?:\s|```\w*|<tool_call>|\[)*")
_CLOSING = re.compile(r"(?:\s*(?:```|</tool_call>|\]))*")
_BRACKET = re.compile(r"([A-Za-z_][\w.-]{0,60})[ \t]{0,3}\[(.*)\]\Z", re.S)
_PYTHON = re.compile(r"([A-Za-z_]\w{0,60})[ \t]{0,3}\((.*)\)\Z", re.S)
_FENCE = re.compile(r"\A```\w*\s*\n?(.*?)\s*```\s*\Z", re.S)


class ToolCall(NamedTuple):
    """A tool's name and its arguments; a plain text stands for the tool's only argument, whatever that is called."""

    tool: str
    arguments: Mapping[str, Any] | str


class JSONCall(NamedTuple):
    """A call, and where its JSON ends in the text."""

    call: ToolCall
    end: int


def decode(text: str, at: int) -> tuple[Any, int] | None:
    """The JSON value that starts at ``at``, and its end; None where there is none. Raw line breaks are forgiven."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


def literal(text: str) -> Any:
    """The Python literal that a text is; `ValueError` for anything else, whatever the parser makes of it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\\d" in a model's text is no concern of ours
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"no literal: {text!r:.80}") from error


def as_call(value: Any) -> ToolCall | None:
    """A decoded JSON value as a call, or None if it is none; other keys, such as ``thought``, are passed over.

    Without a key for arguments, ``{"action": "search", "query": "kettle"}`` has what else it holds for arguments;
    ``{"name": "Ida"}`` is no call.

    >>> as_call({"arguments": '{"query": "kettle"}', "name": "search"})
    ToolCall(tool='search', arguments={'query': 'kettle'})
    """
    if isinstance(value, Mapping) and isinstance(value.get("function"), Mapping):
        value = value["function"]  # {"type": "function", "function": {"name": ..., "arguments": "..."}}
    if not isinstance(value, Mapping):
        return None
    key = next((key for key in NAME_KEYS if isinstance(value.get(key), str)), None)
    holder = next((key for key in ARGUMENT_KEYS if key in value), None)
    if key is not None and holder is not None:
        return ToolCall(value[key].strip(), _arguments(value[holder]))
    if key in ("tool", "tool_name", "action"):
        return ToolCall(value[key].strip(), {k: v for k, v in value.items() if k != key and k not in _THOUGHTS})
    final = next((value[key] for key in FINAL_KEYS if key in value), None)
    if key is None and final is not None:
        return ToolCall("final_answer", final if isinstance(final, str) else json.dumps(final, ensure_ascii=False))
    return None


def _arguments(given: Any) -> Mapping[str, Any] | str:
    """The value behind a key for arguments: an object, JSON in a string, a text, or nothing."""
    if isinstance(given, str) and given.strip().startswith("{"):
        decoded = decode(given.strip(), 0)
        given = decoded[0] if decoded else given
    if given is None:
        return {}
    return given if isinstance(given, (str, Mapping)) else json.dumps(given, ensure_ascii=False)


def json_call(text: str, at: int) -> JSONCall | None:
    """The JSON tool call at ``at``, behind fences, ``<tool_call>`` and ``[`` if there are any; None without one."""
    opening = _OPENING.match(text, at)
    start = opening.end() if opening else at
    decoded = decode(text, start) if text[start : start + 1] == "{" else None
    call = as_call(decoded[0]) if decoded else None
    if call is None or decoded is None:
        return None
    closing = _CLOSING.match(text, decoded[1])
    return JSONCall(call, closing.end() if closing else decoded[1])


def starts_json(text: str) -> bool:
    """Whether a text, behind a fence, starts with a brace.

    >>> starts_json("```json\\n{"), starts_json("search {x}")
    (True, False)
    """
    opening = _OPENING.match(text)
    return text[opening.end() if opening else 0 :].startswith("{")


def read_call(text: str) -> ToolCall | None:
    """A call in brackets or parentheses; None where the text is neither.

    An argument without a name that stands beside named ones is called ``_``.

    >>> read_call('search["red" kettle [new]]').arguments, read_call('search("a (b)", k=3)').arguments
    ('"red" kettle [new]', {'_': 'a (b)', 'k': 3})
    """
    bracket = _BRACKET.match(text.strip())
    if bracket:
        return ToolCall(bracket.group(1).strip(), _unquoted(bracket.group(2).strip()))
    python = _PYTHON.match(text.strip())
    return _python_call(python.group(1), python.group(2)) if python else None


def _python_call(name: str, inside: str) -> ToolCall:
    """``name(inside)`` with literals for its arguments; other text inside is the only argument as it stands."""
    decoded = decode(inside.strip(), 0) if inside.strip().startswith("{") else None
    if decoded and isinstance(decoded[0], Mapping):
        return ToolCall(name, decoded[0])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = ast.parse(f"f({inside})", mode="eval").body
            if not isinstance(call, ast.Call) or len(call.args) > 1 or any(word.arg is None for word in call.keywords):
                return ToolCall(name, inside.strip())
            values = [ast.literal_eval(value) for value in call.args]
            named = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return ToolCall(name, inside.strip())
    if values and not named:
        return ToolCall(name, values[0] if isinstance(values[0], Mapping) else str(values[0]))
    return ToolCall(name, {**({"_": values[0]} if values else {}), **named})


def read_input(text: str, at: int, end: int) -> tuple[Mapping[str, Any] | str, int] | None:
    """The input of an action: an object and its end, or the text up to ``end``; None for broken JSON.

    A complete JSON value may reach beyond ``end``: an "Observation:" inside its quotes is no observation.
    """
    opening = re.compile(r"(?:\s|```\w*)*").match(text, at)
    start = opening.end() if opening else at
    if text[start : start + 1] == "{":
        decoded = decode(text, start)
        if decoded is None:
            try:
                value = literal(text[start:end].strip().removesuffix("```").strip())
            except ValueError:
                return None
            return ({str(key): part for key, part in value.items()}, end) if isinstance(value, dict) else None
        return decoded
    plain = text[at:end].strip()
    fenced = _FENCE.match(plain)
    return _unquoted(fenced.group(1) if fenced else plain), end


def _unquoted(text: str) -> str:
    """A text without the quotation marks around the whole of it.

    >>> _unquoted('"red kettle"'), _unquoted('"red" or "blue"')
    ('red kettle', '"red" or "blue"')
    """
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text[0] not in text[1:-1]:
        return text[1:-1]
    return text
