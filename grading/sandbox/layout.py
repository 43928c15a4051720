"""What a sandbox shows: Python, the system's libraries, and those few modules of ours that run inside.

Everything else (home, the course, other submissions, the rest of the grader) is not there to be opened.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
FIRST = "grading.sandbox.inside"
IMPORT = re.compile(r"^\s*from (grading[\w.]*) import (\([^)]*\)|.+)", re.MULTILINE)
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SINGLE = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/fonts", "/nix/store", "/gnu/store")
ASK = """
import importlib.util, sys
for name in sys.argv[1:]:
    spec = importlib.util.find_spec(name)
    if spec is not None:
        print(*(spec.submodule_search_locations or [spec.origin or ""]), sep="\\0", end="\\0")
"""
CLEAN = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/tmp",
    "MPLBACKEND": "Agg",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    **dict.fromkeys(
        (
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "MKL_NUM_THREADS",
            "NUMEXPR_NUM_THREADS",
            "VECLIB_MAXIMUM_THREADS",
            "RAYON_NUM_THREADS",
        ),
        "1",
    ),
    "TOKENIZERS_PARALLELISM": "false",
}


def environment() -> dict[str, str]:
    """What the zygote is started with: nothing of the grader's environment but where libraries lie."""
    libraries = os.environ.get("LD_LIBRARY_PATH")
    return {**CLEAN, "LD_LIBRARY_PATH": libraries} if libraries else dict(CLEAN)


def needed_modules() -> tuple[str, ...]:
    """Names of our modules that run inside: the first, and what it imports, from their text."""
    found: list[str] = []
    todo = [FIRST]
    while todo:
        name = todo.pop()
        path = _path(name)
        if name in found or not path.is_file():
            continue
        found.append(name)
        for module, names in IMPORT.findall(path.read_text("utf-8")):
            todo += [module, *(f"{module}.{part}" for part in re.findall(r"\w+", names))]
    return tuple(sorted(found))


def copy_modules(folder: Path) -> None:
    """Lay a package of just these modules into a folder, its `__init__` files empty, for every user to read."""
    texts = {folder / _path(name).relative_to(PACKAGE.parent): _path(name).read_bytes() for name in needed_modules()}
    for below in ("", "running", "sandbox"):
        texts[folder / PACKAGE.name / below / "__init__.py"] = b""
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        path.chmod(0o644)
    for path in (folder, *folder.glob("**/")):
        path.chmod(0o755)


def visible(preload: Iterable[str]) -> tuple[str, ...]:
    """Folders and files that are shown read-only: Python's, the system's, and those of the modules to preload."""
    paths = [*SYSTEM, *SINGLE, *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    paths += [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    paths += [sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths.append(os.path.dirname(os.path.realpath(sys.executable)))
    paths = [path for path in paths if path.startswith("/") and path != "/" and os.path.exists(path)]
    return _outermost([*paths, *_elsewhere(preload, paths)])


def hidden(shown: Iterable[str]) -> tuple[str, ...]:
    """Folders below the shown ones that must not be seen: this package, where it is installed beside others."""
    return tuple(str(PACKAGE) for path in shown if PACKAGE.is_relative_to(path))[:1]


def _path(name: str) -> Path:
    return PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py")


def _elsewhere(preload: Iterable[str], shown: Iterable[str]) -> list[str]:
    """Where modules lie that are installed outside of Python's own folders, as one under development is.

    An interpreter of the zygote's kind is asked, not this one: a folder of the course that bears a module's name must
    not be shown because this process happens to run beside it.
    """
    names = sorted({name.split(".")[0] for name in preload if name.isidentifier() and not _lies_in(name, shown)})
    if not names:
        return []
    asked = subprocess.run(
        [sys.executable, "-s", "-P", "-c", ASK, *names], env=environment(), cwd="/", capture_output=True, check=False
    )
    return [path for path in os.fsdecode(asked.stdout).split("\0") if os.path.isabs(path) and os.path.exists(path)]


def _lies_in(name: str, shown: Iterable[str]) -> bool:
    """Whether a top-level module is built in or lies in one of the folders; it is not imported."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    if spec is None or spec.origin is None:
        return False
    return not spec.has_location or any(spec.origin.startswith(f"{path}/") for path in shown)


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Without what lies in another of them; links stay links, for Python looks for its files by these names."""
    kept: list[str] = []
    for path in sorted({os.path.normpath(path) for path in paths}):
        if not any(path.startswith(f"{other}/") for other in kept if not os.path.islink(other)):
            kept.append(path)
    return tuple(kept)
