"""Pooled collections: titles and texts, or titles and sentences, as HippoRAG's repository ships them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragkit.base import Passage
from ragkit.datasets.files import field, read_json


def read_passages(path: str | Path) -> list[Passage]:
    """A pooled collection: a JSON list of ``{"title", "text"}``, or an object from title to its sentences.

    The id is the title; a repeated title gets ``#2``, ``#3``, ... in the order of the file.
    """
    file = Path(path)
    data = read_json(file)
    if isinstance(data, dict):
        data = [{"title": title, "text": joined(sentence_list(file, 0, title, lines))} for title, lines in data.items()]
    if not isinstance(data, list):
        raise ValueError(f"{file.name}: must be a JSON list or object, got {type(data).__name__}")
    seen: dict[str, int] = {}
    passages = []
    for n, row in enumerate(data):
        title = field(file, n, row, "title", str)
        seen[title] = seen.get(title, 0) + 1
        an_id = title if seen[title] == 1 else f"{title}#{seen[title]}"
        passages.append(Passage(an_id, field(file, n, row, "text", str), title))
    return passages


def sentence_list(file: Path, n: int, title: str, lines: Any) -> tuple[str, ...]:
    """The sentences of one text, if they are a list of strings."""
    if not (isinstance(lines, list) and all(isinstance(line, str) for line in lines)):
        raise ValueError(f"{file.name}, record {n}: the sentences of {title!r} must be a list of strings")
    return tuple(lines)


def joined(sentences: tuple[str, ...]) -> str:
    """Sentences as one text; some distributions give them their leading blank and some do not.

    >>> joined(("One.", " Two.", "Three."))
    'One. Two. Three.'
    """
    text = ""
    for sentence in sentences:
        text += sentence if not text or sentence[:1].isspace() or text[-1:].isspace() else " " + sentence
    return text
