"""What is raised when a student's process cannot go on, and the words for it."""

from __future__ import annotations

import signal
from typing import Any, Literal

from grading.running.caps import TooMuchError

ENDED = "the Python process ended"
TOO_MUCH = "the answer gave back more data than a test can take"
UNASKED = "The grader received an answer that it had not asked for; a person will look at this."
LIMITS = {"memory": "it used more memory than it may", "disk": "it wrote more to its files than it may"}
Stop = Literal["timeout", "crash", "suspicious"]


class StudentStopped(BaseException):
    """The student's process hung, died, or spoke out of turn; no test can swallow it with `except Exception`."""

    def __init__(self, status: Stop, text: str) -> None:
        super().__init__(text)
        self.status: Stop = status
        self.text = text


def how_it_ended(code: int) -> str:
    """Words for an exit status: 3 -> "it ended the Python process (exit status 3)"."""
    if code < 0:
        names = {int(known): known.name for known in signal.Signals}
        return f"the Python process was ended by signal {-code} ({names.get(-code, 'unnamed')})"
    return f"it ended the Python process (exit status {code})"


def end_of_fork(answer: dict[str, Any]) -> str:
    """How a fork says that it ended: {"ended": 3} -> "it ended the Python process (exit status 3)"."""
    code = answer["ended"]
    return how_it_ended(code) if type(code) is int and abs(code) < 256 else ENDED


def named(stop: StudentStopped, why: str) -> StudentStopped:
    """A crash by the name of the limit that caused it."""
    return StudentStopped("crash", LIMITS[why]) if stop.status == "crash" and why in LIMITS else stop


def no_data(problem: Exception) -> StudentStopped:
    """What to make of an answer that no stand-in and no value can be made of."""
    if isinstance(problem, TooMuchError | MemoryError):
        return StudentStopped("crash", TOO_MUCH)
    return StudentStopped("crash", f"the answer sent no data ({type(problem).__name__})")
