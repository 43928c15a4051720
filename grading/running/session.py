"""The student's process as the judge sees it: spawned, given cells, asked, and ended.

`Session` has the process run the cells, and has it killed, with all that it started, when a time budget is used up or
when something in it speaks out of turn. Where the process comes from and what it is locked up in is `Students`'
business (`grading.sandbox.Sandbox`, or the runner in its place).
"""

from __future__ import annotations

import socket
import time
from collections.abc import Collection, Hashable, Sequence
from typing import Any, Protocol

from grading.running.channel import Channel
from grading.running.clock import Clock
from grading.running.codec import Heap
from grading.running.descriptions import exception_from
from grading.running.plan import Limits
from grading.running.standins import Class, Function, Handle, stand_in
from grading.running.stops import ENDED, StudentStopped, end_of_fork, named, no_data

END_SECONDS = 10
RESTARTS = 3


class Student(Protocol):
    """A process that is ready to serve: our end of its socket, and its number as the system knows it here."""

    @property
    def connection(self) -> socket.socket:
        """Where it is asked."""

    @property
    def process(self) -> int:
        """What its processor time is read from."""


class Students(Protocol):
    """Where processes come from. `why`: "memory" or "disk" where the last one had used too much of that, else ""."""

    why: str

    def spawn(self, files: Sequence[str]) -> Any:
        """A fresh `Student` with copies of these files in its folder."""

    def kill(self, student: Any) -> None:
        """End it and all that it started."""


class Session:
    """A student's process with its cells run. Raises `StudentStopped` when it hangs or dies, and can start afresh."""

    def __init__(
        self,
        students: Students,
        limits: Limits,
        files: Sequence[str] = (),
        names: Collection[str] = (),
        clock: Clock | None = None,
    ) -> None:
        """`names`: what the exercise asks for; a class among them speaks for its instances (`standins`). `clock`: the
        time that is left, where some of it has been used."""
        self.students, self.limits, self.files, self.names = students, limits, tuple(files), frozenset(names)
        self.clock = clock or Clock(limits)
        self.lost: dict[str, StudentStopped] = {}
        self.ran: list[tuple[str, str]] = []
        self.student: Student | None = None
        self.stopped: StudentStopped | None = None
        self.question: Hashable = None  # of the test at hand
        self.waiting: Hashable = None  # the question of a fork that is left to serve the next test
        self._new_heap()

    def run_cell(self, name: str, source: str) -> dict[str, Any]:
        """Run a cell in the student's process; gives what that reports (`worker.Worker.run_cell`).

        A cell that hangs or kills the process is noted in `lost` and left out, and the rest is run again.
        """
        try:
            self.clock.check()
            self._leave()
            self._start()
            self._begin()
            answer = self._exchange({"op": "cell", "id": name, "source": source})
            if "done" not in answer:
                raise StudentStopped("crash", "the cell ended the Python process")
        except StudentStopped as stop:
            self.lost[name] = named(stop, self.close())
            return {"error": None, "printed": ""}
        self.ran.append((name, source))
        return answer

    def begin_test(self, names: list[str], numpy: bool = False, question: Hashable = None) -> dict[str, Any]:
        """Have a fork of the student's process serve a test; gives the values or stand-ins of `names` that are defined.

        `numpy`: the test may send arrays; `question`: the fork that served the test before serves this one too, where
        that was told that `more` is to come and was of the same.
        """
        self.stopped, self.question = None, question
        self._new_heap()
        try:
            self.clock.check()
            goes_on = question is not None and question == self.waiting
            if not goes_on:
                self._leave()
            self.waiting = None
            for _ in range(RESTARTS):  # a cell that ran once may still end the process when it is run again
                self._start()
            self._begin(test=True)
            wanted = {"names": names, "numpy": numpy}
            answer = self._exchange({"op": "again" if goes_on else "test", **wanted})
            if goes_on and "ended" in answer:  # that fork has died since; whoever reads that request now lets it pass
                answer = self._exchange({"op": "test", **wanted})
            if "ended" in answer:
                raise StudentStopped("crash", end_of_fork(answer))
            self.heap.apply(answer["objects"])
            found = {str(name): self.heap.unpack(wire) for name, wire in answer["names"].items() if name in names}
        except StudentStopped as stop:
            raise self._stop(stop) from None
        except Exception as problem:
            raise self._stop(no_data(problem)) from None
        for name in self.names & found.keys():
            if isinstance(found[name], Class | Function):
                found[name].asked_for()
        return found

    def end_test(self, more: bool = False) -> None:
        """End a test. `stopped` says so when the process did not live to see it. `more`: nothing but another test of
        the same question is to follow, so its fork is left."""
        if self.stopped is not None:
            return
        try:
            if more and self.question is not None:
                self.waiting = self.question
            else:
                self.clock.allow(END_SECONDS)
                if "ended" not in self._exchange({"op": "end"}):
                    raise StudentStopped("crash", "the Python process did not end its test")
            self.channel.check_quiet()
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
            if "ended" in answer:  # the fork that served this test is gone, and the process it came from is ready
                self.stopped = StudentStopped("crash", end_of_fork(answer))
                raise self.stopped
        except StudentStopped as stop:
            raise (stop if stop is self.stopped else self._stop(stop)) from None
        try:
            self.heap.apply(answer["objects"])
            if "raised" not in answer:
                return self.heap.unpack(answer["value"])
            error, problem = answer["raised"], exception_from(answer["raised"])
        except Exception as broken:
            raise self._stop(no_data(broken)) from None
        if isinstance(problem, StudentStopped):
            self.end_test()
            self.stopped = self.stopped or problem
        else:
            problem.__dict__["student_error"] = error
        raise problem

    def close(self) -> str:
        """End the process; gives what it had used too much of, if that ended it before us."""
        self.waiting = None
        if self.student is None:
            return ""
        student, self.student = self.student, None
        self.channel.close()
        self.students.kill(student)
        return self.students.why

    def _new_heap(self) -> None:
        self.heap = Heap(
            0,
            remote=lambda about: stand_in(self, about),
            describe=lambda value: {"kind": "far", "name": type(value).__name__},
        )

    def _stop(self, stop: StudentStopped) -> StudentStopped:
        """Remember why the test cannot go on, and end the process."""
        self.stopped = named(stop, self.close())
        return self.stopped

    def _leave(self) -> None:
        """End a fork that was left to serve another test. Where it does not end as it should, all of it goes."""
        if self.waiting is None:
            return
        self.waiting = None
        self.clock.allow(END_SECONDS)
        try:
            if "ended" not in self._exchange({"op": "end"}):
                self.close()
            elif self.student is not None:
                self.channel.check_quiet()
        except StudentStopped:
            self.close()

    def _start(self) -> None:
        """Start the process where there is none, and run again what ran in the one before."""
        if self.student is not None:
            return
        began = time.monotonic()
        student: Student = self.students.spawn(self.files)
        self.student = student
        self.channel = Channel(student.connection, self.clock, student.process, self.limits.message)
        self.clock.give_back(time.monotonic() - began)
        again, self.ran = self.ran, []
        for name, source in again:
            self.run_cell(name, source)

    def _begin(self, test: bool = False) -> None:
        if self.student is not None:
            self.clock.begin(self.student.process, test)

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        if self.student is None:
            raise StudentStopped("crash", ENDED)
        return self.channel.exchange(message)
