"""What a cell finds round itself in a notebook: `get_ipython()`, `display`, `input`, a loop for `await`.

Enough for honest cells to run outside of one: magics that time or capture run what they are given, all others do
nothing. Nothing is displayed and nobody can be asked.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

RUN = ("time", "timeit", "capture", "prun", "snakeviz", "memit", "mprun", "lprun")
FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class Captured:
    """What `%%capture name` leaves under that name: nothing was kept."""

    stdout = stderr = ""
    outputs: tuple[Any, ...] = ()

    def show(self) -> None:
        """There is nothing to show."""

    __call__ = show


class Shell:
    """The object that `get_ipython()` gives."""

    def __init__(self, run: Callable[[str, int], None], space: dict[str, Any]) -> None:
        """`run(text, lines)` runs a piece of the cell at hand which begins that many lines below its first."""
        self.run, self.user_ns = run, space

    def run_line_magic(self, name: str, line: str, *_: Any, **__: Any) -> None:
        """`%time statement` runs the statement; others do nothing."""
        if name in RUN:
            self.run(_statement(line), 0)

    def run_cell_magic(self, name: str, line: str, cell: str, *_: Any, **__: Any) -> None:
        """`%%time`, `%%timeit` and `%%capture` run the cell; others do nothing."""
        if name not in RUN:
            return
        if name == "capture":
            target = next((word for word in line.split() if word.isidentifier()), None)
            if target:
                self.user_ns[target] = Captured()
        elif name == "timeit":
            self.run(_statement(line), 0)
        self.run(cell, 1)

    def getoutput(self, *_: Any, **__: Any) -> list[str]:
        """`!command` gives no lines: no command is run."""
        return []

    def system(self, *_: Any, **__: Any) -> None:
        """No command is run."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        """All else can be called, and does nothing."""
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


class Loop:
    """The event loop of `await` at the top of a cell; made when first needed, the same for all cells."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None

    def run(self, source: str | ast.Module, file: str, space: dict[str, Any]) -> None:
        """Run text in a namespace, as a notebook runs a cell."""
        code = compile(source, file, "exec", flags=FLAGS, dont_inherit=True)
        if code.co_flags & inspect.CO_COROUTINE:
            waiting = eval(code, space)  # the student's own code, in the student's own process
            import asyncio  # few cells wait, and what it brings along makes every fork dearer

            if self.loop is None:
                self.loop = asyncio.new_event_loop()
                asyncio.set_event_loop(self.loop)
            self.loop.run_until_complete(waiting)
        else:
            exec(code, space)


def no_input(prompt: object = "") -> str:
    """Instead of `input`: a sentence at once, where waiting would use up the time."""
    raise EOFError("input() has nobody to ask while a notebook is graded: write the value into the code")


def display(*values: Any, **_: Any) -> None:
    """Instead of the notebook's: print."""
    print(*values)


def _statement(line: str) -> str:
    """What a magic is to run, without its options: "-n 3 f(x)" -> "f(x)"."""
    words = line.split()
    while words and words[0].startswith("-"):
        takes = words[0] in ("-n", "-r", "-p", "-t", "-c", "-l", "-s", "-T", "-D")
        del words[: 2 if takes and len(words) > 1 and words[1].isdigit() else 1]
    return line[line.index(words[0]) :] if words else ""
