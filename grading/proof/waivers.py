"""Mutants that keep to the contract, by name, each with the reason: `equivalent.toml` beside the answers.

[communities]                      the answer's grade_id
call-10-4e2bdd = "sorted(neighbours) → neighbours: the last line puts them in order"
"""

from __future__ import annotations

import tomllib
from pathlib import Path

FILE = "equivalent.toml"


def read_waivers(folder: Path) -> dict[str, dict[str, str]]:
    """The reason for each mutant's name, by answer; {} where there is no file.

    Raises `ValueError` that names the file when it is no TOML, or when a waiver has no reason.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        waivers = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise ValueError(f"{path}: cannot be read: {problem}") from None
    for answer, reasons in waivers.items():
        if not isinstance(reasons, dict):
            raise ValueError(f"{path}: {answer!r} is no table of an answer")
        for name, reason in reasons.items():
            if not isinstance(reason, str) or not reason.strip():
                raise ValueError(f"{path}: {name!r} has no reason")
    return waivers
