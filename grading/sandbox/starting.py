"""Starts a zygote inside its outer layer, and ends one."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from grading.running.plan import Level, Limits
from grading.sandbox import bubblewrap, control, layout, watch
from grading.sandbox.levels import SandboxError
from grading.sandbox.places import INSIDE

START_SECONDS = 60.0
END_SECONDS = 20.0
BOOT = "import sys; sys.path.insert(0, {0!r}); from grading.sandbox.inside import start; start({1}, {0!r})"
FIRST_USER = 1_000_000_000  # no account has such a number, so no other program runs as this user
USERS = 1 << 22


@dataclass(frozen=True)
class Wanted:
    """What sort of zygote: `preload` are names of modules, `nest` asks for an inner layer of namespaces."""

    level: Level
    preload: tuple[str, ...]
    limits: Limits
    nest: bool = True


@dataclass(frozen=True)
class Zygote:
    """A zygote that serves: its process (or that of `bwrap` before it), our end of its socket, whether each of its
    students has namespaces of its own, the user that it changed to."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    nested: bool
    user: int | None

    def end(self) -> None:
        """End it and everything in it."""
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_RDWR)  # for all who hold a copy
        self.control.close()
        end(self.process)


def start(wanted: Wanted) -> Zygote:
    """Start a zygote. Raises `OSError` or `SandboxError` where its level cannot be had."""
    bwrap = bubblewrap.find()
    if wanted.level == "bubblewrap" and bwrap is None:
        raise SandboxError("bwrap is not installed")
    user = FIRST_USER + os.getpid() % USERS if os.geteuid() == 0 and wanted.level != "none" else None
    shown = layout.visible(wanted.preload)
    ours, theirs = control.pair()
    ours.settimeout(START_SECONDS)
    with tempfile.TemporaryDirectory(prefix="grader-") as folder, theirs, tempfile.TemporaryFile() as errors:
        layout.copy_modules(Path(folder))
        outer, modules = [], folder
        if wanted.level == "bubblewrap":
            outer = bubblewrap.command(str(bwrap), shown, folder, wanted.limits.disk, user is not None)
            modules = INSIDE
        process = subprocess.Popen(
            [*outer, sys.executable, "-s", "-P", "-X", "utf8", "-c", BOOT.format(modules, theirs.fileno())],
            env=layout.environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        told = {
            **asdict(wanted),
            "user": user,
            "shown": shown,
            "covered": layout.hidden(shown),
            "modules": folder,
        }
        try:
            control.send(ours, told)
            reply, _ = control.receive(ours)
        except OSError:
            reply = None
        except BaseException:
            ours.close()
            end(process)
            raise
        if reply is None or "ready" not in reply:
            ours.close()
            end(process)
            errors.seek(0)
            lines = errors.read().decode("utf-8", "replace").strip().splitlines()
            raise SandboxError(lines[-1] if lines else "the zygote did not start")
    return Zygote(process, ours, bool(reply["nested"]), user)


def end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process whose socket is closed, and for one that does not end by itself see to it."""
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        for pid in (*watch.descendants(process.pid), process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
