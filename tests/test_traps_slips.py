"""Slips that circulate in published code, looked for in every line of the project rather than in one function.

What a technique does right is tested beside the technique. Here the syntax trees of the package, the benchmarks, the
tests and the cells of the book are searched for the forms that go wrong wherever they stand, and every prompt is filled
with text that would break it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ragkit.base import Hit, Passage
from ragkit.graph.global_search import Point
from ragkit.graph.reports import Report
from ragkit.loops import Chain, Hop, Tool
from ragkit.structured import Result, SQLAnswer, SQLExample

ROOT = Path(__file__).resolve().parents[1]
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def cells(page: str) -> str:
    """The code cells of a MyST page as one module, without their options and magics.

    >>> cells("Text.\\n```{code-cell} python\\n:tags: [remove-input]\\nx = 1\\n```\\n")
    'x = 1\\n'
    """
    code = "".join(CELL.findall(page))
    return re.sub(r"^(?:[:%!].*|---\n(?:.*\n)*?---)\n", "", code, flags=re.MULTILINE)


@cache
def sources() -> dict[str, list[ast.AST]]:
    """Path below the checkout -> all nodes of its syntax tree, for all code that the course shows or runs."""
    found = {}
    for folder in ("ragkit", "benchmarks", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith("tests/submissions/"):
                found[name] = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    for path in sorted((ROOT / "book").glob("*.md")):
        nodes = list(ast.walk(ast.parse(cells(path.read_text(encoding="utf-8")))))
        found[path.relative_to(ROOT).as_posix()] = nodes
    return found


Check = Callable[[ast.AST], bool]


def template_formatted(node: ast.AST) -> bool:
    """``PROMPT.format(...)``: a literal JSON brace raises ``KeyError``, a brace in a user's text is expanded."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format"):
        return False
    words = ast.unparse(node.func.value).lower()
    return "prompt" in words or "template" in words


def strips_a_set(node: ast.AST) -> bool:
    """``text.strip("```sql")`` removes characters of a set, from "s" to "l", and not a word."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1):
        return False
    given = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
    word = isinstance(given, str) and sum(char.isalnum() for char in given) > 1
    return node.func.attr in {"strip", "lstrip", "rstrip"} and word


def swallows(node: ast.AST) -> bool:
    """``except: continue`` hides what was not read."""
    silent = (ast.Pass, ast.Continue)
    return isinstance(node, ast.ExceptHandler) and (
        node.type is None or all(isinstance(statement, silent) for statement in node.body)
    )


def proves_nothing(node: ast.AST) -> bool:
    """``assert True``, ``assert "text"``, ``assert (a, b)``: none of them can fail."""
    return isinstance(node, ast.Assert) and isinstance(node.test, (ast.Constant, ast.Tuple, ast.JoinedStr))


def joins_items_for_characters(node: ast.AST) -> bool:
    """``"".join(items[:5000])`` limits the items where characters or tokens were meant."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join"):
        return False
    for argument in node.args:
        cut = argument.slice if isinstance(argument, ast.Subscript) else None
        upper = cut.upper if isinstance(cut, ast.Slice) else None
        if isinstance(upper, ast.Constant) and isinstance(upper.value, int) and upper.value >= 100:
            return True
    return False


_DRAWS = {
    "random",
    "randint",
    "randrange",
    "choice",
    "choices",
    "sample",
    "shuffle",
    "uniform",
    "gauss",
    "rand",
    "randn",
}
_LIBRARY = {"louvain_communities", "louvain_partitions", "find_partition", "hierarchical_leiden"}


def unseeded(node: ast.AST) -> bool:
    """Chance that is not the reader's to repeat: a module's own generator, or a library's without ``seed``."""
    if not isinstance(node, ast.Call):
        return False
    called = ast.unparse(node.func)
    if called in {f"{module}.{draw}" for module in ("random", "np.random", "numpy.random") for draw in _DRAWS}:
        return True
    bare = not node.args and not node.keywords
    if called in {"random.Random", "np.random.default_rng", "numpy.random.default_rng"}:
        return bare
    return called.split(".")[-1] in _LIBRARY and not any(keyword.arg == "seed" for keyword in node.keywords)


# Each slip with a line that commits it and one beside it that does not.
SLIPS: list[tuple[Check, str, str]] = [
    (template_formatted, "PROMPT.format(question=q)", "fmt.format(1.5)"),
    (strips_a_set, "text.strip('```sql')", "text.removeprefix('```sql').strip('\"')"),
    (swallows, "try:\n    read(f)\nexcept OSError:\n    pass", "try:\n    read(f)\nexcept OSError:\n    report(f)"),
    (proves_nothing, "assert True", "assert found"),
    (joins_items_for_characters, "''.join(items[:5000])", "', '.join(names[:3])"),
    (unseeded, "random.shuffle(reports)", "random.Random(seed).shuffle(reports)"),
    (unseeded, "nx.community.louvain_communities(graph)", "nx.community.louvain_communities(graph, seed=3)"),
    (unseeded, "np.random.default_rng()", "np.random.default_rng(0)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("check", "wrong", "right"), SLIPS, ids=[f"{c.__name__}-{i}" for i, (c, _, _) in enumerate(SLIPS)]
)
def test_each_slip_is_recognised_and_its_remedy_passes(check: Check, wrong: str, right: str) -> None:
    assert any(map(check, ast.walk(ast.parse(wrong))))
    assert not any(map(check, ast.walk(ast.parse(right))))


# A test may commit a slip on purpose, to show what it does; nothing else may.
ON_PURPOSE = {
    "tests/test_text.py": {template_formatted},
    "tests/test_structured_statement.py": {strips_a_set},
    "tests/test_loops_trace.py": {joins_items_for_characters},
    "book/published-code.md": {template_formatted, strips_a_set, joins_items_for_characters},
}


@pytest.mark.parametrize("check", dict.fromkeys(check for check, _, _ in SLIPS), ids=lambda check: check.__name__)
def test_no_slip_is_anywhere_in_the_package_the_benchmarks_the_tests_and_the_book(check: Check) -> None:
    assert len(sources()) > 100
    faults = [
        f"{name}, line {getattr(node, 'lineno', '?')}: {ast.unparse(node)[:80]}"
        for name, nodes in sources().items()
        for node in nodes
        if check not in ON_PURPOSE.get(name, ()) and check(node)
    ]
    assert not faults, faults


# Prompts ------------------------------------------------------------------------------------------------------------

NASTY = 'Is {x} or {0} "$question" {{y}} worth $5 in ${notes}? {"answer": "%s"}'
HISTORY = [{"role": "user", "content": NASTY}]
# What stands for a parameter, by its name; a prompt with a parameter of another name has to be added here.
VALUES: dict[str, Any] = {
    **dict.fromkeys(("question", "passage_text", "prompt", "completion", "notes", "name", "evidence"), NASTY),
    **dict.fromkeys(("answer", "first", "second", "instruction"), NASTY),
    "passage": Passage("p", NASTY, NASTY),
    "passages": [Passage("p", NASTY, NASTY)],
    "hits": [Hit("h", NASTY, 1.0)],
    "history": HISTORY,
    "descriptions": [NASTY],
    "batch": [NASTY],
    "reports": [Report(0, 0, NASTY, NASTY, 1.0, NASTY)],
    "points": [Point(NASTY, 50.0, 0)],
    "examples": [(NASTY, NASTY)],
    **dict.fromkeys(("query", "document", "chunk", "text"), NASTY),
    "answers": [NASTY],
    "texts": [NASTY],
    **dict.fromkeys(("written", "span", "schema", "sql", "error", "instructions", "form"), NASTY),
    "chain": Chain((NASTY,), (Hit("h", NASTY, 1.0),)),
    "hops": [Hop(NASTY, NASTY, (Hit("h", NASTY, 1.0),))],
    "kinds": {"facts": NASTY},
    "tools": [Tool("search", NASTY, {"type": "object", "properties": {"query": {"type": "string"}}}, str)],
}
# Where a name stands for another type than in `VALUES`.
SPECIAL: dict[str, dict[str, Any]] = {
    "ragkit.graph.drift.primer_prompt": {"reports": [NASTY]},
    "ragkit.search.listwise.permutation_prompt": {"passages": [NASTY]},
    "ragkit.search.pointwise.relevance_prompt": {"passage": NASTY},
    "ragkit.search.query_likelihood.question_prompt": {"passage": NASTY},
    "ragkit.loops.fixed_loop.answer_prompt": {"passages": NASTY},
    "ragkit.loops.fixed_loop.check_prompt": {"passages": NASTY},
    "ragkit.loops.ircot.ircot_prompt": {"examples": NASTY},
    "ragkit.loops.relevance.evaluator_prompt": {"passage": NASTY},
    "ragkit.loops.specialists.choice_prompt": {"descriptions": {"sql": NASTY}},
    "ragkit.structured.sql.answer_prompt": {"answer": SQLAnswer(NASTY, NASTY, Result((NASTY,), [(NASTY,)]), (), ())},
    "ragkit.structured.sql.sql_prompt": {"examples": [SQLExample(NASTY, NASTY)]},
    "ragkit.structured.sql.repair_prompt": {"examples": [SQLExample(NASTY, NASTY)]},
}
# Parameters with a default that carry a user's, a document's or a model's text; they are given too.
CARRY_TEXT = {"written", "hits", "examples", "instructions"}
PACKAGES = ("graph", "index", "loops", "query", "search", "structured", "systems")


def prompt_functions() -> list[Any]:
    """Every ``..._prompt`` that the techniques define."""
    found = []
    for package in PACKAGES:
        for info in pkgutil.iter_modules([str(ROOT / "ragkit" / package)]):
            module = importlib.import_module(f"ragkit.{package}.{info.name}")
            for name, function in inspect.getmembers(module, inspect.isfunction):
                if name.endswith("_prompt") and function.__module__ == module.__name__:
                    found.append(pytest.param(function, id=f"{package}.{info.name}.{name}"))
    return found


@pytest.mark.parametrize("function", prompt_functions())
def test_json_braces_dollars_and_percents_reach_every_prompt_unread(function: Callable[..., str]) -> None:
    parameters = inspect.signature(function).parameters.values()
    values = VALUES | SPECIAL.get(f"{function.__module__}.{function.__name__}", {})
    required = inspect.Parameter.empty
    given = {p.name: values[p.name] for p in parameters if p.default is required or p.name in CARRY_TEXT}
    prompt = function(**given)
    assert prompt.count(NASTY) >= len(given) > 0
    assert not re.search(r"\$\{\w+\}", prompt.replace(NASTY, ""))  # no placeholder was left
    assert not re.search(r"\{\w*_?delimiter\}", prompt)


def test_the_prompts_of_every_technique_were_found() -> None:
    found = prompt_functions()
    assert len(found) >= 45
    assert {p.id.split(".")[0] for p in found} == set(PACKAGES)
    assert {"query.hyde.hypothetical_document_prompt", "graph.global_search.map_prompt"} <= {p.id for p in found}


def test_every_template_of_the_techniques_is_filled_by_a_prompt_function_that_was_tried() -> None:
    """A module that holds a ``..._PROMPT`` must have a function that fills it, or its text is never tried."""
    tried = {p.values[0].__module__ for p in prompt_functions()}
    faults = []
    for package in PACKAGES:
        for info in pkgutil.iter_modules([str(ROOT / "ragkit" / package)]):
            module = importlib.import_module(f"ragkit.{package}.{info.name}")
            own = [name for name in vars(module) if name.endswith("PROMPT") and isinstance(vars(module)[name], str)]
            if own and module.__name__ not in tried:
                faults.append(f"{module.__name__}: {', '.join(own)}")
    assert not faults, faults
