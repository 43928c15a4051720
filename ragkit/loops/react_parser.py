"""Reading one turn of a ReAct loop: a thought, then the *first* action or a final answer, whatever else was written.

Yao et al., *ReAct: Synergizing Reasoning and Acting in Language Models* (ICLR 2023): "Thought", "Action" and
"Observation" alternate, and only the first two are the model's. The rules, each bought by a bug report of a library:

- What follows the first "Observation:" was invented and is cut off, and so is a stray "Observ" that a stop word left.
- The first action counts. An action beats a final answer in the same turn, before or after it: the model has not seen
  the observation yet. (LlamaIndex's parser returns the answer, LangChain's raises.)
- Arguments keep their lines, quotes and order: JSON is decoded from its first brace on, never cut by an expression.
- Read are ``Action:`` with ``Action Input:``, ``search[...]``, ``search("...", k=3)``, JSON tool calls with the keys in
  any order (plain, fenced, in ``<tool_call>``), and numbered labels ("Action 1:"). "Action: None" is no action.

Nothing raises: what cannot be read is a `Turn` with an ``error`` from `ERRORS`. Left out: several actions in one turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ragkit.loops.tool_calls import NO_TOOL, ToolCall, json_call, read_call, read_input, starts_json

ERRORS = {
    "nothing": "the turn holds neither an action nor a final answer",
    "none": "the action is None and there is no final answer",
    "unnamed": "the action names no tool",
    "arguments": "the arguments of the action start like JSON and are not",
}
"""Kind of error -> what is told to the model. A turn has one of these, or a call, or a final answer."""

_LABEL = re.compile(
    r"(?:^[ \t>*_#]*|(?<=[.!?;] )(?=(?-i:Action|Final Answer))|(?<=[ \t])(?=(?-i:Action Input)))"
    r"(?P<name>thought|action[ _]input|action|act|final[ _]answer|answer|observation|question)"
    r"(?:[ \t]*\d{1,3})?[ \t]*[*_]*[:：][*_]*[ \t]*",
    re.I | re.M,
)
_OBSERVATION = re.compile(r"^[ \t>*_#]*observation(?:[ \t]*\d{1,3})?[ \t]*[*_]*[:：]|\bObservation:", re.I | re.M)
_STRAY = re.compile(r"(?:\n[ \t]*Obs(?:e(?:r(?:v(?:a(?:t(?:i(?:on?)?)?)?)?)?)?)?|Observ(?:a(?:t(?:io?)?)?)?)\s*\Z")
_BARE = re.compile(r"^[ \t]*[A-Za-z_]\w*\[[^\n]*\][ \t]*$", re.M)
_THINK = re.compile(r"\s*<think>(.*?)</think>", re.S)
_FINISH = {"finish", "final answer", "final_answer", "finalanswer"}
BRACES = 200
"""Opening braces that are tried in search of a JSON tool call; a turn with more is no turn."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one reply of a model amounts to: exactly one of ``call``, ``final`` and ``error`` is set.

    ``kept`` is what belongs into the conversation: the reply up to the end of the first action, without ``<think>``
    and without an answer that came too early. ``invented`` is what the model wrote from the first "Observation:" on,
    ``dropped`` a final answer that was written beside an action and does not count.
    """

    thought: str = ""
    call: ToolCall | None = None
    final: str | None = None
    error: str = ""
    kept: str = ""
    invented: str = ""
    dropped: str = ""


class _Found(NamedTuple):
    """An action in the text: where it starts and ends, and the call, or an error, or a final answer."""

    start: int
    end: int
    call: ToolCall | None
    error: str = ""
    final: str | None = None


def parse_turn(reply: str) -> Turn:
    """Read a model's reply. Never raises on text; a reply that is no ``str`` is a ``ValueError``.

    >>> parse_turn('Thought: look it up\\nAction: search\\nAction Input: {"k": 3, "query": "red \\\\"Aster\\\\""}').call
    ToolCall(tool='search', arguments={'k': 3, 'query': 'red "Aster"'})
    >>> parse_turn("Action: search[kettle]\\nObservation: 1.7 litres\\nFinal Answer: 1.7 litres").call
    ToolCall(tool='search', arguments='kettle')
    """
    if not isinstance(reply, str):
        raise ValueError(f"reply must be a str, got {type(reply).__name__}")
    thinking = _THINK.match(reply)
    text = reply[thinking.end() :] if thinking else reply
    action, limit, saw_none = None, _first_observation(text, 0), False
    for found in _actions(text):
        if found.start >= limit:
            break
        if found.end > limit:  # the "Observation:" stood inside the quotes of an argument
            limit = _first_observation(text, found.end)
        if found.error != "none":
            action = found
            break
        saw_none = True
    written, invented = text[:limit], text[limit:].strip()
    final_at, final = _final(written)
    starts = [at for at in (action.start if action else -1, final_at) if at >= 0]
    thought = _thought((thinking.group(1) + "\n" if thinking else "") + written[: min(starts, default=limit)])
    if action is None:
        error = "" if final is not None else "none" if saw_none else "nothing"
        return Turn(thought, None, final, error, _STRAY.sub("", written).rstrip(), invented)
    before = final_at if 0 <= final_at < action.start else action.start
    kept = _STRAY.sub("", text[:before] + text[action.start : action.end]).rstrip()
    dropped = (_final(written[: action.start])[1] or final or "") if action.final is None else ""
    return Turn(thought, action.call, action.final, action.error, kept, invented, dropped)


def _first_observation(text: str, start: int) -> int:
    """Where the first "Observation:" from ``start`` on begins; the end of the text where there is none."""
    match = _OBSERVATION.search(text, start)
    return match.start() if match else len(text)


def _actions(text: str) -> Iterator[_Found]:
    """The actions of a text in order of their start: labelled ones, JSON, and bare ``search[...]`` if none."""
    found = sorted([*_labelled(text), *_json_calls(text)], key=lambda one: one.start)
    if not any(one.call or one.final is not None for one in found) and _final(text)[1] is None:
        for match in _BARE.finditer(text):
            if not _LABEL.match(text, match.start()) and (call := read_call(match.group())):
                found.append(_finished(match.start(), match.end(), call))
    yield from sorted(found, key=lambda one: one.start)


def _labelled(text: str) -> Iterator[_Found]:
    """Every ``Action:`` with what belongs to it."""
    labels = list(_LABEL.finditer(text))
    for i, label in enumerate(labels):
        if label["name"].lower() not in ("action", "act"):
            continue
        rest = labels[i + 1 :]
        here_end = min(rest[0].start() if rest else len(text), _first_observation(text, label.end()))
        body = text[label.end() : here_end]
        if (whole := json_call(text, label.end())) is not None:
            yield _finished(label.start(), whole.end, whole.call)
            continue
        if starts_json(body):
            yield _Found(label.start(), here_end, None, "arguments")
            continue
        name = _STRAY.sub("", body).strip().strip("`*_\"'").strip()
        if name.rstrip(".").lower() in NO_TOOL:
            yield _Found(label.start(), here_end, None, "none" if name else "unnamed")
            continue
        if rest and rest[0]["name"].lower().startswith("action") and len(rest[0]["name"]) > len("action"):
            after = rest[1].start() if len(rest) > 1 else len(text)
            yield _with_input(text, label.start(), name, rest[0].end(), after)
        elif call := read_call(name):
            yield _finished(label.start(), here_end, call)
        else:
            line, _, more = name.partition("\n")  # the input on the next line, its label forgotten
            yield _with_text(label.start(), here_end, line.strip(), more)


def _with_input(text: str, start: int, name: str, at: int, after: int) -> _Found:
    """An action whose input begins at ``at`` and, where it is no JSON, ends at the next label."""
    end = min(after, _first_observation(text, at))
    read = read_input(text, at, end)
    if read is None:
        return _Found(start, end, None, "arguments")
    arguments, stop = read
    if isinstance(arguments, str):
        return _with_text(start, end, name, arguments)
    return _finished(start, stop, ToolCall(name, arguments))


def _with_text(start: int, end: int, name: str, text: str) -> _Found:
    """An action with plain text for its input; a label inside that text was written after it."""
    clean = _STRAY.sub("", text).strip()
    return _finished(start, end, ToolCall(name, clean if clean else {}))


def _json_calls(text: str) -> Iterator[_Found]:
    """JSON tool calls anywhere in the text, outermost first."""
    at = 0
    for _ in range(BRACES):
        at = text.find("{", at)
        if at < 0:
            return
        whole = json_call(text, at)
        if whole is not None:
            yield _finished(at, whole.end, whole.call)
        at = whole.end if whole is not None else at + 1


def _finished(start: int, end: int, call: ToolCall) -> _Found:
    """A call, unless its tool is the paper's ``Finish`` or a "Final Answer": then the answer that it carries."""
    if call.tool.rstrip(".").lower() in NO_TOOL:
        return _Found(start, end, None, "none" if call.tool else "unnamed")
    if call.tool.lower() not in _FINISH:
        return _Found(start, end, call)
    values = [call.arguments] if isinstance(call.arguments, str) else list(call.arguments.values())
    return _Found(start, end, None, final=" ".join(str(value) for value in values))


def _final(text: str) -> tuple[int, str | None]:
    """Where the first final answer starts, and the answer up to the next label; ``(-1, None)`` without one."""
    labels = list(_LABEL.finditer(text))
    for i, label in enumerate(labels):
        if label["name"].lower().endswith("answer"):
            end = labels[i + 1].start() if i + 1 < len(labels) else len(text)
            return label.start(), _STRAY.sub("", text[label.end() : end]).strip()
    return -1, None


def _thought(text: str) -> str:
    """The words before the action, without labels and fences."""
    bare = re.sub(r"```\w*|</?tool_call>", "", _LABEL.sub("", text))
    return bare.strip()
