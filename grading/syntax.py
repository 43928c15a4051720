"""Reads Python without running it: what a cell defines, what it uses, its text without the notebook's magic lines.

Imported by the student's process too, which should start in no time: nothing but `ast` is imported here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)  # what `ast.parse` raises for hostile text too
MAX_MAGIC = 100
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def plain_python(source: str) -> str:
    """A cell without the magic lines that plain Python cannot read; line numbers stay.

    >>> plain_python("%matplotlib inline\\nx = 7")
    'pass\\nx = 7'
    """
    lines = source.split("\n")
    for _ in range(MAX_MAGIC):
        text = "\n".join(lines)
        try:
            ast.parse(text)
            return text
        except SyntaxError as problem:
            at = (problem.lineno or 0) - 1
            if not (0 <= at < len(lines) and _is_magic(lines[at])):
                return text
            lines[at] = lines[at][: len(lines[at]) - len(lines[at].lstrip())] + "pass"
        except UNREADABLE:
            return text
    return "\n".join(lines)


def _is_magic(line: str) -> bool:
    """Whether IPython would take the line: %time x, !ls, help?"""
    return line.lstrip().startswith(("%", "!", "?")) or line.rstrip().endswith("?")


def parse(source: str) -> ast.Module:
    """The syntax tree of a cell; an empty one where it is no Python."""
    try:
        return ast.parse(plain_python(source))
    except UNREADABLE:
        return ast.Module(body=[], type_ignores=[])


def holds_code(source: str) -> bool:
    """Whether there is anything to run: "# later" -> False, "x = 1" -> True; text that is no Python counts."""
    try:
        return bool(ast.parse(source).body)
    except UNREADABLE:
        return True


def bound_names(nodes: Iterable[ast.stmt], imports: bool = True) -> tuple[str, ...]:
    """Names that statements define, in order: those of "import a.b; x, y = 1, 2" are ("a", "x", "y").

    `imports=False` leaves out what is only imported. All that stands in a compound statement (`if`, `try`) counts.
    """
    names: list[str] = []
    for statement in nodes:
        whole = isinstance(statement, DEFINITIONS)
        for node in [statement] if whole else ast.walk(statement):
            if isinstance(node, DEFINITIONS):
                names.append(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                names += [(alias.asname or alias.name).split(".")[0] for alias in node.names if imports]
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.append(node.id)
    return tuple(dict.fromkeys(names))


def top_level_names(source: str) -> tuple[str, ...]:
    """Names a cell defines, in order: "def f(): ...\\nx = 1" -> ("f", "x"); () for what is no Python."""
    return bound_names(parse(source).body, imports=False)


def used_names(tree: ast.AST) -> set[str]:
    """Names that a piece of code reads: "f(x) + y" -> {"f", "x", "y"}."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def function_at(tree: ast.AST, line: int) -> str:
    """The innermost function or class that a line stands in, as a traceback names it; "<module>" outside of any."""
    known = [node for node in ast.walk(tree) if isinstance(node, DEFINITIONS)]
    around = [node for node in known if node.lineno <= line <= (node.end_lineno or 0)]
    return max(around, key=lambda node: node.lineno).name if around else "<module>"
