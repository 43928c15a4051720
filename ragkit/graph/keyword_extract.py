"""Extraction for the two-level keyword graph: entities, and relations that carry their themes as keywords.

LightRAG (Guo et al., 2024), section 3.1: an entity is found by its name; a relation by several keys, words for what it
is about, which the model writes down when it reads the passage. The authors' code asks for tuple records (a version of
it sent ``{tuple_delimiter}`` to the model because nothing filled its template); we ask for JSON, and for the same
fields. Left out: gleaning, which ``extract`` has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ragkit.base import LLM, Passage
from ragkit.graph.extract import TYPES
from ragkit.graph.records import Entity, Extraction
from ragkit.graph.replies import json_objects, read_number
from ragkit.text import fill

PROMPT = """\
List the things that the passage names and how they are related. Use only what the passage says.
For each relation add one to four keywords: the themes it belongs to, such as "warranty" or "supply problems".

Reply with one JSON object:
{"entities": [{"name": "", "type": "", "description": "what the passage says about it"}],
 "relations": [{"source": "", "target": "", "keywords": [""], "description": "how they are related",
                "strength": 1 to 10}]}
Types: ${types}.

Passage:
${passage}
"""


class KeyedRelation(NamedTuple):
    """A relation between two names with its themes; ``strength`` is 1.0 where the model gave no positive number."""

    source: str
    target: str
    keywords: tuple[str, ...]
    description: str
    strength: float = 1.0


class KeyedExtraction(NamedTuple):
    """What one passage holds."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[KeyedRelation, ...] = ()


def keyed_prompt(passage_text: str, types: Sequence[str] = TYPES) -> str:
    """The prompt for one passage."""
    return fill(PROMPT, types=", ".join(types), passage=passage_text)


def read_keywords_list(value: object) -> tuple[str, ...]:
    """Keywords from what a model gave for a list of them: trimmed, each once whatever its case.

    >>> read_keywords_list(["warranty", " Warranty", "", 3]), read_keywords_list("red kettles, lids")
    (('warranty',), ('red kettles', 'lids'))
    """
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    words = (" ".join(item.split()) for item in items if isinstance(item, str))
    return each_once(word for word in words if word)


def each_once(words: Iterable[str]) -> tuple[str, ...]:
    """Words in order of first mention, each once whatever its case, in its first spelling.

    >>> each_once(["Lids", "price", "lids"])
    ('Lids', 'price')
    """
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(word.casefold(), word)
    return tuple(first.values())


def read_keyed(reply: str) -> KeyedExtraction:
    """The records in a reply, from every JSON object in it; a record without its names is dropped.

    Fences and prose are skipped, and of a reply that was cut off the complete records are kept.
    """
    entities: list[Entity] = []
    relations: list[KeyedRelation] = []
    for found in json_objects(reply):
        # Of a reply that was cut off only inner objects are whole: each is then a record by itself.
        for item in [*_records(found, "entities"), *_records(found, "relations"), found]:
            source, target = _text(item, "source"), _text(item, "target")
            strength = read_number(item.get("strength"))
            if source and target:
                keywords, description = read_keywords_list(item.get("keywords")), _text(item, "description")
                number = strength if strength and strength > 0 else 1.0
                relations.append(KeyedRelation(source, target, keywords, description, number))
            elif name := _text(item, "name"):
                entities.append(Entity(name, _text(item, "type"), _text(item, "description")))
    return KeyedExtraction(tuple(entities), tuple(relations))


def _records(found: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    items = found.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    return " ".join(str(value).split()) if isinstance(value, (str, int, float)) else ""


def keyed_extract(passages: Iterable[Passage], llm: LLM) -> dict[str, KeyedExtraction]:
    """Passage id -> its extraction, one call a passage; a blank passage costs none and is empty."""
    return {
        p.id: read_keyed(llm(keyed_prompt(p.full_text))) if p.full_text.strip() else KeyedExtraction() for p in passages
    }


def keyed(extraction: Extraction) -> KeyedExtraction:
    """GraphRAG's extraction in this shape: its relations have no keywords, so their descriptions alone are searched."""
    relations = tuple(KeyedRelation(r.source, r.target, (), r.description, r.strength) for r in extraction.relations)
    return KeyedExtraction(extraction.entities, relations)
