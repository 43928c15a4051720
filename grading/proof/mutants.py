"""Mutants of an answer: the same text with one slip each, made by the operators of `operators`, `shapes` and
`statements`.

A mutant that nothing distinguishes from another, or from the answer, in the text that `ast.unparse` gives is left out,
and so is one that is no Python. Its name is the operator's, a number, and a hash of its text, so a waiver by name holds
for exactly one text.
"""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from grading.proof import operators, shapes, statements
from grading.proof.operators import Operator

OPERATORS: tuple[Operator, ...] = (
    operators.compare,
    operators.arithmetic,
    operators.constant,
    operators.logic,
    operators.sign,
    operators.condition,
    shapes.call,
    shapes.keyword,
    shapes.argument,
    shapes.name,
    shapes.cut,
    shapes.display,
    statements.removed,
    statements.assignment,
    statements.loop,
    statements.result,
    statements.variable,
    statements.fault,
    statements.default,
    statements.decorator,
)
NO_BEHAVIOUR = frozenset({"annotation", "returns", "type_comment"})  # fields that say something and do nothing
MAX_SHOWN = 90


@dataclass(frozen=True)
class Mutant:
    """A text with one slip. `change`: what became of what, in one line; `line`: where, in the answer."""

    name: str
    line: int
    change: str
    source: str


@dataclass(frozen=True)
class _Place:
    """A node of a tree, where it hangs, and the line it is on."""

    node: ast.AST
    parent: ast.AST
    field: str
    index: int | None
    line: int

    def put(self, node: ast.AST) -> None:
        """Hang a node there."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a text.

    >>> [mutant.change for mutant in mutants("def f(a): return a[0] > 1")][:3]
    ['a[0] > 1 → a[0] >= 1', 'a[0] > 1 → a[0] < 1', 'a[0] > 1 → a[0] <= 1']
    """
    tree = ast.parse(source)
    seen, made, numbers = {ast.unparse(tree)}, [], Counter[str]()
    places = list(_places(tree))
    for operator in OPERATORS:
        for place in places:
            for node in operator(place.node):
                text = _with(tree, place, node)
                if text in seen or not _compiles(text):
                    continue
                seen.add(text)
                numbers[operator.__name__] += 1
                digest = hashlib.sha256(text.encode()).hexdigest()[:6]
                name = f"{operator.__name__}-{numbers[operator.__name__]}-{digest}"
                made.append(Mutant(name, place.line, _change(place.node, node), text))
    return made


def variants(operator: Operator, source: str) -> list[str]:
    """What one operator makes of all of a text: (compare, "a == b")[0] -> "a != b"."""
    tree = ast.parse(source)
    return list(dict.fromkeys(_with(tree, place, node) for place in _places(tree) for node in operator(place.node)))


def _places(node: ast.AST, line: int = 1) -> Iterator[_Place]:
    """Every node below one that does something: no annotations, no docstrings, no import's names."""
    for field, value in ast.iter_fields(node):
        if field in NO_BEHAVIOUR:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _says_only(child):
                continue
            here = getattr(child, "lineno", line)
            yield _Place(child, node, field, index, here)
            if not isinstance(child, ast.JoinedStr):
                yield from _places(child, here)


def _says_only(node: ast.AST) -> bool:
    """Whether a statement is a text alone, as docstrings are."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _with(tree: ast.Module, place: _Place, node: ast.AST) -> str:
    """The text of a tree that has another node in one place; the tree is as before afterwards."""
    place.put(node)
    try:
        return ast.unparse(tree)
    finally:
        place.put(place.node)


def _compiles(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `x is 0` is what a mutant is meant to say
        try:
            compile(text, "mutant", "exec")
        except SyntaxError:
            return False
    return True


def _change(before: ast.AST, after: ast.AST) -> str:
    """In one line: the first lines of both that differ."""
    old, new = (ast.unparse(node).split("\n") for node in (before, after))
    for a, b in zip_longest(old, new, fillvalue="nothing"):
        if a != b:
            return f"{a.strip()[:MAX_SHOWN]} → {b.strip()[:MAX_SHOWN]}"
    return ""
