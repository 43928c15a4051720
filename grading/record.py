"""One JSON file a submission: the verdict, and hashes of what it came from.

A submission graded before is not run again while its bytes, the instructor's source, the grader's own code and the
versions of Python and numpy are all the same. Records of a failed grader are never reused. The file is replaced in one
step, so a run that is interrupted leaves either the old record or the new one.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from grading.running.plan import Limits
from grading.verdict import Verdict, verdict_from_json

VERSION = 2


@dataclass(frozen=True)
class Record:
    """A verdict and where it came from."""

    student: str
    assignment: str
    notebook: str
    source_sha256: str
    grader_sha256: str
    verdict: Verdict
    version: int = VERSION

    def holds_for(self, submission_sha256: str, source_sha256: str, grader_sha256: str) -> bool:
        """Whether grading again would start from the same bytes."""
        mine = (self.version, self.verdict.submission_sha256, self.source_sha256, self.grader_sha256)
        return (
            mine == (VERSION, submission_sha256, source_sha256, grader_sha256) and self.verdict.status != "grader_error"
        )


def record_path(folder: Path, student: str, assignment: str, notebook: str) -> Path:
    """Where the record of one hand-in is kept."""
    return folder / student / assignment / f"{notebook}.json"


def write_record(path: Path, record: Record) -> None:
    """Write a record in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(
        json.dumps(asdict(record), ensure_ascii=False, indent=1) + "\n", encoding="utf-8", errors="replace"
    )
    draft.replace(path)


def read_record(path: Path) -> Record | None:
    """The record in a file; None when there is none, or it is of another version or damaged."""
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def from_json(data: Mapping[str, Any]) -> Record:
    """A record from its JSON form. Raises `ValueError` for another version."""
    if data["version"] != VERSION:
        raise ValueError(f"version: {data['version']!r} is not {VERSION}")
    return Record(**{**data, "verdict": verdict_from_json(data["verdict"])})


@lru_cache(maxsize=8)
def grader_sha256(limits: Limits) -> str:
    """Hash of everything on the grader's side that a verdict depends on."""
    digest = hashlib.sha256(f"{platform.python_version()} {_version('numpy')} {asdict(limits)}".encode())
    here = Path(__file__).parent
    for path in sorted(here.rglob("*.py")):
        digest.update(path.relative_to(here).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
