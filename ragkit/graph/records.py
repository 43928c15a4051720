"""What an extraction holds, and a parser of the records in which a model writes it.

The tuple format of GraphRAG (Edge et al., 2024; microsoft/graphrag): ``(entity<|>name<|>type<|>description)`` and its
kin, joined by ``##``, closed by ``<|COMPLETE|>``. Large models break every rule of it now and then. So records are
found by how they begin, not only by the separator; a record that can be read is kept, and whatever was wrong is listed
as a fault, so that one can count. JSON replies are read too. Left out: guessing at fields that are missing.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragkit.graph.replies import json_objects, read_number

RECORD = "##"


class Entity(NamedTuple):
    """A named thing as one passage shows it; the name as the model wrote it."""

    name: str
    type: str
    description: str


class Relation(NamedTuple):
    """A link between two names; ``strength`` is 1.0 where the model gave no positive number."""

    source: str
    target: str
    description: str
    strength: float = 1.0


class Claim(NamedTuple):
    """A statement of fact about ``subject``; dates as written, "" where unknown."""

    subject: str
    object: str
    type: str
    status: str
    start: str
    end: str
    description: str


class Fault(NamedTuple):
    """Something in a completion that broke the format.

    ``kind`` says what became of it: "fields" and "stray" pieces are dropped; "glued", "strength" and
    "truncated" records are kept as far as they can be read; "incomplete" means the completion mark is missing.
    """

    kind: str
    piece: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one passage gave. Everything is in the order of the completion, repeats included."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    claims: tuple[Claim, ...] = ()
    faults: tuple[Fault, ...] = ()


# A record begins with its tag and a field separator. The tag may be quoted, numbered, bulleted or unbracketed.
_HEAD = re.compile(
    r"(\(\s*)?(?<![\w<|])[\"'“]?(entity|relationship|relation|claim)[\"'”]?\s*(?:<\|>|\|>|<\|)", re.IGNORECASE
)
_MARK = re.compile(r"<\|?\s*complete\s*\|?>", re.IGNORECASE)
_END = re.compile(rf"{RECORD}|{_MARK.pattern}|```", re.IGNORECASE)
_FIELD = re.compile(r"<\|>|\|>|<\|")  # half a separator is a slip that large models make too
_DECORATION = re.compile(r"(?:[\s*_#>`()\[\]•-]|\d+[.)]|json\b|(?:additional |missing )?\w+\s*:)*", re.IGNORECASE)
_CLOSED_THEN_JUNK = re.compile(r"(?:[\"”]|\|>\s*\d+(?:\.\d+)?)\s*(\))[^)]*$")


def _heads(completion: str) -> list[re.Match[str]]:
    """Where records begin; a *type* that happens to be "entity" follows a field separator and is none."""
    heads = []
    for head in _HEAD.finditer(completion):
        before = completion[max(0, head.start() - 20) : head.start()].rstrip(" \t\n\"'“")
        if head.group(1) or not before.endswith(("<|", "|>")) or _MARK.search(before):
            heads.append(head)
    return heads


def _fields(head: re.Match[str], body: str, cut: bool) -> tuple[list[str], bool]:
    """The fields of one record, and whether the completion broke off inside it."""
    lines = body.split("\n")
    while lines and _DECORATION.fullmatch(lines[-1].strip()):  # the next record's number or heading
        lines.pop()
    body = "\n".join(lines).rstrip()
    truncated = False
    if head.group(1):
        junk = _CLOSED_THEN_JUNK.search(body)
        if body.endswith(")"):
            body = body[:-1]
        elif junk:
            body = body[: junk.start(1)]
        else:
            truncated = cut
    return [clean(field) for field in _FIELD.split(body)], truncated


def parse(completion: str) -> Extraction:
    """Read a completion in the tuple format, or one in JSON; never raises on what a model wrote.

    Survives glued records, doubled and leading separators, fences, headings, numbered lists, missing
    parentheses, half a field separator and a reply cut short. What could not be read is listed in ``faults``.
    JSON is an object with ``entities``, ``relations`` (or ``relationships``) and ``claims`` as lists of objects
    with the field names of this module. An empty completion gives an empty extraction.
    """
    heads = _heads(completion)
    if not heads and "{" in completion:
        return _parse_json(completion)
    out = _Collector()
    end_of_previous = 0
    for i, head in enumerate(heads):
        end = _END.search(completion, head.end())
        limit = heads[i + 1].start() if i + 1 < len(heads) else len(completion)
        glued = i + 1 < len(heads) and (end is None or end.start() > limit)
        stop = min(end.start(), limit) if end else limit
        out.stray(completion[end_of_previous : head.start()])
        piece = completion[head.start() : stop]
        fields, truncated = _fields(head, completion[head.end() : stop], cut=stop == len(completion))
        out.add(head.group(2).lower(), fields, piece)
        if truncated:
            out.faults.append(Fault("truncated", piece))
        if glued:
            out.faults.append(Fault("glued", piece[-40:] + completion[limit : limit + 40]))
        end_of_previous = stop
    out.stray(completion[end_of_previous:])
    if completion.strip() and not _MARK.search(completion):
        out.faults.append(Fault("incomplete", completion[-60:]))
    return out.extraction()


class _Collector:
    """Gathers records and faults while a completion is read."""

    def __init__(self) -> None:
        self.entities: list[Entity] = []
        self.relations: list[Relation] = []
        self.claims: list[Claim] = []
        self.faults: list[Fault] = []

    def extraction(self) -> Extraction:
        return Extraction(tuple(self.entities), tuple(self.relations), tuple(self.claims), tuple(self.faults))

    def stray(self, text: str) -> None:
        """Text outside any record: separators and headings are expected, anything else is a fault."""
        for piece in _END.split(text):
            if not _DECORATION.fullmatch(piece.strip()):
                self.faults.append(Fault("stray", piece.strip()))

    def add(self, tag: str, fields: list[str], piece: str) -> None:
        """Build the record if its naming fields are there; a longer record keeps its first fields."""
        if tag == "entity" and len(fields) >= 3 and fields[0]:
            self.entities.append(Entity(*fields[:3]))
        elif tag.startswith("relation") and len(fields) >= 3 and fields[0] and fields[1]:
            strength = read_number(fields[-1]) if len(fields) >= 4 else None
            if strength is None or strength <= 0:
                self.faults.append(Fault("strength", piece))
                strength = 1.0
            self.relations.append(Relation(fields[0], fields[1], fields[2], strength))
        elif tag == "claim" and len(fields) >= 7 and fields[0]:
            self.claims.append(Claim(*fields[:7]))
        else:
            self.faults.append(Fault("fields", piece))


def clean(field: str) -> str:
    """A field without surrounding space and quotes, HTML entities decoded.

    >>> clean(' "Marley&#39;s Ghost" ')
    "Marley's Ghost"
    """
    text = html.unescape(field).strip()
    while len(text) >= 2 and (text[0], text[-1]) in {('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’")}:
        text = text[1:-1].strip()
    return text.strip('"').strip()  # a quote that was opened or closed only


_JSON_FIELDS = {
    "entity": ("name", "type", "description"),
    "relation": ("source", "target", "description", "strength"),
    "claim": ("subject", "object", "type", "status", "start", "end", "description"),
}


def _parse_json(completion: str) -> Extraction:
    out = _Collector()
    for value in json_objects(completion):
        named = [(tag, value.get(key)) for tag, key in _json_keys() if key in value]
        # Of a reply cut short only inner objects are whole; their own fields say what they are.
        for tag, items in named or [(_guess(value), [value])]:
            for item in items if isinstance(items, list) else [items]:
                if isinstance(item, dict):
                    out.add(tag, [_as_text(item.get(field)) for field in _JSON_FIELDS.get(tag, ())], str(item))
                else:
                    out.faults.append(Fault("fields", str(item)))
    if not (out.entities or out.relations or out.claims or out.faults):
        out.faults.append(Fault("stray", completion.strip()))
    return out.extraction()


def _json_keys() -> tuple[tuple[str, str], ...]:
    return (("entity", "entities"), ("relation", "relations"), ("relation", "relationships"), ("claim", "claims"))


def _guess(value: dict[str, Any]) -> str:
    for tag, first in (("entity", "name"), ("relation", "source"), ("claim", "subject")):
        if first in value:
            return tag
    return "unknown"


def _as_text(value: object) -> str:
    return "" if value is None else clean(str(value))
