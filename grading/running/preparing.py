"""The instructor's cells, read and compiled once for a class: what each test uses, and its text without hidden parts.

A test cell is needed in two forms: as the released notebook has it, with the hidden lines blanked so that line numbers
stay, and whole. Nothing is executed here, so the process that judges a whole class can keep what it finds.
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Iterable
from dataclasses import dataclass

from grading.running.plan import PlanCell
from grading.syntax import UNREADABLE, bound_names, parse, plain_python, used_names

DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
KEPT = 4_096  # cells, of some hundred exercises


@dataclass(frozen=True)
class Code:
    """A piece of a cell: what runs, the names it reads and those it defines, the modules it imports by top-level name.
    `last`: a last expression, for its value; `pieces`: its definitions and imports, each by itself."""

    body: types.CodeType
    last: types.CodeType | None
    used: frozenset[str]
    bound: frozenset[str]
    modules: frozenset[str]
    pieces: tuple[Code, ...] = ()

    @property
    def values(self) -> frozenset[str]:
        """What it defines and no definition or import of its does."""
        return self.bound.difference(*(piece.bound for piece in self.pieces))


@dataclass(frozen=True)
class Test:
    """A test cell. `visible`: without the hidden parts, None where nothing to run is left; `whole`: None where the
    text is no Python, then `fault` says why; `hidden_names`: what only the hidden parts define; `asserts`: first and
    last lines of its `assert` statements, the innermost last, with the message where it is a plain string."""

    visible: Code | None
    whole: Code | None
    asserts: tuple[tuple[int, int, str], ...]
    hidden_names: frozenset[str]
    fault: str = ""

    __test__ = False


@functools.lru_cache(maxsize=KEPT)
def prepared(cell: PlanCell) -> Test:
    """A test cell, read and compiled."""
    source = plain_python(cell.source)
    try:
        tree = ast.parse(source)
        whole = _code(tree, cell.id)
    except UNREADABLE as problem:
        return Test(None, None, (), frozenset(), str(getattr(problem, "msg", problem)))
    if not cell.hidden_lines:
        return Test(whole, whole, (), frozenset())
    left = _visible_tree(source, cell.hidden_lines)
    visible = _code(left, cell.id) if left is not None and any(map(_does_something, left.body)) else None
    hidden_names = whole.bound - (visible.bound if visible is not None else frozenset())
    return Test(visible, whole, _asserts(tree), hidden_names)


@functools.lru_cache(maxsize=KEPT)
def prepared_setup(cell: PlanCell) -> tuple[Code, ...]:
    """The statements of a setup cell, each by itself; none where it is no Python."""
    return tuple(_code(ast.Module([node], []), cell.id, last_value=False) for node in parse(cell.source).body)


def blanked(source: str, ranges: Iterable[tuple[int, int]], first: str = "") -> str:
    """A text with ranges of lines emptied; `first` stands on the first of each, as far in as that was."""
    lines = source.split("\n")
    for begin, end in ranges:
        indent = lines[begin - 1][: len(lines[begin - 1]) - len(lines[begin - 1].lstrip())]
        lines[begin - 1 : end] = [f"{indent}{first}" if first else "", *[""] * (end - begin)]
    return "\n".join(lines)


def imported_modules(tree: ast.AST) -> frozenset[str]:
    """Top-level names of the modules that a piece of code imports: "import a.b, c" -> {"a", "c"}."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return frozenset(found)


def _visible_tree(source: str, ranges: tuple[tuple[int, int], ...]) -> ast.Module | None:
    """What is left without the hidden lines; None where that is no Python, as when a hidden part is half a statement.
    A hidden part that is the whole body of something leaves `pass`."""
    for first in ("", "pass"):
        try:
            return ast.parse(blanked(source, ranges, first))
        except SyntaxError:
            continue
    return None


def _asserts(tree: ast.AST) -> tuple[tuple[int, int, str], ...]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            text = node.msg.value if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str) else ""
            found.append((node.lineno, node.end_lineno or node.lineno, text))
    return tuple(sorted(found))


def _does_something(node: ast.stmt) -> bool:
    return not (isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)))


def _code(tree: ast.Module, name: str, last_value: bool = True) -> Code:
    """Compile statements; with `last_value`, a last expression by itself, so that it can give a value."""
    body, last = tree.body, None
    if last_value and body and isinstance(body[-1], ast.Expr):
        last = compile(ast.Expression(body[-1].value), f"<{name}>", "eval", dont_inherit=True)
        body = body[:-1]
    code = compile(ast.Module(body, []), f"<{name}>", "exec", dont_inherit=True)
    definitions = [node for node in tree.body if isinstance(node, DEFINITIONS)] if last_value else []
    pieces = tuple(_code(ast.Module([node], []), name, last_value=False) for node in definitions)
    used, bound = frozenset(used_names(tree)), frozenset(bound_names(tree.body))
    return Code(code, last, used, bound, imported_modules(tree), pieces)
