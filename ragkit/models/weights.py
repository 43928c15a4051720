"""Model files that come inside installed wheels: found without importing the wheel, and checked by their sha256.

A wheel's own code is never run: importing it can pull in other libraries or look for plug-ins. Left out: downloads.
A file that is not the pinned one is refused, because every figure of the course was computed with that one.
"""

from __future__ import annotations

import hashlib
import importlib.util
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as distribution_version
from pathlib import Path


class WeightsError(RuntimeError):
    """A model file is absent, or is not the one whose hash is pinned."""


_checked: dict[tuple[str, int, int], str] = {}
"""(path, size, time of change in nanoseconds) -> sha256: a file is read once a process unless it changes."""


def find(package: str, *parts: str) -> Path:
    """Path of a file inside an installed package, found without importing it; ``WeightsError`` when it is absent."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise WeightsError(f"the package {package!r} is not installed; requirements.txt pins it")
    path = Path(spec.submodule_search_locations[0]).joinpath(*parts)
    if not path.exists():
        raise WeightsError(f"the package {package!r} holds no {'/'.join(parts)!r}; install it again")
    return path


def wheel_version(distribution: str) -> str:
    """Version of an installed distribution, ``"unknown"`` where its metadata is missing."""
    try:
        return distribution_version(distribution)
    except PackageNotFoundError:
        return "unknown"


def sha256_of(path: Path) -> str:
    """The sha256 of a file in hex, read again only when its size or time of change differ from the last reading."""
    status = path.stat()
    stamp = (str(path.resolve()), status.st_size, status.st_mtime_ns)
    if stamp not in _checked:
        with path.open("rb") as file:
            _checked[stamp] = hashlib.file_digest(file, "sha256").hexdigest()
    return _checked[stamp]


def verify(path: Path, expected: str) -> None:
    """Refuse a file whose sha256 is not the pinned one."""
    found = sha256_of(path)
    if found != expected:
        raise WeightsError(
            f"{path.name} has sha256 {found}, the pinned one is {expected}: the file was changed or damaged, so its "
            "results would not be the book's. Install its package again."
        )
