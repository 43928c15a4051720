"""Reads Python without running it: what a cell defines, what it uses, its text without the notebook's magic lines.

Imported by the student's process too, which should start in no time: next to nothing is imported here.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)  # what compiling raises for hostile text too
FLAGS = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # a notebook may `await` outside a function
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def plain_python(source: str) -> str:
    """A cell without what plain Python cannot read and a notebook can (`magics`); line numbers stay.

    Where IPython is not at hand, as in the student's process, the text stays as it is.

    >>> plain_python("%matplotlib inline\\nx = 7")
    'pass\\nx = 7'
    """
    try:
        tree(source)
    except SyntaxError:
        try:
            from grading.magics import plain

            return plain(source).text
        except ImportError:
            return source
    except UNREADABLE:
        return source
    return source


def tree(source: str) -> ast.Module:
    """The syntax tree of a cell. Raises one of `UNREADABLE` where it is no Python; what Python would warn of stays with
    the one who runs it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = compile(source, "<cell>", "exec", FLAGS, dont_inherit=True)
    assert isinstance(made, ast.Module)
    return made


def parse(source: str) -> ast.Module:
    """The syntax tree of a cell; an empty one where it is no Python."""
    try:
        return tree(plain_python(source))
    except UNREADABLE:
        return ast.Module(body=[], type_ignores=[])


def holds_code(source: str) -> bool:
    """Whether there is anything to run: "# later" -> False, "x = 1" -> True; text that is no Python counts."""
    try:
        return bool(tree(source).body)
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
