"""From a call as a model wrote it to what a tool says: arguments bound and checked, and every failure a text.

A loop must survive whatever its model asks for. An unknown tool, arguments that do not obey the schema and a tool that
raises each give an observation which tells the model what was wrong and what would be right. Left out: a limit on a
tool's running time, which belongs into the tool.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ragkit.loops.tool_calls import ToolCall
from ragkit.loops.tools import Observation, Tool, same_name
from ragkit.models.protocol import check_schema

Kind = Literal["ok", "unknown tool", "bad arguments", "failed"]


class Outcome(NamedTuple):
    """What became of a call: its kind, the observation, the tool's own name, and the arguments that it was given."""

    kind: Kind
    observation: Observation
    tool: str
    arguments: Mapping[str, Any]


def bind(tool: Tool, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    """The arguments of a call as keyword arguments that obey the tool's schema; else a `ValueError` for the model.

    A plain text, and an argument without a name (``_``), go to the only required argument, or to the only one there
    is. Digits in quotes become a number where the schema asks for one.
    """
    properties: Mapping[str, Any] = tool.schema["properties"]
    given = {"_": arguments} if isinstance(arguments, str) else dict(arguments)
    if "_" in given and "_" not in properties:
        required = list(tool.schema.get("required", ())) or list(properties)
        if len(required) != 1 or required[0] in given:
            raise ValueError(f"name the arguments: {', '.join(properties)}")
        given = {required[0]: given.pop("_"), **given}
    if unknown := [name for name in given if name not in properties]:
        raise ValueError(f"there is no argument {unknown[0]!r}; known are {', '.join(properties) or 'none'}")
    bound = {name: _as_asked(value, properties[name]) for name, value in given.items()}
    try:
        check_schema(tool.schema)(bound)
    except ValueError as error:  # fastjsonschema's own error is one
        raise ValueError(str(error).removeprefix("data.").removeprefix("data ")) from None
    return bound


def _as_asked(value: Any, schema: Mapping[str, Any]) -> Any:
    """A number out of its quotes where the schema wants a number.

    >>> _as_asked("3", {"type": "integer"}), _as_asked("3", {"type": "string"}), _as_asked(3, {"type": "string"})
    (3, '3', '3')
    """
    wanted = schema.get("type")
    if wanted in ("integer", "number") and isinstance(value, str) and re.fullmatch(r"-?\d{1,15}(?:\.\d+)?", value):
        return int(value) if "." not in value else float(value)
    if wanted == "string" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return value


def run_tool(box: Mapping[str, Tool], call: ToolCall) -> Outcome:
    """Run a call. An unknown tool, bad arguments and a tool that fails give a text that says so; nothing raises.

    Names are compared without case, and blanks or hyphens in them count as underscores.
    """
    tool = next((tool for name, tool in box.items() if same_name(name) == same_name(call.tool)), None)
    if tool is None:
        text = f"Error: there is no tool {call.tool[:60]!r}. Tools: {', '.join(box)}."
        return Outcome("unknown tool", Observation(text), call.tool, {})
    try:
        bound = bind(tool, call.arguments)
    except ValueError as error:
        text = f"Error: bad arguments for {tool.name}: {error}. Use {tool.signature}"
        return Outcome("bad arguments", Observation(text), tool.name, {})
    try:
        found = tool.function(**bound)
    except Exception as error:  # whatever a tool raises, the loop goes on and the model reads it
        return Outcome("failed", Observation(f"Error: {tool.name} failed: {error}"), tool.name, bound)
    return Outcome("ok", found if isinstance(found, Observation) else Observation(str(found)), tool.name, bound)
