"""What was measured is kept on disk until anything that it could depend on changes.

Chapters run in processes of their own, and the last one reads what the others measured. The folder is named by a hash
of the package (code, corpus, recordings) and of the libraries that rank and embed, so that a changed package measures
anew. A file that cannot be read is measured again.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from ragkit.models.embedding_cache import default_path
from ragkit.scoreboard.score import Asked, Score

LIBRARIES = ("numpy", "scipy", "torch", "sentence-transformers", "scikit-learn")
PACKAGE = Path(__file__).resolve().parents[1]


@lru_cache(maxsize=1)
def fingerprint(package: Path = PACKAGE) -> str:
    """A short hash of the package's files and of the versions that a ranking may depend on."""
    digest = hashlib.sha256(platform.python_version().encode())
    for name in LIBRARIES:
        digest.update(f"\0{name} {version(name)}".encode())
    for path in _files(package):
        digest.update(f"\0{path.relative_to(package).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def folder() -> Path:
    """Where scores of this state of the package lie, beside the embeddings."""
    return default_path().parent / "scoreboard" / fingerprint()


def kept(technique: str, answerer: str) -> Score | None:
    """What was measured before, or None."""
    try:
        data = json.loads(_path(technique, answerer).read_text(encoding="utf-8"))
        asked = {id: Asked(**question) for id, question in data.pop("asked").items()}
        score = Score(**data, asked=asked)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return score if (score.technique, score.answerer) == (technique, answerer) else None


def keep(score: Score) -> None:
    """Write a score down, whole or not at all: another process may read or write the same one."""
    path = _path(score.technique, score.answerer)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".part", delete=False, encoding="utf-8") as file:
        json.dump(asdict(score), file)
    os.replace(file.name, path)


def _path(technique: str, answerer: str) -> Path:
    name = re.sub(r"\W+", "-", f"{technique} {answerer}".casefold()).strip("-")
    tail = hashlib.sha256(f"{technique}\0{answerer}".encode()).hexdigest()[:8]  # two names may read alike without signs
    return folder() / f"{name}-{tail}.json"


def _files(package: Path) -> Iterator[Path]:
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path
