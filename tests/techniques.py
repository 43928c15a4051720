"""The table technique -> source -> function -> oracle test, read from ``techniques.toml`` and printed.

``python tests/techniques.py`` prints it for a terminal, with ``--markdown`` as a Markdown table. What the file claims
is proved by ``test_techniques.py``.
"""

from __future__ import annotations

import argparse
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

FILE = Path(__file__).with_name("techniques.toml")


@dataclass(frozen=True)
class Technique:
    """One entry: what it is, where it comes from, what one calls, and what it is held against."""

    name: str
    chapter: int
    source: str
    functions: tuple[str, ...]
    oracle: str
    tests: tuple[str, ...]
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Helper:
    """A public name that belongs to no technique, and why it is public all the same."""

    name: str
    reason: str


def read(file: Path = FILE) -> tuple[list[Technique], list[Helper]]:
    """The entries in the order of the file; a missing, an unknown or an empty field is a ``ValueError``."""
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    if unknown := set(found) - {"technique", "helper"}:
        raise ValueError(f"{file.name} holds {min(unknown)!r}, which is no table of it")
    return [_entry(Technique, e) for e in found["technique"]], [_entry(Helper, e) for e in found["helper"]]


def _entry(kind: Any, given: dict[str, Any]) -> Any:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    try:
        entry = kind(**values)
    except TypeError as error:
        raise ValueError(f"{given.get('name', 'an entry without a name')}: {error}") from error
    if empty := [key for key, value in values.items() if not value]:
        raise ValueError(f"{entry.name}: {empty[0]} is empty")
    return entry


def short(dotted: str) -> str:
    """A function as the table shows it.

    >>> short("ragkit.graph.drift.drift")
    'graph.drift.drift'
    """
    return dotted.removeprefix("ragkit.")


def by_file(tests: tuple[str, ...]) -> str:
    """Tests under their files, for a narrow column.

    >>> print(by_file(("test_a.py::test_x", "test_a.py::test_y")))
    test_a.py
      test_x
      test_y
    """
    files: dict[str, list[str]] = {}
    for test in tests:
        file, _, name = test.partition("::")
        files.setdefault(file, []).append(f"  {name}")
    return "\n".join("\n".join([file, *names]) for file, names in files.items())


def terminal(techniques: list[Technique]) -> Table:
    """One row a technique, in the order of the file."""
    table = Table(show_lines=True)
    for heading in ("chapter", "technique", "source", "function", "held against", "test"):
        table.add_column(heading, overflow="fold", ratio={"chapter": 2, "test": 8}.get(heading, 5))
    for t in techniques:
        functions = "\n".join(map(short, t.functions))
        table.add_row(str(t.chapter), t.name, t.source, functions, t.oracle, by_file(t.tests))
    return table


def markdown(techniques: list[Technique]) -> str:
    """The same table as Markdown; a name of a test stands behind its file."""
    lines = ["| chapter | technique | source | function | held against | test |", "|---|---|---|---|---|---|"]
    for t in techniques:
        functions = ", ".join(f"`{short(name)}`" for name in t.functions)
        tests = "<br>".join(f"`{test}`" for test in t.tests)
        lines.append(f"| {t.chapter} | {t.name} | {t.source} | {functions} | {t.oracle} | {tests} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Print the table technique -> source -> function -> oracle test.")
    parser.add_argument("--markdown", action="store_true", help="as a Markdown table")
    techniques, _ = read()
    if parser.parse_args(arguments).markdown:
        print(markdown(techniques))
    else:
        console = Console()
        console.print(terminal(techniques))
        console.print(f"{len(techniques)} techniques, {len({test for t in techniques for test in t.tests})} tests")


if __name__ == "__main__":
    main()
