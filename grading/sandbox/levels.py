"""The levels of locking up a student's process, from the best down, and which of them to try.

bubblewrap   the kept program `bwrap`: namespaces for files, processes, network and users
namespaces   the same by system calls, where `bwrap` is not installed
landlock     rules on files and a filter of system calls, where namespaces are not to be had
none         limits alone; only where the instructor allows it, and stamped on every result
"""

from __future__ import annotations

import os
import sys
from typing import get_args

from grading.running.plan import Level

FORCE = "GRADING_SANDBOX"  # the environment variable that asks for one level and no other
INSTALL = (
    "install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap; conda-forge: "
    "bubblewrap), or allow user namespaces, or use a Linux kernel with Landlock (5.13 or later)"
)


class SandboxError(ValueError):
    """There is no sandbox that would hold; the text says what to install."""


def to_try(level: Level | None, allow_unsandboxed: bool) -> tuple[Level, ...]:
    """The levels to try in turn: the one that is asked for, else all, the last one only where it is allowed.

    Raises `SandboxError` where none is to be had, on another system than Linux whatever is allowed.
    """
    if sys.platform != "linux":
        raise SandboxError(
            "students' code runs on Linux alone (or WSL, or a container); `nbgrader validate` runs anywhere"
        )
    asked = level or os.environ.get(FORCE) or None
    known: tuple[Level, ...] = get_args(Level)
    if asked is None:
        return known if allow_unsandboxed else tuple(each for each in known if each != "none")
    if asked not in known:
        raise ValueError(f"level: there is no {asked!r}; the levels are {', '.join(known)}")
    if asked == "none" and not allow_unsandboxed:
        raise SandboxError(
            f"running students' code without a sandbox has to be allowed (--allow-unsandboxed); {INSTALL}"
        )
    return tuple(each for each in known if each == asked)


def refuse(reasons: dict[Level, str]) -> SandboxError:
    """What to raise when no level works."""
    tried = "; ".join(f"{level}: {reason}" for level, reason in reasons.items())
    return SandboxError(f"no sandbox works on this machine ({tried}). To get one, {INSTALL}")
