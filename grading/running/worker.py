"""The student's process: runs the cells of one submission, then serves calls to what they defined.

Started by `session.Session` in an empty environment, in a temporary folder, without input, with limits on memory and
file size. It knows no test and no verdict: it reads "run this cell", "begin a test", "call this" from one socket and
answers with plain data (`codec`). Each test is served by a fork, so no test sees what another did to the student's
globals and a fork that dies costs its own test only. Nothing that runs here is trusted: whatever the student's code
writes into the socket is at most a wrong answer. What it prints is kept up to a limit and otherwise dropped.

Left out: a sandbox. The process can read files and open sockets as the user who grades.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from typing import Any

from grading.running.codec import Heap
from grading.running.pipes import Printed, Wire
from grading.running.reports import describe, report
from grading.syntax import plain_python

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

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.module = types.ModuleType("__main__")
        self.module.__dict__["display"] = lambda *values, **_: print(*values)
        self.sources: dict[str, str] = {}  # the name of each cell, by the file name it is compiled with
        sys.modules["__main__"] = self.module  # dataclasses and pickle look their module up

    def serve(self) -> None:
        """Answer messages until the judge goes."""
        self.wire.write({"ready": True})
        while True:
            message = self.wire.read()
            if message["op"] == "cell":
                self.wire.write(self.run_cell(message["id"], message["source"]))
            elif message["op"] == "test":
                self.fork_test(message)

    def run_cell(self, name: str, source: str) -> dict[str, Any]:
        """Run one cell; the answer holds the error, if there was one, and what was printed."""
        file = f"<{name}>"
        self.sources[file] = name
        printed = Printed()
        sys.stdout = sys.stderr = printed
        error: dict[str, Any] | None = None
        try:
            exec(compile(plain_python(source), file, "exec", dont_inherit=True), self.module.__dict__)
        except BaseException as problem:
            error = report(problem, self.sources)
        return {"done": True, "error": error, "printed": printed.text}

    def fork_test(self, message: dict[str, Any]) -> None:
        """Serve one test in a fork, and say how that ended."""
        if message["numpy"] and "numpy" not in sys.modules:
            import numpy  # noqa: F401  # once, before the fork, and not once a test
        child = os.fork()
        if child == 0:
            try:
                self.serve_test(message["names"])
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        self.wire.write({"ended": os.waitstatus_to_exitcode(status)})

    def serve_test(self, names: list[str]) -> None:
        """The fork: tell what is defined, then perform operations until the test ends."""
        sys.stdout = sys.stderr = Printed()
        heap = Heap(1, lambda description: Far(), describe)
        space = self.module.__dict__
        found = {name: heap.pack(space[name]) for name in names if name in space}
        self.wire.write({"names": found, "objects": heap.updates()})
        while True:
            message = self.wire.read()
            if message["op"] == "end":
                return
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
            except RecursionError as problem:
                answer = {"raised": report(problem, self.sources), "objects": []}
            self.wire.write(answer)

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


def limit(memory: int, file_size: int, processor: int) -> None:
    """Caps for this process and its children: bytes of memory, bytes a file, seconds of processor time."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    resource.setrlimit(resource.RLIMIT_CPU, (processor, processor))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """`worker.main()` with arguments: the socket's descriptor, bytes of memory, bytes a file, seconds."""
    descriptor, *limits = map(int, sys.argv[1:5])
    sys.argv = ["submission"]
    limit(*limits)
    Worker(Wire(descriptor)).serve()
