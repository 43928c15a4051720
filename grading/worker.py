"""The student's process: runs the cells of one submission, then serves calls to what they defined.

Started by `proxy.Session` in an empty environment, in a temporary folder, without input, with limits on memory and
file size. It knows no test and no verdict: it reads "run this cell", "begin a test", "call this" from one socket and
answers with plain data (`codec`). Each test is served by a fork, so no test sees what another did to the student's
globals and a fork that dies costs its own test only. Nothing that runs here is trusted: whatever the student's code
writes into the socket is at most a wrong answer. What it prints is kept up to a limit and otherwise dropped.

Left out: a sandbox. The process can read files and open sockets as the user who grades.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from grading.codec import Heap

MAX_FRAME = 64 << 20
MAX_PRINTED = 8_000
SPECIAL: dict[str, Callable[[Any], Any]] = {
    "len": len,
    "iter": iter,
    "next": next,
    "bool": bool,
    "str": str,
    "repr": repr,
    "dir": dir,
}


class Printed:
    """A text stream that keeps the first characters and drops the rest, so that endless printing costs nothing."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        room = MAX_PRINTED - len(self.text)
        if room > 0:
            self.text += text[:room]
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return 1


class Far:
    """Something that belongs to the test, as the student's code sees it: it has an identity and nothing else."""


class Wire:
    """Frames over a file descriptor: four bytes of length, then JSON. Unbuffered, because forks share the
    descriptor."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def read(self) -> dict[str, Any]:
        data = self._some()  # nobody sends a second message before the first is answered: none is cut in two here
        size = 4 + int.from_bytes(data[:4], "big") if len(data) >= 4 else 4
        while len(data) < size:
            data += self._some()
            size = 4 + int.from_bytes(data[:4], "big") if len(data) >= 4 else 4
        message: dict[str, Any] = json.loads(data[4:])
        return message

    def write(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        view = memoryview(len(data).to_bytes(4, "big") + data)
        while view:
            view = view[os.write(self.descriptor, view) :]

    def _some(self) -> bytes:
        part = os.read(self.descriptor, 1 << 16)
        if not part:
            os._exit(0)  # the judge has gone
        return part


class Worker:
    """Runs cells in one namespace and answers for it."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.module = types.ModuleType("__main__")
        self.module.__dict__["display"] = lambda *values, **_: print(*values)
        self.files: dict[str, tuple[str, list[str]]] = {}
        sys.modules["__main__"] = self.module  # dataclasses and pickle look their module up

    def serve(self) -> None:
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
        self.files[file] = (name, source.split("\n"))
        printed = Printed()
        sys.stdout = sys.stderr = printed
        error: dict[str, Any] | None = None
        try:
            exec(compile(plain_python(source), file, "exec", dont_inherit=True), self.module.__dict__)
        except BaseException as problem:
            error = self.report(problem)
        return {"done": True, "error": error, "printed": printed.text}

    def fork_test(self, message: dict[str, Any]) -> None:
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
        sys.stdout = sys.stderr = Printed()
        heap = Heap(1, lambda description: Far(), self.describe)
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
                answer = {"raised": self.report(problem)}
            try:
                answer["objects"] = heap.updates()
            except RecursionError as problem:
                answer = {"raised": self.report(problem), "objects": []}
            self.wire.write(answer)

    def perform(self, heap: Heap, message: dict[str, Any]) -> Any:
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

    def describe(self, value: Any) -> dict[str, Any]:
        """What a stand-in on the other side should know of a function, a class or an instance."""
        if isinstance(value, type):
            return {"kind": "class", "name": value.__name__}
        code = getattr(value, "__code__", None)
        if isinstance(code, types.CodeType):
            plain = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            defaults = len(getattr(value, "__defaults__", None) or ())
            return {
                "kind": "function",
                "name": value.__name__,
                "doc": value.__doc__ if isinstance(value.__doc__, str) else None,
                "parameters": list(plain),
                "positional": code.co_argcount,
                "defaults": defaults,
                "keyword_defaults": list(getattr(value, "__kwdefaults__", None) or ()),
            }
        if isinstance(value, types.ModuleType):
            return {"kind": "module", "name": value.__name__}
        kind = type(value)
        methods = [name for name in dir(kind) if not name.startswith("__") and callable(getattr(kind, name, None))]
        about = {"kind": "function" if callable(value) else "object", "name": kind.__name__}
        return {**about, "methods": methods[:200]}

    def report(self, problem: BaseException) -> dict[str, Any]:
        """An exception as data: its type, the nearest built-in type, its text and the student's own lines."""
        family = [kind.__name__ for kind in type(problem).__mro__ if getattr(builtins, kind.__name__, None) is kind]
        try:
            text = str(problem)[:1000]
        except BaseException:
            text = ""
        lines = []
        step = problem.__traceback__
        while step is not None:
            file = step.tb_frame.f_code.co_filename
            if file in self.files:
                lines.append(self._line(file, step.tb_lineno, step.tb_frame.f_code.co_name))
            step = step.tb_next
        if isinstance(problem, SyntaxError) and problem.filename in self.files:
            lines.append(self._line(problem.filename, problem.lineno or 1, "<module>"))
            text = problem.msg
        if len(lines) > 6:  # a recursion: the first and the last are what one needs
            lines = lines[:3] + lines[-3:]
        simple = problem.args[0] if len(problem.args) == 1 and isinstance(problem.args[0], str) else text
        return {
            "type": type(problem).__name__,
            "family": family,
            "text": text,
            "argument": simple[:1000],
            "lines": lines,
        }

    def _line(self, file: str, number: int, function: str) -> dict[str, Any]:
        cell, source = self.files[file]
        code = source[number - 1].strip() if 0 < number <= len(source) else ""
        return {"cell": cell, "line": number, "function": function, "code": code[:200]}


def plain_python(source: str) -> str:
    """A cell without the notebook's magic lines, which plain Python cannot read: "%time x" -> "pass"."""
    try:
        ast.parse(source)
    except SyntaxError:
        lines = source.split("\n")
        magic = [line.lstrip().startswith(("%", "!")) for line in lines]
        if any(magic):
            lines = [
                line[: len(line) - len(line.lstrip())] + "pass" if odd else line
                for line, odd in zip(lines, magic, strict=True)
            ]
            return "\n".join(lines)
    return source


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
