"""Slips in a call, a slice or a display, as mutation operators: see `operators`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from grading.proof.operators import NAMES


def call(node: ast.AST) -> Iterator[ast.AST]:
    """A call left out: its first argument instead, or the object whose method it is (conversions, `sorted`, `abs`).

    >>> from grading.proof.mutants import variants
    >>> variants(call, "set(a)"), variants(call, "a.copy()"), variants(call, "np.array(a, dtype=float)")
    (['a'], ['a'], ['a', 'np'])
    """
    if isinstance(node, ast.Call):
        if node.args and not isinstance(node.args[0], ast.Starred):
            yield node.args[0]
        if isinstance(node.func, ast.Attribute):
            yield node.func.value


def keyword(node: ast.AST) -> Iterator[ast.AST]:
    """A keyword argument left out: `key`, `reverse`, `dtype`, `axis`.

    >>> from grading.proof.mutants import variants
    >>> variants(keyword, "sorted(a, key=k, reverse=True)")
    ['sorted(a, reverse=True)', 'sorted(a, key=k)']
    """
    if isinstance(node, ast.Call):
        for index in range(len(node.keywords)):
            yield ast.Call(node.func, node.args, [*node.keywords[:index], *node.keywords[index + 1 :]])


def argument(node: ast.AST) -> Iterator[ast.AST]:
    """Two neighbouring arguments changed places, the last one left out, and a `range` one off at either end.

    >>> from grading.proof.mutants import variants
    >>> variants(argument, "f(a, b)"), variants(argument, "range(n)")
    (['f(b, a)', 'f(a)'], ['range(n - 1)', 'range(n + 1)', 'range(1, n)'])
    """
    if isinstance(node, ast.Call) and not any(isinstance(arg, ast.Starred) for arg in node.args):
        args = node.args
        for index in range(len(args) - 1):
            swapped = [*args[:index], args[index + 1], args[index], *args[index + 2 :]]
            yield ast.Call(node.func, swapped, node.keywords)
        if len(args) > 1:
            yield ast.Call(node.func, args[:-1], node.keywords)
        if isinstance(node.func, ast.Name) and node.func.id == "range" and len(args) < 3:
            one = ast.Constant(1)
            for end in (ast.BinOp(args[-1], ast.Sub(), one), ast.BinOp(args[-1], ast.Add(), one)):
                yield ast.Call(node.func, [*args[:-1], end], [])
            start = one if len(args) == 1 else ast.BinOp(args[0], ast.Add(), one)
            yield ast.Call(node.func, [start, args[-1]], [])


def name(node: ast.AST) -> Iterator[ast.AST]:
    """The name that is easily taken for this one: `max` and `min`, `append` and `extend`, `array` and `asarray`.

    >>> from grading.proof.mutants import variants
    >>> variants(name, "max"), variants(name, "a.append")
    (['min'], ['a.extend'])
    """
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield ast.Name(NAMES[node.id], node.ctx)
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield ast.Attribute(node.value, NAMES[node.attr], node.ctx)


def cut(node: ast.AST) -> Iterator[ast.AST]:
    """A slice left out, and each of its bounds left out or one off; an index of the other end.

    >>> from grading.proof.mutants import variants
    >>> variants(cut, "a[1:]")
    ['a', 'a[:]', 'a[1 - 1:]', 'a[1 + 1:]']
    >>> variants(cut, "a[::-1]")
    ['a', 'a[:]']
    """
    if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)):
        return
    yield node.value
    one, bounds = ast.Constant(1), node.slice
    for which in ("lower", "upper", "step"):
        bound: ast.expr | None = getattr(bounds, which)
        if bound is None:
            continue
        others: list[ast.expr | None] = [None]
        if which != "step":
            others += [ast.BinOp(bound, ast.Sub(), one), ast.BinOp(bound, ast.Add(), one)]
        for other in others:
            changed = copy.copy(bounds)
            setattr(changed, which, other)
            yield ast.Subscript(node.value, changed, node.ctx)


def display(node: ast.AST) -> Iterator[ast.AST]:
    """A list, tuple, set or dictionary written out, with one entry left out or two changed places.

    >>> from grading.proof.mutants import variants
    >>> variants(display, "(-a, b)"), variants(display, "{'x': 1}")
    (['(b,)', '(-a,)', '(b, -a)'], ['{}'])
    """
    if isinstance(node, ast.List | ast.Tuple | ast.Set) and isinstance(getattr(node, "ctx", None), ast.Load | None):
        items = node.elts
        for index in range(len(items)):
            yield _with(node, [*items[:index], *items[index + 1 :]])
        for index in range(len(items) - 1):
            yield _with(node, [*items[:index], items[index + 1], items[index], *items[index + 2 :]])
    elif isinstance(node, ast.Dict):
        for index in range(len(node.keys)):
            keys, values = node.keys, node.values
            yield ast.Dict([*keys[:index], *keys[index + 1 :]], [*values[:index], *values[index + 1 :]])


def _with(node: ast.List | ast.Tuple | ast.Set, items: list[ast.expr]) -> ast.AST:
    """The same kind of display with other items; a set without any is `set()`."""
    if isinstance(node, ast.Set):
        return ast.Set(items) if items else ast.Call(ast.Name("set", ast.Load()), [], [])
    return type(node)(items, node.ctx)
