"""Python source as lines, the comments in it, and the text by which a piece of it is found.

A piece is stored as it stands in the file and searched in another form: its docstring as prose, its code without
comments. What a comment is only the tokenizer knows ("#" occurs in strings), and what a line is only Python's own rule:
``str.splitlines`` also cuts at form feeds, which the standard library's files hold, and every line number behind one
would be off.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Collection, Mapping, Sequence
from textwrap import dedent

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def source_lines(source: str) -> list[str]:
    """The lines as Python counts them, each with its own ending; joined they are ``source`` again.

    >>> source_lines("a = 1\\r\\n\\x0cb = 2")
    ['a = 1\\r\\n', '\\x0cb = 2']
    """
    return _LINE.findall(source)


def comment_columns(lines: Sequence[str]) -> dict[int, int]:
    """Line number (from 1) -> the column at which its comment begins. ``{}`` if the text cannot be tokenized.

    >>> comment_columns(["x = '# no'  # yes"])
    {1: 12}
    """
    plain = iter([line.rstrip("\r\n") + "\n" for line in lines])
    try:
        found = list(tokenize.generate_tokens(lambda: next(plain, "")))
    except (tokenize.TokenError, SyntaxError):
        return {}
    return {token.start[0]: token.start[1] for token in found if token.type == tokenize.COMMENT}


def without_comments(lines: Mapping[int, str], comments: Mapping[int, int], drop: Collection[int] = ()) -> str:
    """Numbered lines as dedented text, without comments, the lines of ``drop`` and lines left blank."""
    kept = []
    for number, line in lines.items():
        bare = line[: comments.get(number, len(line))].rstrip()
        if bare and number not in drop:
            kept.append(bare)
    return dedent("\n".join(kept))


def signature(node: Definition) -> str:
    """The head of a definition on one line, decorators and type parameters left out.

    >>> signature(ast.parse("@cache\\nasync def f(a: int,\\n  *b) -> str: ...").body[0])
    'async def f(a: int, *b) -> str:'
    """
    if isinstance(node, ast.ClassDef):
        given = ", ".join(ast.unparse(part) for part in (*node.bases, *node.keywords))
        return f"class {node.name}({given}):" if given else f"class {node.name}:"
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{kind} {node.name}({ast.unparse(node.args)}){returns}:"


def docstring(node: Definition | ast.Module) -> str:
    """The docstring, cleaned; "" where there is none."""
    return ast.get_docstring(node) or ""


def first_sentence(text: str) -> str:
    """The opening of a docstring, up to its first blank line.

    >>> first_sentence("Merging results.\\n\\nLong story.")
    'Merging results.'
    """
    return " ".join(text.split("\n\n", 1)[0].split())


def docstring_lines(node: Definition | ast.Module, lines: Sequence[str]) -> range:
    """The lines of a docstring that has them to itself, else an empty range."""
    first = node.body[0] if node.body else None
    if not docstring(node) or first is None:
        return range(0)
    head, tail = lines[first.lineno - 1], lines[(first.end_lineno or 0) - 1]
    alone = not head.encode()[: first.col_offset].strip() and not tail.encode()[first.end_col_offset :].strip()
    return range(first.lineno, (first.end_lineno or 0) + 1) if alone else range(0)
