"""The student's process as the judge sees it: started, given cells, asked, and ended.

`Session` has the process run the cells, and kills it (the whole process group, and whatever it left behind) when a time
budget is used up. It is the one module that knows how the process is started, so a sandbox is a change here.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from grading.running.channel import Channel, Clock, StudentStopped
from grading.running.codec import Heap
from grading.running.plan import Limits
from grading.running.processes import adopt_orphans, how_it_ended, kill_children
from grading.running.standins import Handle, exception_from, stand_in

ROOT = str(Path(__file__).resolve().parents[2])
START = "import sys; sys.path.insert(0, {root!r}); from grading.running.worker import main; del sys.path[0]; main()"
CLEAN = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
START_SECONDS = 60
END_SECONDS = 10
RESTARTS = 3


class Session:
    """A student's process with its cells run. Raises `StudentStopped` when it hangs or dies, and can start afresh."""

    def __init__(self, limits: Limits, files: tuple[str, ...] = (), reap: bool = False) -> None:
        """`reap`: this process has no other children, so orphans may be sent to it and every child ended by `close`."""
        self.limits, self.files, self.reap = limits, files, reap
        self.clock = Clock(limits)
        self.lost: dict[str, StudentStopped] = {}
        self.ran: list[tuple[str, str]] = []
        self.process: subprocess.Popen[bytes] | None = None
        self.stopped: StudentStopped | None = None
        if reap:
            adopt_orphans()
        self._new_heap()

    def run_cell(self, name: str, source: str) -> dict[str, Any]:
        """Run a cell in the student's process; gives what that reports (`worker.Worker.run_cell`).

        A cell that hangs or kills the process is noted in `lost` and left out, and the rest is run again.
        """
        try:
            self._start()
            self._begin()
            answer = self._exchange({"op": "cell", "id": name, "source": source})
            if "done" not in answer:
                raise StudentStopped("crash", "the cell ended the Python process")
        except StudentStopped as stop:
            self.close()
            self.lost[name] = stop
            return {"error": None, "printed": ""}
        self.ran.append((name, source))
        return answer

    def begin_test(self, names: list[str]) -> dict[str, Any]:
        """Fork the student's process for one test; gives the values or stand-ins of `names` that are defined."""
        self.stopped = None
        self._new_heap()
        for _ in range(RESTARTS):  # a cell that ran once may still end the process when it is run again
            self._start()
        self._begin(test=True)
        try:
            answer = self._exchange({"op": "test", "names": names, "numpy": "numpy" in sys.modules})
            self.heap.apply(answer["objects"])
            return {name: self.heap.unpack(wire) for name, wire in answer["names"].items()}
        except StudentStopped as stop:
            raise self._stop(stop) from None
        except Exception as problem:
            raise self._stop(StudentStopped("crash", f"the answer sent no data ({type(problem).__name__})")) from None

    def end_test(self) -> None:
        """End the fork of a test. `stopped` says so when the process did not live to see it."""
        if self.stopped is None:
            self.clock.allow(END_SECONDS)
            try:
                self._exchange({"op": "end"})
            except StudentStopped as stop:
                self._stop(stop)

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
            self.stopped = StudentStopped("crash", how_it_ended(int(answer["ended"])))
            raise self.stopped
        try:
            self.heap.apply(answer["objects"])
            if "raised" not in answer:
                return self.heap.unpack(answer["value"])
            error, problem = answer["raised"], exception_from(answer["raised"])
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
        self.channel.close()
        self.process = None
        if self.reap:
            kill_children()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _new_heap(self) -> None:
        self.heap = Heap(
            0,
            remote=lambda about: stand_in(self, about),
            describe=lambda value: {"kind": "far", "name": type(value).__name__},
        )

    def _stop(self, stop: StudentStopped) -> StudentStopped:
        """Remember why the test cannot go on, and end the process."""
        self.stopped = stop
        self.close()
        return stop

    def _start(self) -> None:
        """Start the process where there is none, and run again what ran in the one before."""
        if self.process is not None:
            return
        ours, theirs = socket.socketpair()
        self.folder = tempfile.mkdtemp(prefix="answer-")
        for file in self.files:
            shutil.copy(file, self.folder)
        command = [sys.executable, "-s", "-P", "-X", "utf8", "-c", START.format(root=ROOT)]
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
        self.channel = Channel(ours, self.clock, self.process.pid, self.limits.message)
        began = time.monotonic()
        self.clock.allow(START_SECONDS)
        self.channel.receive()  # it is up
        self.clock.give_back(time.monotonic() - began)
        again, self.ran = self.ran, []
        for name, source in again:
            self.run_cell(name, source)

    def _begin(self, test: bool = False) -> None:
        if self.process is not None:
            self.clock.begin(self.process.pid, test)

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        if self.process is None:
            raise StudentStopped("crash", "the Python process ended")
        return self.channel.exchange(message)
