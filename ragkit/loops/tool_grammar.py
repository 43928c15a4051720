"""A schema and a grammar under which a tool call always parses: the model chooses the words, never the form.

A JSON schema goes to ``schema=`` of a model, a grammar in llama.cpp's GBNF to ``grammar=``; the decoder then masks
every token that would leave it (Willard and Louf, *Efficient Guided Generation for Large Language Models*, 2023).
Every string has a greatest length: a small model under an unbounded one can write for ever. What is guaranteed is the
form. The right tool and a sensible query are still the model's business.

Left out of the GBNF form: schemas beyond strings, numbers, booleans, enums and arrays of these.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ragkit.loops.tools import Tool, toolbox
from ragkit.models.protocol import bounded_schema, positive

_UNSAYABLE = {"pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "anyOf", "$ref"}


def call_schema(
    tools: Sequence[Tool], *, final: bool = True, thought: int = 160, answer: int = 160, length: int = 120
) -> dict[str, Any]:
    """A JSON schema of one turn: a thought, then an action with its arguments, or a final answer.

    ``thought`` and ``answer`` bound their characters, ``length`` every string among the arguments that has no bound of
    its own. ``final=False`` leaves no choice but a call. `ragkit.loops.react_parser.parse_turn` reads every text that
    obeys it.
    """
    for name, value in (("thought", thought), ("answer", answer), ("length", length)):
        positive(name, value)
    thinking = {"type": "string", "maxLength": thought}
    forms = [
        _object(thought=thinking, action={"const": tool.name}, arguments=bounded_schema(dict(tool.schema), length))
        for tool in toolbox(tools).values()
    ]
    if final:
        forms.append(_object(thought=thinking, final_answer={"type": "string", "minLength": 1, "maxLength": answer}))
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def call_grammar(
    tools: Sequence[Tool], *, final: bool = True, thought: int = 160, answer: int = 160, length: int = 120
) -> str:
    """A GBNF grammar of one turn in the labelled form: ``Thought: …``, ``Action: …``, ``Action Input: {…}``.

    Optional arguments may be left out, required ones may not, and all keep the order of the schema. A schema that
    the grammar cannot say is a `ValueError`.
    """
    for name, value in (("thought", thought), ("answer", answer), ("length", length)):
        positive(name, value)
    box = toolbox(tools)
    rules: dict[str, str] = {}
    calls = []
    for i, tool in enumerate(box.values()):
        rules[f"args{i}"] = _arguments(tool, length)
        calls.append(f'"Action: {tool.name}\\nAction Input: " args{i}')
    choices = [*calls, *([f'"Final Answer: " line{{1,{answer}}}'] if final else [])]
    head = f'root ::= "Thought: " line{{1,{thought}}} "\\n" ( {" | ".join(choices)} )'
    plain = {
        "line": r"[^\n\r]",
        "char": r'[^"\\\x00-\x1f] | "\\" ["\\/bfnrt]',
        "integer": '"-"? ( "0" | [1-9] [0-9]{0,8} )',
        "number": 'integer ( "." [0-9]{1,6} )?',
        "boolean": '"true" | "false"',
    }
    return "\n".join([head, *(f"{name} ::= {body}" for name, body in {**rules, **plain}.items())]) + "\n"


def _arguments(tool: Tool, length: int) -> str:
    """The rule of a tool's arguments as a JSON object: required ones, and any of the optional ones after them."""
    properties, required = tool.schema["properties"], set(tool.schema.get("required", ()))
    ordered = sorted(properties, key=lambda name: name not in required)  # stable: required first
    if not ordered:
        return '"{}"'
    members = [f"{_literal(json.dumps(name) + ': ')} {_value(properties[name], length, tool.name)}" for name in ordered]
    fixed = [member for name, member in zip(ordered, members, strict=True) if name in required]
    optional = members[len(fixed) :]
    if fixed:
        body = ' ", " '.join(fixed) + "".join(f' ( ", " {member} )?' for member in optional)
    else:  # any later subset may follow the first one that is given
        starts = [
            f"{member}" + "".join(f' ( ", " {later} )?' for later in optional[i + 1 :])
            for i, member in enumerate(optional)
        ]
        body = f"( {' | '.join(starts)} )?"
    return f'"{{" {body} "}}"'


def _value(schema: Mapping[str, Any], length: int, tool: str) -> str:
    """The rule of one value."""
    if "const" in schema or "enum" in schema:
        allowed = [schema["const"]] if "const" in schema else list(schema["enum"])
        return f"( {' | '.join(_literal(json.dumps(value, ensure_ascii=False)) for value in allowed)} )"
    if set(schema) & {"pattern", "format", "minimum", "maximum", "anyOf", "oneOf", "$ref"}:
        raise ValueError(
            f"tools holds {tool}, whose schema a grammar cannot say: {dict(schema)!r:.80}; use call_schema"
        )
    kind = schema.get("type")
    if kind == "string":
        return f'"\\"" char{{{schema.get("minLength", 0)},{schema.get("maxLength", length)}}} "\\""'
    if kind in ("integer", "number", "boolean"):
        return str(kind)
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        item, most = _value(schema["items"], length, tool), schema.get("maxItems", 8)
        return f'"[" ( {item} ( ", " {item} ){{0,{max(most - 1, 0)}}} )? "]"'
    raise ValueError(
        f"tools holds {tool} with a schema that a grammar cannot say; use call_schema: {dict(schema)!r:.80}"
    )


def _literal(text: str) -> str:
    """A text as a quoted terminal of GBNF.

    >>> _literal('"k": ')
    '"\\\\"k\\\\": "'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
