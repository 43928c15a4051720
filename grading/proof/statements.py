"""Slips in a statement, as mutation operators: see `operators`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from grading.proof.operators import ARITHMETIC

KEPT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass, ast.Global)
EMPTY = ("None", "[]", "{}", "''", "0")


def removed(node: ast.AST) -> Iterator[ast.AST]:
    """A statement left out; imports and definitions aside, without which nothing runs.

    >>> from grading.proof.mutants import variants
    >>> variants(removed, "f(x)"), variants(removed, "import a")
    (['pass'], [])
    """
    if isinstance(node, ast.stmt) and not isinstance(node, KEPT):
        yield ast.Pass()


def assignment(node: ast.AST) -> Iterator[ast.AST]:
    """Another operator in `+=`, or none; the names of `a, b = ...` changed places.

    >>> from grading.proof.mutants import variants
    >>> variants(assignment, "a += b"), variants(assignment, "a, b = c")
    (['a -= b', 'a *= b', 'a = b'], ['b, a = c'])
    """
    if isinstance(node, ast.AugAssign):
        yield from (ast.AugAssign(node.target, other(), node.value) for other in ARITHMETIC[type(node.op)])
        yield ast.Assign([node.target], node.value, lineno=node.lineno)
    elif isinstance(node, ast.Assign | ast.For | ast.comprehension):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Tuple) and len(target.elts) == 2:
            turned = copy.copy(node)
            other = ast.Tuple(target.elts[::-1], ast.Store())
            if isinstance(turned, ast.Assign):
                turned.targets = [other]
            else:
                turned.target = other
            yield turned


def loop(node: ast.AST) -> Iterator[ast.AST]:
    """`break` for `continue`; a loop that ends after its first round, and one that goes from the end.

    >>> from grading.proof.mutants import variants
    >>> variants(loop, "break")
    ['continue']
    >>> variants(loop, "for x in a: f(x)")
    ['for x in a:\\n    f(x)\\n    break', 'for x in [*a][::-1]:\\n    f(x)']
    """
    if isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.Continue):
        yield ast.Break()
    elif isinstance(node, ast.For | ast.While) and not isinstance(node.body[-1], ast.Break | ast.Return):
        once = copy.copy(node)
        once.body = [*node.body, ast.Break()]
        yield once
    if isinstance(node, ast.For) and not (isinstance(node.target, ast.Name) and node.target.id == "_"):
        backwards = copy.copy(node)
        backwards.iter = ast.parse(f"[*{ast.unparse(node.iter)}][::-1]", mode="eval").body
        yield backwards


def result(node: ast.AST) -> Iterator[ast.AST]:
    """A function that gives something empty or its own first argument, at each of its `return`s.

    >>> from grading.proof.mutants import variants
    >>> [text.split()[-1] for text in variants(result, "def f(a, b): return a + b")]
    ['None', '[]', '{}', "''", '0', 'a']
    """
    if not isinstance(node, ast.FunctionDef):
        return
    inner = {
        id(own) for part in ast.walk(node) if part is not node and isinstance(part, KEPT) for own in ast.walk(part)
    }
    places = [part for part in ast.walk(node) if isinstance(part, ast.Return) and id(part) not in inner]
    parameters = [parameter.arg for parameter in node.args.args if parameter.arg != "self"]
    for place in places:
        for other in (*EMPTY, *parameters[:1]):
            yield _copy_with(node, place, "value", ast.parse(other, mode="eval").body)


def variable(node: ast.AST) -> Iterator[ast.AST]:
    """A function that reads another of its own variables in one place: the one that appears next.

    >>> from grading.proof.mutants import variants
    >>> [text.split()[-1] for text in variants(variable, "def f(a, b): return a")]
    ['b']
    """
    if not isinstance(node, ast.FunctionDef):
        return
    parameters = [parameter.arg for parameter in node.args.args]
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    own = list(dict.fromkeys([*parameters, *(part.id for part in names if isinstance(part.ctx, ast.Store))]))
    for part in names:
        if isinstance(part.ctx, ast.Load) and part.id in own and len(own) > 1:
            yield _copy_with(node, part, "id", own[(own.index(part.id) + 1) % len(own)])


def _copy_with(node: ast.AST, part: ast.AST, field: str, value: object) -> ast.AST:
    """A copy of a node in which one field of one of its parts is another."""
    before = getattr(part, field)
    setattr(part, field, value)
    changed = copy.deepcopy(node)
    setattr(part, field, before)
    return changed


def fault(node: ast.AST) -> Iterator[ast.AST]:
    """Another exception raised, or another one caught.

    >>> from grading.proof.mutants import variants
    >>> variants(fault, "raise ValueError('x')")
    ["raise RuntimeError('x')"]
    """
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        yield ast.Raise(ast.Call(ast.Name("RuntimeError", ast.Load()), node.exc.args, node.exc.keywords), node.cause)
    elif isinstance(node, ast.ExceptHandler) and node.type is not None:
        yield ast.ExceptHandler(ast.Name("RuntimeError", ast.Load()), node.name, node.body)


def default(node: ast.AST) -> Iterator[ast.AST]:
    """A default argument that is None, or 0 where it was None.

    >>> from grading.proof.mutants import variants
    >>> variants(default, "def f(a, b=[]): return b"), variants(default, "def f(a=None): return a")
    (['def f(a, b=None):\\n    return b'], ['def f(a=0):\\n    return a'])
    """
    if not isinstance(node, ast.FunctionDef):
        return
    for index, value in enumerate(node.args.defaults):
        other = ast.Constant(0 if isinstance(value, ast.Constant) and value.value is None else None)
        changed = copy.copy(node)
        changed.args = copy.copy(node.args)
        changed.args.defaults = [*node.args.defaults[:index], other, *node.args.defaults[index + 1 :]]
        yield changed


def decorator(node: ast.AST) -> Iterator[ast.AST]:
    """A decorator left out.

    >>> from grading.proof.mutants import variants
    >>> variants(decorator, "@staticmethod\\ndef f(): pass")
    ['def f():\\n    pass']
    """
    if isinstance(node, ast.FunctionDef):
        for index in range(len(node.decorator_list)):
            bare = copy.copy(node)
            bare.decorator_list = [*node.decorator_list[:index], *node.decorator_list[index + 1 :]]
            yield bare
