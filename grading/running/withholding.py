"""What an answer may not import is not there to be imported: the student's process gets the files that lie beside a
notebook without it.

Reading a text finds only the imports that are spelt out in it (`submission.imports`); a name that is put together while
the code runs meets a function that raises. The judge has the files whole.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from pathlib import Path

from grading.syntax import UNREADABLE, bound_names


def withheld(files: Sequence[str], forbidden: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The paths to hand to a student's process: of modules with a forbidden name a copy in `folder`, else the files."""
    given = []
    for file in files:
        path = Path(file)
        names = {name.partition(".")[2] for name in forbidden if name.partition(".")[0] == path.stem}
        text = without(path.read_text(encoding="utf-8"), names) if path.suffix == ".py" and names else None
        if text is None:
            given.append(file)
            continue
        copy = folder / path.name
        copy.write_text(text, encoding="utf-8")
        given.append(str(copy))
    return tuple(given)


def without(source: str, names: Collection[str]) -> str | None:
    """A module whose functions and classes of these names raise when they are used, and which binds the names in no
    other way; None for what is no Python.

    >>> print(without("def f(x): return x + 1\\nRATE = f(2)\\ng = 3", {"f", "g"}))
    def f(*_, **__):
        raise ImportError('f: the exercise asks you to write this yourself')
    RATE = f(2)
    """
    try:
        tree = ast.parse(source)
    except UNREADABLE:
        return None
    body: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name in names:
            body += _instead(node.name)
        elif not set(bound_names([node])) & set(names):
            body.append(node)
    return ast.unparse(ast.Module(body=body, type_ignores=[]))


def _instead(name: str) -> list[ast.stmt]:
    words = f"{name}: the exercise asks you to write this yourself"
    return ast.parse(f"def {name}(*_, **__):\n    raise ImportError({words!r})").body
