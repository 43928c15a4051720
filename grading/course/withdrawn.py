"""Hidden parts of tests that the source had when it was graded before: whoever holds them still holds the instructor's
own notebook, whatever the source says now.

They are kept in a file an exercise, beside the records, and come from the source alone. Nothing in them is taken back:
a part that is given out one day is passed over then (`submission.provenance`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from grading.storing import file_name, read_file, replace_file

LARGEST = 8 << 20  # bytes of such a file


def read_withdrawn(build: Path, assignment: str, notebook: str) -> tuple[str, ...]:
    """The hidden parts kept for an exercise; () where there are none. Raises `ValueError` that names a damaged file."""
    path = _path(build, assignment, notebook)
    try:
        parts = json.loads(read_file(path, LARGEST))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as problem:
        raise ValueError(f"{path}: cannot be read ({problem}); it holds hidden parts of earlier tests") from None
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"{path}: is no list of texts; it holds hidden parts of earlier tests")
    return tuple(parts)


def keep_withdrawn(build: Path, assignment: str, notebook: str, parts: Iterable[str]) -> None:
    """Keep hidden parts beside those that are kept already."""
    there = read_withdrawn(build, assignment, notebook)
    wanted = dict.fromkeys((*there, *parts))
    if len(wanted) > len(there):
        text = json.dumps(list(wanted), ensure_ascii=True, indent=1)
        replace_file(_path(build, assignment, notebook), f"{text}\n")


def _path(build: Path, assignment: str, notebook: str) -> Path:
    return build / "hidden" / file_name(assignment) / f"{file_name(notebook)}.json"
