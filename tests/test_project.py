"""The habits of the repository, as tests: layers, pins, linters, and notebooks without stored output."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

FLOORS = {
    0: "base chunk corpus datasets figures metrics models show text",
    1: "search",
    2: "query index",
    3: "graph structured",
    4: "loops systems recorded scoreboard explore",
}
FLOOR = {name: floor for floor, names in FLOORS.items() for name in names.split()}
"""Module or folder of ``ragkit`` -> its floor; one that is missing here fails the test, so that none slips below."""


def tracked(*patterns: str) -> list[Path]:
    """Files of the checkout that git knows or would add; outside a checkout, all of them."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        return [path for pattern in patterns for path in ROOT.rglob(pattern)]
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def imports(source: str) -> set[str]:
    """Dotted names that a module imports.

    >>> sorted(imports("import os.path\\nfrom ragkit.search import bm25"))
    ['os.path', 'ragkit.search', 'ragkit.search.bm25']
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def floor_of(dotted: str) -> int:
    parts = dotted.split(".")
    return FLOOR.get(parts[1], 0) if len(parts) > 1 else 0


def upward(module: str, source: str) -> list[str]:
    """Imports in ``source`` (the text of ``module``) that look up to a higher floor of ``ragkit``."""
    here = floor_of(module)
    return sorted(name for name in imports(source) if name.startswith("ragkit.") and floor_of(name) > here)


def test_floors_of_ragkit_only_look_down() -> None:
    faults = []
    for path in sorted((ROOT / "ragkit").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        faults += [f"{module} imports {name}" for name in upward(module, path.read_text(encoding="utf-8"))]
    assert not faults, faults


def test_every_part_of_ragkit_has_a_floor() -> None:
    parts = {path.stem for path in (ROOT / "ragkit").glob("*.py")} - {"__init__"}
    parts |= {path.parent.name for path in (ROOT / "ragkit").glob("*/__init__.py")}
    assert parts <= set(FLOOR), f"no floor for {sorted(parts - set(FLOOR))}"


def test_the_floor_check_sees_an_import_that_looks_up() -> None:
    assert upward("ragkit.search.bm25", "from ragkit.graph.pagerank import pagerank") == [
        "ragkit.graph.pagerank",
        "ragkit.graph.pagerank.pagerank",
    ]
    assert upward("ragkit.text", "from ragkit import search") == ["ragkit.search"]
    assert upward("ragkit.graph.hipporag", "from ragkit.search import Dense") == []


@pytest.mark.parametrize(("package", "foreign"), [("ragkit", ("grading", "nbgrader")), ("grading", ("ragkit",))])
def test_packages_do_not_know_each_other(package: str, foreign: tuple[str, ...]) -> None:
    faults = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in (ROOT / package).rglob("*.py")
        for name in imports(path.read_text(encoding="utf-8"))
        if name.split(".")[0] in foreign
    ]
    assert not faults, faults


def pins(text: str) -> dict[str, str]:
    """Package name to pinned version; a line that pins nothing gives an empty version.

    >>> pins("# note\\nnumpy==2.4.6\\nscipy>=1\\nllm==1 --hash=sha256:ab")
    {'numpy': '2.4.6', 'scipy': '', 'llm': '1'}
    """
    found = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            name = re.split(r"[<>=~! ]", line, maxsplit=1)[0]
            exact = re.match(r"^[\w.-]+==([\w.]+)(?: |$)", line)
            found[name] = exact.group(1) if exact else ""
    return found


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-weights.txt"])
def test_every_direct_dependency_is_pinned_and_installed_at_its_pin(file: str) -> None:
    wrong = {}
    for name, version in pins((ROOT / file).read_text(encoding="utf-8")).items():
        installed = importlib.metadata.version(name).split("+")[0]
        if not version or installed != version:
            wrong[name] = (version, installed)
    assert not wrong, f"package: (pinned, installed) {wrong}"


def test_every_import_of_the_project_is_a_direct_dependency() -> None:
    known = {
        name.lower().replace("_", "-")
        for file in ("requirements.txt", "requirements-weights.txt")
        for name in pins((ROOT / file).read_text(encoding="utf-8"))
    }
    by_module = importlib.metadata.packages_distributions()
    faults = set()
    for path in tracked("ragkit/*.py", "grading/*.py", "benchmarks/*.py", "book/*.py"):
        for name in imports(path.read_text(encoding="utf-8")):
            top = name.split(".")[0]
            ours = {"ragkit", "grading", "tests"} if path.parent.name == "benchmarks" else {"ragkit", "grading"}
            if top in sys.stdlib_module_names or top in ours:
                continue
            owners = {owner.lower().replace("_", "-") for owner in by_module.get(top, [])}
            local = (path.parent / f"{top}.py").exists()
            if not local and not owners & known:
                faults.add(f"{path.relative_to(ROOT)}: {top} (from {sorted(owners) or 'nowhere'})")
    assert not faults, sorted(faults)


def test_every_package_of_the_grader_lists_its_modules() -> None:
    faults = []
    for path in tracked("grading/*.py"):
        listing = (path.parent / "__init__.py").read_text(encoding="utf-8")
        if path.name not in ("__init__.py", "__main__.py") and not re.search(
            rf"^ *{path.name}  ?", listing, re.MULTILINE
        ):
            faults.append(str(path.relative_to(ROOT)))
    assert not faults


@pytest.mark.parametrize(
    "command",
    [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["codespell"]],
    ids=["ruff-check", "ruff-format", "mypy", "codespell"],
)
def test_linters_are_clean(command: list[str]) -> None:
    done = subprocess.run([str(BIN / command[0]), *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_notebooks_carry_no_output() -> None:
    faults = []
    for path in tracked("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell.get("outputs") or cell.get("execution_count"):
                faults.append(f"{path.relative_to(ROOT)}: cell {cell.get('id')}")
    assert not faults, faults


def test_no_large_file_is_tracked() -> None:
    large = {str(path.relative_to(ROOT)): path.stat().st_size for path in tracked() if path.stat().st_size > 1_500_000}
    assert not large, large


LAYOUT = """
book exercises solutions ragkit grading tests benchmarks _config.yml _toc.yml nbgrader_config.py
requirements.txt pyproject.toml Makefile README.md CONTRIBUTING.md CHANGELOG.md LICENSE LICENSE-TEXT
.ci/run .pre-commit-config.yaml
"""


@pytest.mark.parametrize("name", LAYOUT.split())
def test_layout_is_the_one_of_the_readme(name: str) -> None:
    assert (ROOT / name).exists(), name
