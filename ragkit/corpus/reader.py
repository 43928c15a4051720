"""Reading the corpus folder: ``documents/<id>.md`` and ``questions/<class>.toml``.

A document opens with a front matter of ``key: value`` lines between two ``---`` lines (``id``, ``title``, ``kind``
and ``date``; ``version`` and ``supersedes`` where they apply), then come ``## slug`` sections, each one passage with
the id ``<document>/<slug>``. A question file holds ``[[question]]`` tables. Whatever does not fit is a ``ValueError``
that names the file and the line; nothing is skipped or guessed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from ragkit.base import Passage
from ragkit.corpus.records import CLASSES, Document, Question

_REQUIRED = ("id", "title", "kind", "date")
_OPTIONAL = ("version", "supersedes")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def read_document(path: Path) -> Document:
    """One document. Section text keeps its lines; blank lines around it go."""
    lines = _text(path).splitlines()
    if not lines or lines[0].strip() != "---":
        raise _error(path, 1, "must open with a line ---")
    try:
        end = next(i for i, line in enumerate(lines[1:], 1) if line.strip() == "---")
    except StopIteration:
        raise _error(path, 1, "front matter has no closing line ---") from None
    head = _front_matter(path, lines[1:end])
    sections = _sections(path, lines, end + 1)
    meta = {"doc": head["id"], "kind": head["kind"], "date": head["date"], "version": head.get("version", "")}
    passages = tuple(
        Passage(f"{head['id']}/{slug}", text, head["title"], {**meta, "section": slug}) for slug, text in sections
    )
    return Document(
        id=head["id"],
        title=head["title"],
        kind=head["kind"],
        date=head["date"],
        version=head.get("version", ""),
        supersedes=head.get("supersedes", ""),
        passages=passages,
    )


def read_questions(path: Path) -> list[Question]:
    """The questions of one class; the class is the name of the file."""
    cls, text = path.stem, _text(path)
    if cls not in CLASSES:
        raise _error(path, 1, f"is named after no question class: {cls!r}")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"at line (\d+)", str(error))
        raise _error(path, int(where[1]) if where else len(text.splitlines()), f"is no TOML: {error}") from None
    if extra := sorted(set(table) - {"question"}):
        raise _error(path, 1, f"holds unknown tables or keys: {', '.join(extra)}")
    rows = table.get("question", [])
    if not isinstance(rows, list):
        raise _error(path, 1, "must hold [[question]] tables")
    starts = [n for n, line in enumerate(text.splitlines(), 1) if line.strip() == "[[question]]"]
    numbers = starts if len(starts) == len(rows) else [1] * len(rows)
    return [_question(path, line, cls, row) for line, row in zip(numbers, rows, strict=True)]


T = TypeVar("T")


def read_all(
    paths: Iterable[Path], read: Callable[[Path], T], on_error: Callable[[ValueError], None] | None = None
) -> list[T]:
    """``read`` over paths in the order of their stems; with ``on_error`` a bad file is reported there and left out."""
    out: list[T] = []
    for path in sorted(paths, key=lambda path: path.stem):  # by name, "kettle-old.md" would come before "kettle.md"
        try:
            out.append(read(path))
        except ValueError as error:
            if on_error is None:
                raise
            on_error(error)
    return out


def _error(path: Path, line: int, what: str) -> ValueError:
    return ValueError(f"{path.parent.name}/{path.name}, line {line}: {what}")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise _error(path, 1, f"is not UTF-8: {error.reason} at byte {error.start}") from None


def _front_matter(path: Path, lines: list[str]) -> dict[str, str]:
    head: dict[str, str] = {}
    for number, line in enumerate(lines, 2):
        if not line.strip():
            continue
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not value:
            raise _error(path, number, f"must be 'key: value', got {line!r}")
        if key not in _REQUIRED + _OPTIONAL:
            raise _error(path, number, f"has an unknown key {key!r}")
        if key in head:
            raise _error(path, number, f"gives {key!r} a second time")
        if key == "date" and not _is_date(value):
            raise _error(path, number, f"date must be like 2024-03-01, got {value!r}")
        head[key] = value
    if missing := [key for key in _REQUIRED if key not in head]:
        raise _error(path, 1, f"front matter lacks {', '.join(missing)}")
    if head["id"] != path.stem:
        raise _error(path, 1, f"id {head['id']!r} must be the name of the file")
    return head


def _sections(path: Path, lines: list[str], first: int) -> list[tuple[str, str]]:
    sections: list[tuple[str, str]] = []
    heads = [i for i in range(first, len(lines)) if lines[i].startswith("## ")]
    before = next((i for i in range(first, heads[0] if heads else len(lines)) if lines[i].strip()), None)
    if before is not None:
        raise _error(path, before + 1, "text stands before the first ## section")
    if not heads:
        raise _error(path, first, "has no ## section")
    for head, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        slug = lines[head][3:].strip()
        if not _SLUG.fullmatch(slug):
            raise _error(path, head + 1, f"section name must be a slug such as opening-hours, got {slug!r}")
        if slug in (known for known, _ in sections):
            raise _error(path, head + 1, f"has a second section {slug!r}")
        text = "\n".join(lines[head + 1 : end]).strip()
        if not text:
            raise _error(path, head + 1, f"section {slug!r} is empty")
        sections.append((slug, text))
    return sections


def _question(path: Path, line: int, cls: str, row: dict[str, Any]) -> Question:
    """One table, each field checked for its type; ranges and references are the checker's business."""

    def take(key: str, default: Any, fits: Callable[[Any], bool], shape: str) -> Any:
        value = row.get(key, default)
        if value is None:
            raise _error(path, line, f"question {row.get('id', '?')!r} lacks {key}")
        if not fits(value):
            raise _error(path, line, f"question {row.get('id', '?')!r}: {key} must be {shape}, got {value!r}")
        return value

    if unknown := sorted(set(row) - set(Question.__dataclass_fields__) | ({"cls"} & set(row))):
        raise _error(path, line, f"question {row.get('id', '?')!r} has unknown keys: {', '.join(unknown)}")
    return Question(
        id=take("id", None, _is_filled, "a string"),
        cls=cls,
        split=take("split", None, lambda v: v in ("dev", "test"), "'dev' or 'test'"),
        text=take("text", None, _is_filled, "a string"),
        answer=take("answer", "", lambda v: isinstance(v, str), "a string"),
        aliases=tuple(take("aliases", [], _is_strings, "a list of strings")),
        relevant=take("relevant", {}, _is_gains, "a table of whole numbers"),
        chain=tuple(take("chain", [], _is_strings, "a list of strings")),
        mentions=tuple(take("mentions", [], _is_strings, "a list of strings")),
        anchor=take("anchor", "", lambda v: isinstance(v, str), "a string"),
        history=tuple(take("history", [], _is_history, "a list of {role, content}")),
        themes=tuple(take("themes", [], _is_strings, "a list of strings")),
    )


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_filled(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(_is_filled(item) for item in value)


def _is_gains(value: Any) -> bool:
    return isinstance(value, dict) and all(type(gain) is int for gain in value.values())


def _is_history(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(turn, dict)
        and set(turn) == {"role", "content"}
        and turn["role"] in ("system", "user", "assistant")
        and _is_filled(turn["content"])
        for turn in value
    )
