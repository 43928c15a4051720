"""The student's process: runs the cells of one submission, then serves calls to what they defined.

A fork of the zygote (`zygote.Zygote`) that has been locked up (`sandbox.entering`). It knows no test and no verdict: it
reads "run this cell", "begin a test", "call this" from one socket and answers with plain data (`codec`). Every request
has a number, `n`, and its answer repeats it; the end of a fork bears the number of the request that it was made for.
The tests of one question that follow each other are served by one fork: they share what the student's functions leave
behind, as they do in the notebook, and those of another question do not see it. A fork that dies costs the test it
died in; the next gets a new one. Nothing that runs here is trusted: whatever the student's code writes into the socket
is at most a wrong answer. What it prints is kept up to a limit and otherwise dropped.

Processes that a fork leaves behind are killed before its end is told, so none can answer for the next. Python's own
forks let go of the socket; one made round Python within a cell keeps it and can answer in place of this process, which
is no more than the cell could make this process say. The same work is to get the same mark, so numbers drawn without a
seed are the same each time.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import os
import signal
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

from grading.running.codec import Heap
from grading.running.notebook import Loop, Shell, display, no_input
from grading.running.pipes import Printed, Wire
from grading.running.reports import describe, report
from grading.syntax import plain_python

GENERATORS = ("random", "numpy.random")
SPECIAL: dict[str, Callable[[Any], Any]] = {
    "len": len,
    "iter": iter,
    "next": next,
    "bool": bool,
    "str": str,
    "repr": repr,
    "dir": dir,
}


class Far:
    """Something that belongs to the test, as the student's code sees it: it has an identity and nothing else."""


class Worker:
    """Runs cells in one namespace and answers for it."""

    def __init__(self, wire: Wire, by_itself: bool = False) -> None:
        """`by_itself`: the process namespace holds nobody but the student's processes."""
        self.wire, self.by_itself = wire, by_itself
        self.module = types.ModuleType("__main__")
        self.loop = Loop()
        self.file = ""
        self.shell = Shell(self.run_piece, self.module.__dict__)
        self.module.__dict__.update(display=display, get_ipython=lambda: self.shell)
        self.sources: dict[str, str] = {}  # the name of each cell, by the file name it is compiled with
        sys.modules["__main__"] = self.module  # dataclasses and pickle look their module up

    def serve(self) -> None:
        """Answer messages until the judge goes."""
        while True:
            message = self.wire.read()
            if message["op"] == "cell":
                self.wire.write({"n": message["n"], **self.run_cell(message["id"], message["source"])})
            elif message["op"] == "test":
                self.fork_test(message)

    def run_cell(self, name: str, source: str) -> dict[str, Any]:
        """Run one cell; the answer holds the error, if there was one, and what was printed."""
        self.file = f"<{name}>"
        self.sources[self.file] = name
        if "random" in source:
            load_random("numpy" in sys.modules or "numpy" in source)
        printed = Printed()
        sys.stdout = sys.stderr = printed
        error: dict[str, Any] | None = None
        try:
            self.loop.run(plain_python(source), self.file, self.module.__dict__)
        except BaseException as problem:
            error = report(problem, self.sources)
        return {"done": True, "error": error, "printed": printed.text}

    def run_piece(self, text: str, lines: int) -> None:
        """Run a part of the cell at hand, line numbers kept."""
        self.loop.run("\n" * lines + plain_python(text), self.file, self.module.__dict__)

    def fork_test(self, message: dict[str, Any]) -> None:
        """Serve a test, and those of its question that follow it, in a fork; say how that ended."""
        if message["numpy"] and "numpy" not in sys.modules:
            import numpy  # noqa: F401  # once, before the fork, and not once a test
        reap()
        alone = self.by_itself and not signal_others(0)
        drawn = state_of_random()
        self.wire.passed_on = True
        child = os.fork()
        self.wire.passed_on = False
        if child == 0:
            try:
                os.setpgid(0, 0)
                if drawn is not None:
                    sys.modules["random"].setstate(drawn)  # Python starts it anew in every fork
                following: dict[str, Any] | None = message
                while following is not None:
                    following = self.serve_test(following)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        if alone:
            if signal_others(signal.SIGKILL):
                reap(wait=True)
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child, signal.SIGKILL)
        self.wire.write({"n": message["n"], "ended": os.waitstatus_to_exitcode(status)})

    def serve_test(self, begin: dict[str, Any]) -> dict[str, Any] | None:
        """The fork: tell what is defined, then perform operations until the test ends. Gives the next test to serve."""
        sys.stdout = sys.stderr = Printed()
        heap = Heap(1, lambda description: Far(), describe)
        space = self.module.__dict__
        found = {name: heap.pack(space[name]) for name in begin["names"] if name in space}
        self.wire.write({"n": begin["n"], "names": found, "objects": heap.updates()})
        while True:
            message = self.wire.read()
            if message["op"] == "end":
                return None
            if message["op"] == "again":
                return message
            for number in message["drop"]:
                heap.forget(number)
            heap.apply(message["objects"])
            answer: dict[str, Any]
            try:
                answer = {"value": heap.pack(self.perform(heap, message))}
            except BaseException as problem:
                answer = {"raised": report(problem, self.sources)}
            try:
                answer["objects"] = heap.updates()
            except (RecursionError, MemoryError, ValueError) as problem:  # what it holds is too deep, or too much
                answer = {"raised": report(problem, self.sources), "objects": []}
            try:
                self.wire.write({"n": message["n"], **answer})
            except (RecursionError, MemoryError, ValueError) as problem:  # before a byte of it has gone
                self.wire.write({"n": message["n"], "raised": report(problem, self.sources), "objects": []})

    def perform(self, heap: Heap, message: dict[str, Any]) -> Any:
        """One operation of a test on something that the student's code defined or gave back."""
        target = heap.unpack(message["target"])
        args = [heap.unpack(item) for item in message["args"]]
        kwargs = {key: heap.unpack(item) for key, item in message["kwargs"].items()}
        match message["op"]:
            case "call":
                return target(*args, **kwargs)
            case "method":
                return getattr(target, args[0])(*args[1:], **kwargs)
            case "getattr":
                return getattr(target, args[0])
            case "setattr":
                return setattr(target, args[0], args[1])
            case "getitem":
                return target[args[0]]
            case "setitem":
                target[args[0]] = args[1]
                return None
            case "contains":
                return args[0] in target
            case "isinstance":
                return isinstance(args[0], target)
            case special:
                return SPECIAL[special](target)


def signal_others(number: int) -> bool:
    """Signal all other processes of this namespace but its first, at one blow; whether there was one."""
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        return False
    return True


def reap(wait: bool = False) -> None:
    """Take the ends of children and, in a namespace of our own, of orphans; `wait` for all of them."""
    try:
        while os.waitpid(-1, 0 if wait else os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return


def state_of_random() -> Any:
    """Where the generator of `random` stands; None where it is not loaded, or no longer itself."""
    if "random" not in sys.modules:
        return None
    try:
        return sys.modules["random"].getstate()
    except Exception:
        return None


def seed(names: Iterable[str] = GENERATORS) -> None:
    """Start the generators that need no seed, of those that are loaded, at the same place each time."""
    for name in names:
        if name in sys.modules:
            sys.modules[name].seed(0)


def load_random(numpy: bool) -> None:
    """Load the generators that a cell may use, and start them. Where they are loaded for nothing, forks are dearer."""
    for name in GENERATORS if numpy else GENERATORS[:1]:
        if name not in sys.modules:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
                seed((name,))


def work(connection: int, by_itself: bool) -> None:
    """Be the worker at the other end of a socket."""
    sys.argv = ["submission"]
    builtins.input = no_input
    seed()
    wire = Wire(connection)
    os.register_at_fork(after_in_child=wire.let_go)
    Worker(wire, by_itself).serve()
