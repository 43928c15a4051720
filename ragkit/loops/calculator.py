"""A calculator for a model: arithmetic through ``ast``, so that nothing but arithmetic can happen, and with bounds.

``eval`` would run any code a model writes, and ``9**9**9`` would hold the machine for hours. Here the expression is
parsed, only the nodes of arithmetic are evaluated, and length, depth, exponents and the size of results are bounded
*before* they are computed. Left out: variables, units, dates, complex numbers.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable
from typing import TypeAlias

Number: TypeAlias = int | float

MOST_CHARACTERS = 300
MOST_DEPTH = 40
MOST_BITS = 2_048
"""Whole numbers of more bits (some 616 digits) are refused."""

_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[Number], Number]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "max": max,
    "min": min,
    "round": round,
    "sqrt": lambda value: _power(value, 0.5),
    "sum": lambda *values: sum(values),
}
_WRITTEN = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**"})
_THOUSANDS = re.compile(r"(?<![\d.,(])\d{1,3}(?:,\d{3})+(?![\d,])")
_PERCENT = re.compile(r"(\d)\s*%(?!\s*[\d(])")


def calculate(expression: str) -> Number:
    """The value of an arithmetic expression; `ValueError` says what is wrong with any other text.

    Known are ``+ - * / // % **``, parentheses, and ``abs``, ``max``, ``min``, ``round``, ``sqrt``, ``sum``. As people
    write: ``×``, ``÷`` and ``^``, a currency sign, thousands as in 1,200 (not right after a parenthesis, where a comma
    separates arguments), 15% for 0.15 (before a number it is the remainder), and ``=`` at the end.

    >>> calculate("17 * 24"), calculate("£1,200 × 15% ="), calculate("2^10"), calculate("7 % 4")
    (408, 180.0, 1024, 3)
    """
    if not isinstance(expression, str):
        raise ValueError(f"expression must be a str, got {type(expression).__name__}")
    if len(expression) > MOST_CHARACTERS:
        raise ValueError(f"expression must have at most {MOST_CHARACTERS} characters, got {len(expression)}")
    text = re.sub(r"[£$€]", "", expression.translate(_WRITTEN)).strip().removesuffix("=").strip()
    text = _THOUSANDS.sub(lambda match: match.group().replace(",", ""), text)
    text = _PERCENT.sub(r"\1/100", text)
    if not text:
        raise ValueError("expression is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError(f"expression is not arithmetic: {expression!r}") from error
    try:
        return _value(body, 0)
    except (ZeroDivisionError, OverflowError, TypeError) as error:
        raise ValueError(f"expression cannot be computed: {error}") from error


def shown(value: Number) -> str:
    """A number as a model should read it: whole ones whole, others to 12 digits, so 0.1 + 0.2 is 0.3.

    >>> shown(0.1 + 0.2), shown(180.0), shown(2**70)
    ('0.3', '180', '1180591620717411303424')
    """
    return str(value) if isinstance(value, int) else format(value, ".12g")


def _value(node: ast.expr, depth: int) -> Number:
    if depth > MOST_DEPTH:
        raise ValueError(f"expression is nested deeper than {MOST_DEPTH} levels")
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return _bounded(node.value)
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand, depth + 1))
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, depth + 1), _value(node.right, depth + 1)
        if isinstance(node.op, ast.Pow):
            return _power(left, right)
        if type(node.op) in _BINARY:
            return _bounded(_BINARY[type(node.op)](left, right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        if node.keywords or not node.args:
            raise ValueError(f"expression calls {node.func.id} without plain arguments")
        return _bounded(_FUNCTIONS[node.func.id](*(_value(part, depth + 1) for part in node.args)))
    raise ValueError(f"expression holds what is not arithmetic: {ast.unparse(node)!r:.60}")


def _power(base: Number, exponent: Number) -> Number:
    """``base ** exponent``, refused where a whole result would be too long before it is computed."""
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 0:
        if base.bit_length() * exponent > MOST_BITS and abs(base) > 1:
            raise ValueError(f"expression has a power with more than {MOST_BITS} bits")
        if abs(base) <= 1:  # 1 ** (a number of 600 digits) is 1, but computing it takes its digits in steps
            return base if exponent % 2 else abs(base)
    result = base**exponent
    if isinstance(result, complex):
        raise ValueError("expression has a root of a negative number")
    return _bounded(result)


def _bounded(value: Number) -> Number:
    if isinstance(value, int):
        if value.bit_length() > MOST_BITS:
            raise ValueError(f"expression has a number of more than {MOST_BITS} bits")
        return value
    if not math.isfinite(value):
        raise ValueError("expression has a number that is not finite")
    return value
