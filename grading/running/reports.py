"""What the student's process says of things that are no plain data: an exception; a function, a class, an object.

Both are plain data for the judge's side, which does not trust them (`explaining` looks the quoted code up again).
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Mapping
from typing import Any

MAX_TEXT = 1_000
MAX_LINES = 6
MAX_METHODS = 200


def report(problem: BaseException, cells: Mapping[str, str]) -> dict[str, Any]:
    """An exception: its type, its built-in types from the nearest, its text, and the lines of cells it passed.

    `cells` gives the name of each cell by the file name it was compiled with.
    """
    family = [kind.__name__ for kind in type(problem).__mro__ if getattr(builtins, kind.__name__, None) is kind]
    try:
        text = str(problem)[:MAX_TEXT]
    except BaseException:  # a student's __str__ may do anything
        text = ""
    lines = []
    step = problem.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if file in cells:
            lines.append({"cell": cells[file], "line": step.tb_lineno, "column": 0})
        step = step.tb_next
    if isinstance(problem, SyntaxError) and problem.filename is not None and problem.filename in cells:
        lines.append({"cell": cells[problem.filename], "line": problem.lineno or 1, "column": problem.offset or 0})
        text = str(problem.msg)[:MAX_TEXT]
    if len(lines) > MAX_LINES:  # a recursion: the first and the last are what one needs
        lines = lines[: MAX_LINES // 2] + lines[-MAX_LINES // 2 :]
    simple = problem.args[0] if len(problem.args) == 1 and isinstance(problem.args[0], str) else text
    return {
        "type": type(problem).__name__,
        "family": family,
        "text": text,
        "argument": simple[:MAX_TEXT],
        "lines": lines,
    }


def describe(value: Any) -> dict[str, Any]:
    """What a stand-in on the other side should know of a function, a class or an instance."""
    if isinstance(value, type):
        return {"kind": "class", "name": value.__name__}
    code = getattr(value, "__code__", None)
    if isinstance(code, types.CodeType):
        return {
            "kind": "function",
            "name": value.__name__,
            "doc": value.__doc__ if isinstance(value.__doc__, str) else None,
            "parameters": list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]),
            "positional": code.co_argcount,
            "defaults": len(getattr(value, "__defaults__", None) or ()),
            "keyword_defaults": list(getattr(value, "__kwdefaults__", None) or ()),
        }
    if isinstance(value, types.ModuleType):
        return {"kind": "module", "name": value.__name__}
    kind = type(value)
    methods = [name for name in dir(kind) if not name.startswith("__") and callable(getattr(kind, name, None))]
    about = {"kind": "function" if callable(value) else "object", "name": kind.__name__}
    return {**about, "methods": methods[:MAX_METHODS]}
