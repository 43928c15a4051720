"""Tools of an agent: a name, a description, a JSON schema of the arguments, and a function.

The shape is that of OpenAI's function calling and of Yao et al. (ICLR 2023), whose tools are text in, text out. What a
tool stands on comes in as a callable (a retriever, something that runs SQL), so this file needs no index and no
database. How a call reaches a tool is in ``tool_runs.py``.

Left out: tools that change something, and asking a person before they do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragkit.base import Retriever, check_k
from ragkit.loops.calculator import calculate, shown
from ragkit.loops.context import Show, hit_text
from ragkit.models.protocol import check_schema

_NAME = re.compile(r"[A-Za-z_]\w{0,40}")


class Observation(NamedTuple):
    """What a tool found: the text the model reads, and the ids of passages in it."""

    text: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tool:
    """A tool; ``schema`` is a JSON schema of type ``object`` whose properties are the function's keyword arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]
    function: Callable[..., Observation | str]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"name must be a word of letters, digits and underscores, got {self.name!r}")
        if not self.description.strip():
            raise ValueError(f"description of {self.name} is blank: a model chooses by it")
        if self.schema.get("type") != "object" or not isinstance(self.schema.get("properties"), Mapping):
            raise ValueError(f"schema of {self.name} must have the type object and properties, got {self.schema!r:.80}")
        check_schema(self.schema)

    @property
    def signature(self) -> str:
        """The tool as a prompt lists it.

        >>> calculator_tool().signature
        'calculator(expression: string): works out arithmetic, such as 17 * 24 or 15% of a price written as 240 * 15%'
        """
        required = set(self.schema.get("required", ()))
        parts = [
            f"{name}{'' if name in required else '?'}: {part.get('type', 'any')}"
            for name, part in self.schema["properties"].items()
        ]
        return f"{self.name}({', '.join(parts)}): {self.description.strip()}"


def toolbox(tools: Sequence[Tool]) -> dict[str, Tool]:
    """Tools by name; none at all, and two that a model cannot tell apart, are a `ValueError`."""
    if not tools:
        raise ValueError("tools must hold at least one tool")
    box: dict[str, Tool] = {}
    for tool in tools:
        if same_name(tool.name) in map(same_name, box):
            raise ValueError(f"tools holds the name {tool.name!r} more than once")
        box[tool.name] = tool
    return box


def same_name(name: str) -> str:
    """The form under which two names of tools count as the same one: without case, blanks and hyphens as underscores.

    >>> same_name("Look up"), same_name("look-up")
    ('look_up', 'look_up')
    """
    return re.sub(r"[\s-]+", "_", name.strip()).casefold()


def text_argument(name: str, description: str = "", length: int = 300) -> dict[str, Any]:
    """The schema of a tool with one text for its argument."""
    argument: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": length}
    if description:
        argument["description"] = description
    return {"type": "object", "properties": {name: argument}, "required": [name], "additionalProperties": False}


def retrieval_tool(name: str, description: str, retriever: Retriever, k: int = 4, show: Show = hit_text) -> Tool:
    """A tool that searches: its observation lists up to ``k`` passages, each behind its id in brackets."""
    check_k(k)

    def search(query: str) -> Observation:
        if not query.strip():
            raise ValueError("the query is blank")
        hits = retriever(query, k)
        lines = [f"[{hit.id}] {' '.join(show(hit).split())}" for hit in hits]
        return Observation("\n".join(lines) or "Nothing was found.", tuple(hit.id for hit in hits))

    return Tool(name, description, text_argument("query"), search)


def passages_tool(retriever: Retriever, k: int = 4, show: Show = hit_text) -> Tool:
    """Search in the company's passages."""
    return retrieval_tool("search", "finds passages in the company's documents", retriever, k, show)


def outside_tool(retriever: Retriever, k: int = 4, show: Show = hit_text) -> Tool:
    """Search in the outside collection, which is not in the main index and stands for the web."""
    return retrieval_tool("outside", "finds passages outside the company, as a web search would", retriever, k, show)


def code_tool(retriever: Retriever, k: int = 3, show: Show = hit_text) -> Tool:
    """Search in code; ids are qualified names. Lines are kept as they are, because in code they mean something."""
    found = retrieval_tool("code", "finds functions and classes in the source code", retriever, k)

    def search(query: str) -> Observation:
        hits = retriever(query, k)
        blocks = [f"[{hit.id}]\n{show(hit)}" for hit in hits]
        return Observation("\n\n".join(blocks) or "Nothing was found.", tuple(hit.id for hit in hits))

    return Tool(found.name, found.description, found.schema, search)


def sql_tool(run: Callable[[str], object], tables: str) -> Tool:
    """A read-only query; ``run`` executes one statement (and refuses what it must), ``tables`` describes the schema.

    What ``run`` returns is shown as it prints, or as JSON where it is a list.
    """

    def query(query: str) -> Observation:
        result = run(query)
        listed = isinstance(result, (list, tuple, dict))
        return Observation(json.dumps(result, ensure_ascii=False, default=str) if listed else str(result))

    described = f"runs one SELECT on the database with these tables: {' '.join(tables.split())}"
    return Tool("sql", described, text_argument("query", length=600), query)


def calculator_tool() -> Tool:
    """Arithmetic by `ragkit.loops.calculator`."""
    return Tool(
        "calculator",
        "works out arithmetic, such as 17 * 24 or 15% of a price written as 240 * 15%",
        text_argument("expression", length=200),
        lambda expression: shown(calculate(expression)),
    )
