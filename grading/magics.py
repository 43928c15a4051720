"""What a notebook's cell may hold besides Python: magic lines, shell commands, questions for help, whole cells in
another language. IPython's own reader recognises them; here they become plain Python with the same line numbers.

Left out with a note for the student: `%magic`, `!command`, `help?`, `%%bash` and its like. `x = !ls` binds an empty
list and `x = %magic` binds None, so that what follows can run. What only measures or catches Python (`%time`,
`%%time`, `%%timeit`, `%%capture`) runs the Python.

For the grader's own processes: IPython takes 0.2 seconds to import. So it is imported by the first text that needs it
(`load` does it ahead), and the student's process gets text that is plain already.
"""

from __future__ import annotations

import ast
import re
import tokenize
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from grading.syntax import UNREADABLE, tree

RUNNING = {"time", "timeit", "capture", "prun", "memit", "debug"}  # cell magics that run the Python below them
HINT = re.compile(r"(?m)^[ \t]*[%!?,;/]|=[ \t]*[%!]|\?[ \t]*(#.*)?$|^[ \t]*(>>>|In \[\d+\]:)|\A\s*^[ \t]+\S")
CELL_MAGIC = re.compile(r"\s*^%%(?P<name>[^\s?]+)(?P<rest>[^\n]*)\n?", re.MULTILINE)
CAUGHT = '__import__("types").SimpleNamespace(stdout="", stderr="", outputs=[], show=lambda: None)'
MAX_READINGS = 5  # of one cell: once more after each line that left the tokeniser in doubt
MAX_LINES = 500  # of one cell that are replaced in one reading


@dataclass(frozen=True)
class Plain:
    """A cell as plain Python; the lines that were left out (from 1); the cell magic that was, or ""; `whole`: with all
    below it."""

    text: str
    lines: tuple[int, ...] = ()
    magic: str = ""
    whole: bool = False


def plain(source: str) -> Plain:
    """A cell as plain Python. Text that Python reads, or that IPython would not read either, stays as it is.

    >>> plain("%matplotlib inline\\nfiles = !ls").text
    'pass\\nfiles = []'
    """
    if not HINT.search(source) or _reads(source):
        return Plain(source)
    above, body, magic, after = "", source, "", ""
    while (found := CELL_MAGIC.match(body)) is not None:
        name, rest = found["name"], found["rest"].split()
        if name not in RUNNING:
            return Plain("", magic=name, whole=True)
        magic = magic or name
        above += "\n" * found[0].count("\n")
        body = body[found.end() :]
        if name == "capture" and rest and rest[-1].isidentifier():
            after += f"\n{rest[-1]} = {CAUGHT}"
    start = above.count("\n")
    lines: list[int] = []
    if not _reads(body):
        body, lines = _without_lines(body)
    return Plain(above + body + after, tuple(line + start for line in lines), magic)


def load() -> None:
    """Import what recognises magic lines, for a process that will be forked."""
    _reader()


def _reads(text: str) -> bool:
    try:
        tree(text)
    except UNREADABLE:
        return False
    return True


@lru_cache(maxsize=1)
def _reader() -> Any:
    from IPython.core import inputtransformer2

    return inputtransformer2


def _without_lines(text: str) -> tuple[str, list[int]]:
    """A text without IPython's own lines, and the numbers of those that are gone."""
    reader = _reader()
    lines = (text.removesuffix("\n") + "\n").splitlines(keepends=True)
    for tidy in (reader.leading_indent, reader.classic_prompt, reader.ipython_prompt):
        lines = tidy(lines)
    gone: set[int] = set()
    for _ in range(MAX_READINGS):
        if _replace(reader, lines, gone):
            break
    whole = "".join(lines)
    return (whole if text.endswith("\n") else whole.removesuffix("\n")), sorted(gone)


def _replace(reader: Any, lines: list[str], gone: set[int]) -> bool:
    """Put plain Python into the place of IPython's own lines, up to the first whose text might have misled the
    tokeniser about what follows (an open quote, say). Gives whether there was none, so that all is done."""
    try:
        groups = reader.make_tokens_by_line(lines)
    except UNREADABLE:
        return True
    blank = any("__future__" in line for line in lines)  # such an import must come first, before any `pass`
    replaced = 0
    for group in groups:
        found = _piece(reader, lines, group)
        if found is None:
            continue
        replaced += 1
        if replaced > MAX_LINES:
            return True
        piece, at, end, call = found
        before = lines[at][: piece.start_col]
        python, left_out = _python(call[len(before) :].strip())
        if isinstance(piece, reader.MagicAssign):
            python = python or "None"
        elif isinstance(piece, reader.SystemAssign):
            python = "[]"
        elif not python and (before or not blank):
            python = "pass"
        lines[at : end + 1] = [f"{before}{python}\n", *["\n"] * (min(end, len(lines) - 1) - at)]
        if left_out:
            gone.add(at + 1)
        if group[-1].start[0] - 1 != end or group[-1].type != tokenize.NEWLINE:
            return False
    return True


def _piece(reader: Any, lines: list[str], group: list[Any]) -> tuple[Any, int, int, str] | None:
    """IPython's own syntax in the tokens of one line: what it is, its first line and its last, what IPython makes of
    it."""
    kinds = (reader.MagicAssign, reader.SystemAssign, reader.EscapedCommand, reader.HelpEnd)
    found = [one for one in (kind.find([group]) for kind in kinds) if one is not None]
    for one in sorted(found, key=lambda one: one.sortby()):
        at = one.start_line
        end = one.q_line if isinstance(one, reader.HelpEnd) else reader.find_end_of_continued_line(lines, at)
        one.start_line = 0
        if isinstance(one, reader.HelpEnd):
            one.q_line -= at
        try:
            return one, at, end, "".join(one.transform(lines[at : end + 1]))
        except (SyntaxError, IndexError, AssertionError):
            continue
    return None


def _python(call: str) -> tuple[str, bool]:
    """What is Python in the call that IPython made of a line, and whether that leaves something out.

    >>> _python("get_ipython().run_line_magic('time', 'x = 1')"), _python("get_ipython().system('ls')")
    (('x = 1', False), ('', True))
    """
    if not call.startswith("get_ipython()."):
        return call, not call  # `/f x` and its like: a call of the student's own function
    prefix = "get_ipython().run_line_magic('time', "
    statement = ast.literal_eval(call[len(prefix) : -1]) if call.startswith(prefix) else ""
    return (str(statement), False) if statement and _reads(statement) else ("", True)
