"""The judge's view of a student's code: stand-ins that look like the student's functions and classes, and call across.

`Session` starts the student's process, has it run the cells, and kills it (the whole process group, and whatever it
left behind) when a time budget is used up. It is the one module that knows that the code runs in another process, so a
sandbox is a change here: `Limits.prefix` goes before the command line.

A stand-in compares by identity, so an object that claims to equal everything arrives as one that equals nothing.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import functools
import inspect
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grading.codec import Heap

ROOT = str(Path(__file__).resolve().parent.parent)
START = "import sys; sys.path.insert(0, {root!r}); from grading.worker import main; del sys.path[0]; main()"
CLEAN = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"} | {
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
PR_SET_CHILD_SUBREAPER = 36
START_SECONDS = 60


@dataclass(frozen=True)
class Limits:
    """Budgets of one submission: wall seconds a cell or test, wall seconds in all, bytes of memory, of a file, of a
    message.

    Once a submission has used up a test's time, each further test gets a quarter of it: an endless loop is asked often.
    Starting Python is not counted, and a process that waits for a busy machine gets up to four times as long.
    """

    test_seconds: float = 10.0
    total_seconds: float = 60.0
    memory: int = 4 << 30
    file_size: int = 64 << 20
    message: int = 64 << 20
    prefix: tuple[str, ...] = ()


class StudentStopped(BaseException):
    """The student's process hung or died; no test can swallow it with `except Exception`."""

    def __init__(self, status: Literal["timeout", "crash"], text: str) -> None:
        super().__init__(text)
        self.status: Literal["timeout", "crash"] = status
        self.text = text


class Handle:
    """Base of the stand-ins. Attributes are fetched from the student's object; dunder names are not."""

    _session: Session
    _about: dict[str, Any]

    def __init__(self, session: Session, about: dict[str, Any]) -> None:
        object.__setattr__(self, "_session", session)
        object.__setattr__(self, "_about", about)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if name in self._about.get("methods", ()):  # saves a round trip at every call of a method
            return functools.partial(self._session.ask, "method", self, name)
        return self._session.ask("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._session.ask("setattr", self, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._session.ask("call", self, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<{self._about['kind']} {self._about['name']} of the answer>"


class Function(Handle):
    """A function, or anything else that can be called."""

    def __init__(self, session: Session, about: dict[str, Any]) -> None:
        super().__init__(session, about)
        object.__setattr__(self, "__name__", about["name"])
        object.__setattr__(self, "__qualname__", about["name"])
        object.__setattr__(self, "__doc__", about.get("doc"))
        if "parameters" in about:
            with contextlib.suppress(ValueError):
                object.__setattr__(self, "__signature__", _signature(about))


class Class(Handle):
    """A class: calling it makes an instance over there; `isinstance` works."""

    def __init__(self, session: Session, about: dict[str, Any]) -> None:
        super().__init__(session, about)
        object.__setattr__(self, "__name__", about["name"])

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, Handle) and bool(self._session.ask("isinstance", self, instance))


class Instance(Handle):
    """An object that is no plain data: an instance of a student's class, a generator, a tensor."""

    def __len__(self) -> int:
        return int(self._session.ask("len", self))

    def __bool__(self) -> bool:
        return bool(self._session.ask("bool", self))

    def __getitem__(self, key: Any) -> Any:
        return self._session.ask("getitem", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._session.ask("setitem", self, key, value)

    def __contains__(self, item: Any) -> bool:
        return bool(self._session.ask("contains", self, item))

    def __iter__(self) -> Iterator[Any]:
        steps = self._session.ask("iter", self)
        while True:
            try:
                yield self._session.ask("next", steps)
            except StopIteration:
                return


def _signature(about: dict[str, Any]) -> inspect.Signature:
    positional, parameters = about["positional"], []
    for index, name in enumerate(about["parameters"]):
        early = index < positional
        optional = index >= positional - about["defaults"] if early else name in about["keyword_defaults"]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if early else inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, kind, default=... if optional else inspect.Parameter.empty))
    return inspect.Signature(parameters)


class Session:
    """A student's process with its cells run. Raises `StudentStopped` when it hangs or dies, and can start afresh."""

    def __init__(self, limits: Limits, files: tuple[str, ...] = (), reap: bool = False) -> None:
        """`reap`: this process has no other children, so orphans may be sent to it and every child ended by `close`."""
        self.limits, self.files, self.reap = limits, files, reap
        self.ends = time.monotonic() + limits.total_seconds
        self.deadline = self.ends
        self.seconds = self.asked = limits.test_seconds
        self.used = 0.0
        self.was_late = False
        self.lost: dict[str, tuple[str, str]] = {}
        self.ran: list[tuple[str, str]] = []
        self.process: subprocess.Popen[bytes] | None = None
        self.stopped: StudentStopped | None = None
        if reap:
            with contextlib.suppress(OSError, AttributeError):
                ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._heap()

    def run_cell(self, name: str, source: str) -> dict[str, Any]:
        """Run a cell in the student's process. A cell that hangs or kills it is left out, and the rest is run again."""
        try:
            self._start()
            self._budget()
            answer = self._exchange({"op": "cell", "id": name, "source": source})
            if "done" not in answer:
                raise StudentStopped("crash", "the cell ended the Python process")
        except StudentStopped as stop:
            self.close()
            self.lost[name] = (stop.status, stop.text)
            return {"error": None, "printed": "", "stopped": [stop.status, stop.text]}
        self.ran.append((name, source))
        return answer

    def begin_test(self, names: list[str]) -> dict[str, Any]:
        """Fork the student's process for one test; gives the values or stand-ins of `names` that are defined."""
        self.stopped = None
        self._heap()
        for _ in range(3):  # a cell that ran once may still end the process when it is run again
            self._start()
        self._budget(test=True)
        try:
            answer = self._exchange({"op": "test", "names": names, "numpy": "numpy" in sys.modules})
            self.heap.apply(answer["objects"])
            return {name: self.heap.unpack(wire) for name, wire in answer["names"].items()}
        except StudentStopped as stop:
            raise self._stop(stop) from None
        except Exception as problem:
            raise self._stop(StudentStopped("crash", f"the answer sent no data ({type(problem).__name__})")) from None

    def end_test(self) -> None:
        if self.stopped is None:
            try:
                self._send({"op": "end"})
                self._receive()
            except StudentStopped:
                self.close()

    def ask(self, op: str, target: Handle, *args: Any, **kwargs: Any) -> Any:
        """One operation on the student's side; its exceptions are raised here as the built-in type they descend
        from."""
        if self.stopped is not None:
            raise self.stopped
        dropped = self.heap.prune()
        message = {
            "op": op,
            "target": self.heap.pack(target),
            "args": [self.heap.pack(item) for item in args],
            "kwargs": {key: self.heap.pack(item) for key, item in kwargs.items()},
        }
        try:
            answer = self._exchange({**message, "objects": self.heap.updates(), "drop": dropped})
        except StudentStopped as stop:
            raise self._stop(stop) from None
        if "ended" in answer:  # the fork that served this test is gone, and the process it came from is ready
            self.stopped = StudentStopped("crash", _how_it_ended(answer["ended"]))
            raise self.stopped
        try:
            self.heap.apply(answer["objects"])
            if "raised" not in answer:
                return self.heap.unpack(answer["value"])
            error, problem = answer["raised"], _rebuild(answer["raised"])
        except Exception as broken:
            raise self._stop(StudentStopped("crash", f"the answer sent no data ({type(broken).__name__})")) from None
        if isinstance(problem, StudentStopped):
            self.end_test()
            self.stopped = problem
        else:
            problem.__dict__["student_error"] = error
        raise problem

    def close(self) -> None:
        """Kill the process group and, with `reap`, whatever has been reparented to us."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.socket.close()
        self.process = None
        for _ in range(100 if self.reap else 0):
            orphans = _children()
            for orphan in orphans:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(orphan, signal.SIGKILL)
                    os.waitpid(orphan, 0)
            if not orphans:
                break
        shutil.rmtree(self.folder, ignore_errors=True)

    def _heap(self) -> None:
        self.heap = Heap(0, self._stand_in, lambda value: {"kind": "far", "name": type(value).__name__})

    def _stand_in(self, about: dict[str, Any]) -> Handle:
        kinds: dict[str, type[Handle]] = {"function": Function, "class": Class}
        return kinds.get(about["kind"], Instance)(self, about)

    def _stop(self, stop: StudentStopped) -> StudentStopped:
        """Remember why the test cannot go on, and end the process."""
        self.stopped = stop
        self.close()
        return stop

    def _start(self) -> None:
        if self.process is not None:
            return
        ours, theirs = socket.socketpair()
        self.folder = tempfile.mkdtemp(prefix="answer-")
        for file in self.files:
            shutil.copy(file, self.folder)
        command = [*self.limits.prefix, sys.executable, "-s", "-P", "-X", "utf8", "-c", START.format(root=ROOT)]
        processor = int(self.limits.total_seconds * 2) + 10  # ends a loop whose judge has gone
        arguments = [theirs.fileno(), self.limits.memory, self.limits.file_size, processor]
        self.process = subprocess.Popen(
            [*command, *map(str, arguments)],
            env={**CLEAN, "HOME": self.folder, "TMPDIR": self.folder},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        self.socket = ours
        self.arrived = bytearray()
        began = time.monotonic()
        self.deadline = began + START_SECONDS
        self._receive()  # it is up
        self.ends += time.monotonic() - began
        again, self.ran = self.ran, []
        for name, source in again:
            self.run_cell(name, source)

    def _budget(self, test: bool = False) -> None:
        """Start the clock of a cell, or of a test."""
        quarter = test and self.was_late
        self.seconds = self.limits.test_seconds / 4 if quarter else self.limits.test_seconds
        self.asked, self.used = self.seconds, _processor_seconds(self.process)[0]
        self.deadline = min(self.ends, time.monotonic() + self.seconds)

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        self._send(message)
        return self._receive()

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        try:
            self.socket.settimeout(self._left())
            self.socket.sendall(len(data).to_bytes(4, "big") + data)
        except TimeoutError:
            raise self._late() from None
        except OSError:
            raise StudentStopped("crash", "the Python process ended") from None

    def _receive(self) -> dict[str, Any]:
        while len(self.arrived) < 4:
            self._more()
        size = 4 + int.from_bytes(self.arrived[:4], "big")
        if size > self.limits.message:
            raise StudentStopped("crash", "the answer gave back more data than a test can take")
        while len(self.arrived) < size:
            self._more()
        data = bytes(self.arrived[4:size])
        del self.arrived[:size]
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise StudentStopped("crash", "the answer wrote into the grader's channel")
        return message

    def _more(self) -> None:
        self.socket.settimeout(self._left())
        try:
            part = self.socket.recv(1 << 20)
        except TimeoutError:
            return  # `_left` knows whether there is more time
        except OSError:
            part = b""
        if not part:
            raise StudentStopped("crash", "the Python process ended")
        self.arrived += part

    def _left(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0 and self.asked < 4 * self.seconds and self.process is not None:
            used, runnable = _processor_seconds(self.process)
            if runnable and used - self.used < self.seconds / 2:  # it wants to run, and others keep it from it
                self.asked += self.seconds
                self.ends += self.seconds
                self.deadline = time.monotonic() + self.seconds
                left = self.seconds
        if left <= 0:
            raise self._late()
        return left

    def _late(self) -> StudentStopped:
        if self.ends <= time.monotonic():
            return StudentStopped("timeout", f"the {self.limits.total_seconds:g} seconds of all tests were used up")
        self.was_late = True
        return StudentStopped("timeout", f"it was still running after {self.asked:g} seconds")


def _processor_seconds(process: subprocess.Popen[bytes] | None) -> tuple[float, bool]:
    """Processor time of a process and its living children, and whether one of them wants to run."""
    total, runnable = 0.0, False
    todo = [] if process is None else [process.pid]
    while todo:
        pid = todo.pop()
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            runnable |= fields[0] in "RD"
            todo += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return total, runnable


def _rebuild(error: dict[str, Any]) -> BaseException:
    """The exception to raise here: the nearest built-in ancestor of the student's."""
    family = error["family"]
    if "SystemExit" in family or "KeyboardInterrupt" in family or "GeneratorExit" in family:
        return StudentStopped("crash", "it called exit()")
    for name in family:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            with contextlib.suppress(Exception):
                return kind(str(error["argument"]))
    return RuntimeError(str(error["argument"]))


def _how_it_ended(code: int) -> str:
    if code < 0:
        names = {int(known): known.name for known in signal.Signals}
        return f"the Python process was ended by signal {-code} ({names.get(-code, 'unnamed')})"
    return f"it ended the Python process (exit status {code})"


def _children() -> list[int]:
    """Process ids of our children, the reparented ones among them ([] where /proc does not say)."""
    try:
        return [int(part) for part in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []
