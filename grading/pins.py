"""Hashes of what a verdict depends on besides the work and its source: the grader's own code, and the packages.

A package that is developed in place has no version that moves with it, so the content of its files counts instead.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import platform
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from grading.running.plan import Limits

ALWAYS = ("nbgrader", "nbformat", "numpy")  # the notebook format, and what the judge compares with


@lru_cache(maxsize=8)
def grader_sha256(limits: Limits) -> str:
    """Hash of the grader's code and its budgets."""
    versions = f"{platform.python_version()} {_version('numpy')} {asdict(limits)}"
    return hashlib.sha256(versions.encode() + _content(Path(__file__).parent, ".py").encode()).hexdigest()


def pins(modules: Iterable[str] = ()) -> dict[str, str]:
    """Versions, by name, of Python, of nbgrader's notebook format and of what the given modules come from.

    Args:
        modules: top-level modules that are imported before a submission runs (`Exercise.preload`).
    """
    found = {"python": platform.python_version(), **{name: _version(name) for name in ALWAYS}}
    wanted = sorted({name.partition(".")[0] for name in modules} - sys.stdlib_module_names)
    return found | {name: value for module in wanted for name, value in _pins_of(module)}


def pins_sha256(versions: Mapping[str, str]) -> str:
    """Hash of versions by name, in any order.

    >>> pins_sha256({"numpy": "2.0", "python": "3.11.2"}) == pins_sha256({"python": "3.11.2", "numpy": "2.0"})
    True
    """
    return hashlib.sha256(json.dumps(dict(versions), sort_keys=True).encode()).hexdigest()


@lru_cache(maxsize=1024)
def _pins_of(module: str) -> tuple[tuple[str, str], ...]:
    """The distributions of a module with their versions, or the module with the hash of its files."""
    spec = importlib.util.find_spec(module)
    if spec is None:
        return ((module, "absent"),)
    origin = Path(spec.origin) if spec.origin and spec.origin not in ("built-in", "frozen") else None
    installed = {Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib")}
    if origin is not None and not installed & set(origin.resolve().parents):
        return ((module, _content(origin.parent if origin.name == "__init__.py" else origin)),)
    names = [module] if _version(module) != "absent" else _distributions().get(module, [module])
    return tuple((name, _version(name)) for name in sorted(set(names)))


@lru_cache(maxsize=1)
def _distributions() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()


def _content(place: Path, suffix: str = "") -> str:
    """Hash of the files at a place, compiled ones aside."""
    digest = hashlib.sha256()
    paths = sorted(place.rglob(f"*{suffix}")) if place.is_dir() else [place]
    for path in paths:
        if path.is_file() and "__pycache__" not in path.parts:
            name, content = path.relative_to(place).as_posix().encode("utf-8", "surrogateescape"), path.read_bytes()
            digest.update(b"%d %b %d %b" % (len(name), name, len(content), content))
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
