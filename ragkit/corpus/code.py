"""The labelled questions about ``ragkit``'s own code, the code corpus of the course: ``code/questions.toml``.

A question names the definitions that answer it by qualified name, such as ``ragkit.search.bm25.BM25.scores``: lines
move with every edit, names seldom do. Whether each name exists is checked by whoever cuts the code into chunks; this
module reads, and knows nothing above it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit.base import check_unique
from ragkit.corpus.records import SPLITS

STYLES = ("purpose", "paper", "behaviour", "error_message", "cross_cutting")
"""How a question asks: what for, from which paper, what if, by an error's words, or about several places at once."""

_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")
_KEYS = ("id", "style", "split", "text", "names")


@dataclass(frozen=True)
class CodeQuestion:
    """A question about code. ``names`` are the qualified names of the definitions that answer it."""

    id: str
    style: str
    split: str
    text: str
    names: tuple[str, ...]

    @property
    def relevant(self) -> Mapping[str, int]:
        """Every name with gain 1: what the measures of ``ragkit.metrics`` take."""
        return dict.fromkeys(self.names, 1)


def load_code_questions(path: str | Path | None = None) -> list[CodeQuestion]:
    """The course's questions, or those of another file, in its order.

    ``ValueError`` with the file, the question and the field for what is missing, unknown or malformed, and for an id
    used twice.
    """
    file = Path(path) if path is not None else Path(__file__).parent / "code" / "questions.toml"
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"path is no file: {file}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file.name} is no TOML: {error}") from None
    rows = table.get("question", [])
    if set(table) - {"question"} or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{file.name} must hold [[question]] tables and nothing else")
    questions = [
        _question(f"{file.name}, question {row.get('id', number)!r}", row) for number, row in enumerate(rows, 1)
    ]
    check_unique([question.id for question in questions], file.name)
    return questions


def select(questions: list[CodeQuestion], style: str | None = None, split: str | None = None) -> list[CodeQuestion]:
    """Questions of one style, of one split, of both, or all of them, in order."""
    if style is not None and style not in STYLES:
        raise ValueError(f"style must be one of {', '.join(STYLES)}, got {style!r}")
    if split is not None and split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, got {split!r}")
    return [q for q in questions if style in (None, q.style) and split in (None, q.split)]


def _question(where: str, row: Mapping[str, Any]) -> CodeQuestion:
    if missing := [key for key in _KEYS if key not in row]:
        raise ValueError(f"{where} lacks {', '.join(missing)}")
    if unknown := sorted(set(row) - set(_KEYS)):
        raise ValueError(f"{where} has unknown keys: {', '.join(unknown)}")
    for key in ("id", "text"):
        if not isinstance(row[key], str) or not row[key].strip():
            raise ValueError(f"{where}: {key} must be a string that is not blank, got {row[key]!r}")
    for key, allowed in (("style", STYLES), ("split", SPLITS)):
        if row[key] not in allowed:
            raise ValueError(f"{where}: {key} must be one of {', '.join(allowed)}, got {row[key]!r}")
    names = row["names"]
    if not isinstance(names, list) or not names:
        raise ValueError(f"{where}: names must be a list of at least one qualified name, got {names!r}")
    for name in names:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"{where}: names must be dotted names, got {name!r}")
    check_unique(names, f"{where}: names")
    return CodeQuestion(row["id"], row["style"], row["split"], row["text"], tuple(names))
