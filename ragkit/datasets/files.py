"""Files of records, plain or gzipped, read so that a complaint names the file, the record and the field.

JSON, JSON lines and tab-separated text. Left out: archives, and schemas; each reader asks for the fields it uses.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def find(root: Path, what: str, *patterns: str) -> Path:
    """The first file under ``root`` that fits a pattern, tried in order, also with ``.gz``; errors call it ``what``."""
    if not root.is_dir():
        raise ValueError(f"folder does not exist: {root}")
    for pattern in patterns:
        for found in sorted([*root.glob(pattern), *root.glob(pattern + ".gz")]):
            return found
    raise ValueError(f"{root.name}: has no file with {what} (looked for {', '.join(patterns)}, also as .gz)")


def opened(file: Path) -> io.TextIOBase:
    """The text of a file, unpacked if it ends in ``.gz``; close it after use."""
    if not file.is_file():
        raise ValueError(f"path is no file: {file}")
    raw = gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb")  # noqa: SIM115 - closed with the wrapper
    return io.TextIOWrapper(raw, encoding="utf-8", newline="")


def read_json(file: Path) -> Any:
    """The one JSON value of a file."""
    with opened(file) as stream:
        try:
            return json.load(stream)
        except (ValueError, OSError, EOFError) as error:
            raise ValueError(f"{file.name}: is no JSON: {error}") from None


def json_lines(file: Path) -> Iterator[tuple[int, Any]]:
    """The value of each line that is not blank, with its number from 1."""
    with opened(file) as stream:
        try:
            for n, line in enumerate(stream, start=1):
                if line.strip():
                    yield n, json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{file.name}, line {n}: is no JSON: {error}") from None
        except (UnicodeDecodeError, OSError, EOFError) as error:
            raise ValueError(f"{file.name}: cannot be read: {error}") from None


def records(file: Path) -> Iterator[tuple[int, Any]]:
    """A JSON list counted from 0, or JSON lines counted from 1."""
    try:
        with opened(file) as stream:
            opens = stream.read(64).lstrip("\ufeff \t\r\n")[:1]
    except (UnicodeDecodeError, OSError, EOFError) as error:
        raise ValueError(f"{file.name}: cannot be read: {error}") from None
    if opens != "[":
        yield from json_lines(file)
        return
    yield from enumerate(read_json(file))


def tab_lines(file: Path) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line that is not blank, with its number from 1; quotation marks mean nothing."""
    with opened(file) as stream:
        try:
            for n, line in enumerate(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE), start=1):
                if line and any(cell.strip() for cell in line):
                    yield n, line
        except (UnicodeDecodeError, OSError, EOFError, csv.Error) as error:
            raise ValueError(f"{file.name}: cannot be read: {error}") from None


def columns(file: Path, n: int, cells: list[str], count: int) -> list[str]:
    """The cells without blanks around them, if there are ``count`` of them."""
    if len(cells) != count:
        raise ValueError(f"{file.name}, line {n}: must have {count} columns, got {len(cells)}")
    return [cell.strip() for cell in cells]


def field(file: Path, n: int, row: Any, key: str, kind: type, under: str = "") -> Any:
    """``row[key]``, if ``row`` is an object that has it and it is of ``kind``; ``under`` is the object's own key."""
    if not isinstance(row, dict):
        raise ValueError(f"{file.name}, record {n}: {under or 'it'} must be an object, got {type(row).__name__}")
    if key not in row:
        raise ValueError(f"{file.name}, record {n}: lacks the field {under}{key}")
    value = row[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{file.name}, record {n}: {under}{key} must be {kind.__name__}, got {value!r:.80}")
    return value


def strings(file: Path, n: int, row: Any, key: str) -> list[str]:
    """``row[key]`` as a list of strings, ``[]`` where it is absent."""
    values = row.get(key, [])
    if not (isinstance(values, list) and all(isinstance(value, str) for value in values)):
        raise ValueError(f"{file.name}, record {n}: {key} must be a list of strings, got {values!r:.80}")
    return values
