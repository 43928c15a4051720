"""Slips in an expression, as mutation operators: each takes a node of a syntax tree and gives what it could have been.

The kinds are the classical ones (comparisons, arithmetic, constants, conditions, calls; Jia and Harman, "An analysis
and survey of the development of mutation testing", 2011) and those that exercises meet: a conversion, a keyword or a
slice's bound left out. Kept tools (cosmic-ray, mutmut) change a project that its own tests import; an answer is a text
that a grader runs, so the operators are here and the rest is `ast`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

Operator = Callable[[ast.AST], Iterator[ast.AST]]

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE),
    ast.LtE: (ast.Lt, ast.GtE, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.LtE, ast.Lt),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE, ast.Is),
    ast.NotEq: (ast.Eq, ast.Lt, ast.Gt, ast.IsNot),
    ast.Is: (ast.IsNot, ast.Eq),
    ast.IsNot: (ast.Is, ast.NotEq),
    ast.In: (ast.NotIn,),  # codespell:ignore notin
    ast.NotIn: (ast.In,),  # codespell:ignore notin
}
ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.BitAnd),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
    ast.BitAnd: (ast.BitOr, ast.Sub),
    ast.BitXor: (ast.BitOr,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
NAMES = {
    "max": "min",
    "min": "max",
    "any": "all",
    "all": "any",
    "argmax": "argmin",
    "argmin": "argmax",
    "sum": "max",
    "mean": "sum",
    "append": "extend",
    "extend": "append",
    "add": "discard",
    "array": "asarray",
    "setdefault": "get",
    "float64": "float32",
    "keys": "values",
    "values": "keys",
    "deque": "list",
    "floor": "ceil",
    "ceil": "floor",
}


def compare(node: ast.AST) -> Iterator[ast.AST]:
    """A comparison with its boundary moved, turned round, or negated.

    >>> from grading.proof.mutants import variants
    >>> variants(compare, "a < b"), variants(compare, "a is b")
    (['a <= b', 'a > b', 'a >= b'], ['a is not b', 'a == b'])
    """
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                yield ast.Compare(node.left, [*node.ops[:index], other(), *node.ops[index + 1 :]], node.comparators)


def arithmetic(node: ast.AST) -> Iterator[ast.AST]:
    """Another arithmetic or set operator, or one operand alone.

    >>> from grading.proof.mutants import variants
    >>> variants(arithmetic, "a / b")
    ['a * b', 'a // b', 'a', 'b']
    """
    if isinstance(node, ast.BinOp):
        yield from (ast.BinOp(node.left, other(), node.right) for other in ARITHMETIC[type(node.op)])
        yield from (node.left, node.right)


def constant(node: ast.AST) -> Iterator[ast.AST]:
    """A number one off, or 0, 1 or -1; a fraction a thousand times larger or smaller, as tolerances are mistaken; a
    truth value turned round; a text emptied.

    >>> from grading.proof.mutants import variants
    >>> variants(constant, "f(7)"), variants(constant, "f(True, 'x')")
    (['f(8)', 'f(6)', 'f(0)', 'f(1)', 'f(-1)'], ["f(False, 'x')", "f(True, '')"])
    """
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            yield ast.Constant(not value)
        elif isinstance(value, int | float):
            others = [value + 1, value - 1, 0, 1, -1]
            if isinstance(value, float) and value:
                others += [value * 1000, value / 1000]
            yield from (ast.Constant(other) for other in dict.fromkeys(others))
        elif isinstance(value, str):
            yield ast.Constant("" if value else "x")


def logic(node: ast.AST) -> Iterator[ast.AST]:
    """`and` for `or`, and one operand left out.

    >>> from grading.proof.mutants import variants
    >>> variants(logic, "a and b")
    ['a or b', 'b', 'a']
    """
    if isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        for index in range(len(node.values)):
            rest = [*node.values[:index], *node.values[index + 1 :]]
            yield ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0]


def sign(node: ast.AST) -> Iterator[ast.AST]:
    """A `not` or a minus left out.

    >>> from grading.proof.mutants import variants
    >>> variants(sign, "not a"), variants(sign, "-a")
    (['a'], ['a'])
    """
    if isinstance(node, ast.UnaryOp):
        yield node.operand


def condition(node: ast.AST) -> Iterator[ast.AST]:
    """A condition negated, or always true, or always false; of an `a if c else b`, one side always.

    >>> from grading.proof.mutants import variants
    >>> variants(condition, "a if c else b")
    ['a if not c else b', 'a', 'b']
    >>> variants(condition, "while c: f()")
    ['while not c:\\n    f()', 'while True:\\n    f()', 'while False:\\n    f()']
    >>> variants(condition, "[x for x in a if c]")
    ['[x for x in a if not c]', '[x for x in a]']
    """
    if isinstance(node, ast.IfExp):
        yield ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.If | ast.While):
        others: tuple[ast.expr, ...] = (ast.UnaryOp(ast.Not(), node.test), ast.Constant(True), ast.Constant(False))
        yield from (type(node)(test, node.body, node.orelse) for test in others)
    elif isinstance(node, ast.comprehension):
        for index, test in enumerate(node.ifs):
            before, after = node.ifs[:index], node.ifs[index + 1 :]
            yield ast.comprehension(
                node.target, node.iter, [*before, ast.UnaryOp(ast.Not(), test), *after], node.is_async
            )
            yield ast.comprehension(node.target, node.iter, [*before, *after], node.is_async)
