"""The time that a submission has: for the cell or test at hand, and in all."""

from __future__ import annotations

import time

from grading.running.plan import Limits
from grading.running.processes import processor_seconds
from grading.running.stops import StudentStopped

PATIENCE = 4  # a process that waits for a busy machine gets so many times its budget


class Clock:
    """The time that a submission has left: for the cell or test at hand, and in all."""

    def __init__(self, limits: Limits, total: float | None = None, was_late: bool = False) -> None:
        """`total`: seconds that are left of all, where some have been used; `was_late`: a test has used up its own."""
        self.limits = limits
        self.ends = time.monotonic() + (limits.total_seconds if total is None else total)
        self.deadline = self.ends
        self.seconds = self.granted = limits.test_seconds
        self.used = 0.0
        self.was_late = was_late

    @property
    def test_seconds(self) -> float:
        """The budget of the next test: a quarter once one was used up, for an endless loop is asked often."""
        return self.limits.test_seconds / 4 if self.was_late else self.limits.test_seconds

    def begin(self, process: int, test: bool = False) -> None:
        """Start the budget of a cell or of a test."""
        self.seconds = self.test_seconds if test else self.limits.cell_seconds
        self.granted = self.seconds
        self.used = processor_seconds(process)[0]
        self.deadline = min(self.ends, time.monotonic() + self.seconds)

    def allow(self, seconds: float) -> None:
        """Time for something that is not the student's doing: ending a test."""
        self.deadline = time.monotonic() + seconds

    def give_back(self, seconds: float) -> None:
        """Do not count time that went by."""
        self.ends += seconds

    def check(self) -> None:
        """Raise `StudentStopped` when there is no time left at all."""
        if self.ends <= time.monotonic():
            raise self.late()

    def left(self, process: int) -> float:
        """Seconds that are left to wait. Raises `StudentStopped` when there are none."""
        left = self.deadline - time.monotonic()
        if left <= 0 and self.granted < PATIENCE * self.seconds:
            used, runnable = processor_seconds(process)
            if runnable and used - self.used < self.seconds / 2:  # it wants to run, and others keep it from it
                self.granted += self.seconds
                self.ends += self.seconds
                self.deadline = time.monotonic() + self.seconds
                left = self.seconds
        if left <= 0:
            raise self.late()
        return left

    def late(self) -> StudentStopped:
        """What to raise when time is up."""
        if self.ends <= time.monotonic():
            return StudentStopped("timeout", f"the {self.limits.total_seconds:g} seconds of all tests were used up")
        self.was_late = True
        return StudentStopped("timeout", f"it was still running after {self.granted:g} seconds")
