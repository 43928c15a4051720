"""One JSON file a submission: the verdict, hashes of what it came from, and a sum over the record itself.

A submission graded before is not run again while its bytes, the instructor's source, the grader's own code and the
packages it ran with are all the same, and while it ran locked up as well as it would now. A record that was changed by
hand, cut off or made by a failed grader counts for nothing: the work is graded again. The file is replaced in one step,
so a run that is interrupted leaves either the old record or the new one.

The sum shows slips and hasty hands, not forgers: whoever can write here can also compute it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grading.pins import grader_sha256, pins, pins_sha256
from grading.running.plan import Level
from grading.storing import file_name, read_file, replace_file, whole
from grading.verdict import Verdict, verdict_from_json

__all__ = ["Record", "from_json", "grader_sha256", "pins", "pins_sha256", "read_record", "record_path", "write_record"]
VERSION = 3
LARGEST = 32 << 20  # bytes of a record's file; what a student prints is cut off far below
DEEPEST = 3  # the record, its verdict, the tests of that
STRENGTH: dict[str, int] = {"none": 0, "landlock": 1, "namespaces": 2, "bubblewrap": 3}


@dataclass(frozen=True)
class Record:
    """A verdict and where it came from. `sum` is made of all the rest."""

    student: str
    assignment: str
    notebook: str
    source_sha256: str
    grader_sha256: str
    verdict: Verdict
    pins_sha256: str = ""
    version: int = VERSION
    sum: str = field(init=False, default="")

    def __post_init__(self) -> None:
        content = {name: value for name, value in vars(self).items() if name != "sum"}
        object.__setattr__(self, "sum", hashlib.sha256(_canonical(content)).hexdigest())

    def holds_for(
        self,
        submission_sha256: str,
        source_sha256: str,
        grader_sha256: str,
        pins_sha256: str = "",
        sandbox: Level = "none",
    ) -> bool:
        """Whether grading again, locked up in `sandbox`, would start from the same and be no safer."""
        mine = (
            self.version,
            self.verdict.submission_sha256,
            self.source_sha256,
            self.grader_sha256,
            self.pins_sha256,
        )
        return (
            mine == (VERSION, submission_sha256, source_sha256, grader_sha256, pins_sha256)
            and self.verdict.status != "grader_error"
            and all(test.status != "grader_error" for test in self.verdict.tests)
            and (not self._ran or STRENGTH.get(self.verdict.sandbox, 0) >= STRENGTH[sandbox])
        )

    @property
    def _ran(self) -> bool:
        """Whether anything of the student's was run. What could not even be read needs no sandbox."""
        verdict = self.verdict
        unrun = verdict.status in ("unreadable", "forbidden_import", "not_attempted", "suspicious")
        return not unrun or bool(verdict.cells) or any(test.ran for test in verdict.tests)


def record_path(folder: Path, student: str, assignment: str, notebook: str) -> Path:
    """Where the record of one hand-in is kept: always beneath the folder, whatever the names are."""
    return folder / file_name(student) / file_name(assignment) / f"{file_name(notebook)}.json"


def write_record(path: Path, record: Record) -> None:
    """Write a record in one step."""
    replace_file(path, f"{whole(_laid_out(record))}\n")


def read_record(path: Path) -> Record | None:
    """The record in a file; None when there is none, or it is of another version, changed or damaged."""
    try:
        return from_json(json.loads(read_file(path, LARGEST)))
    except (OSError, ValueError, RecursionError):
        return None


def from_json(data: Any) -> Record:
    """A record from its JSON form. Raises `ValueError` when it is none, of another version, or not as it was made."""
    try:
        if data["version"] != VERSION:
            raise ValueError(f"version: {data['version']!r} is not {VERSION}")
        content = {name: value for name, value in data.items() if name != "sum"}
        record = Record(**{**content, "verdict": verdict_from_json(content["verdict"])})
        if record.sum != data["sum"]:
            raise ValueError("sum: the record is not as it was written")
    except (KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise ValueError(f"record: is none ({problem!r})") from None
    return record


def _laid_out(value: Any, depth: int = 0) -> str:
    """JSON for a person: a line for each field and each item, down to the tests. What is further down stays on one
    line, for that is written ten times as fast."""
    value = vars(value) if hasattr(value, "__dict__") else value
    if depth == DEEPEST or not value or not isinstance(value, dict | list | tuple):
        return json.dumps(value, default=vars, ensure_ascii=False)
    lines = [
        f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(item, depth + 1)}"
        for key, item in (value.items() if isinstance(value, dict) else ())
    ] or [_laid_out(item, depth + 1) for item in value]
    margin = " " * depth
    inside = f",\n{margin} ".join(lines)
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}\n{margin} {inside}\n{margin}{last}"


def _canonical(content: dict[str, Any]) -> bytes:
    """One form of a record's content, the same before it is written and after it is read."""
    text = json.dumps(content, default=vars, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return whole(text).encode()
