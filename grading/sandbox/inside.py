"""From the interpreter's first line to a zygote that serves: the outer layer, the user, the modules.

Nothing of the grader's is in this process's memory: it was started by exec, and its first message holds names and
numbers alone.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import socket
import sys
from typing import Any

from grading.running.plan import Limits
from grading.running.warming import warm_up
from grading.running.zygote import Zygote
from grading.sandbox import control, landlock, namespaces, seccomp, system
from grading.sandbox.entering import Cage
from grading.sandbox.places import INSIDE

# Nothing that brings `threading` along, or libraries that few need: what is loaded makes every fork dearer.
ALWAYS = ("ast", "json", "traceback", "typing", "dataclasses", "collections")
NOBODY = 65534


def start(descriptor: int, modules: str) -> None:
    """Set everything up as the grader's first message says, answer that it is done, and serve."""
    sys.path[:] = [path for path in sys.path if path not in (modules, INSIDE)]  # nobody else is to import from there
    channel = socket.socket(fileno=descriptor)
    channel.set_inheritable(False)
    told, _ = control.receive(channel)
    if told is None:
        return
    level = told["level"]
    if level == "namespaces":
        is_root = told["user"] is not None
        namespaces.enter_outer(told["shown"], told["covered"], told["modules"], told["limits"]["disk"], is_root)
    if told["user"] is not None:
        _become(told["user"])
    os.listdir(os.path.dirname(os.__file__))  # Python's own folder may be closed to all but root
    if level != "none":
        system.drop_capabilities()
    system.prctl(system.PR_SET_CHILD_SUBREAPER, 1)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    cage = _cage(told)
    _preload(told["preload"])
    if not cage.nested and level != "none":
        system.prctl(system.PR_SET_DUMPABLE, 0)  # a student's process could see us, and is the same user
    control.send(channel, {"ready": True, "nested": cage.nested})
    Zygote(channel, cage).serve()


def _cage(told: dict[str, Any]) -> Cage:
    """How students are locked up here. Raises `OSError` where the level cannot be had."""
    level = told["level"]
    strict = level == "landlock"
    code = seccomp.program(strict, signals=not strict or landlock.version() >= landlock.SIGNALS_SINCE)
    if strict and (landlock.version() == 0 or code is None):
        raise OSError("the kernel has no Landlock, or the filter of system calls does not know this machine")
    may_nest = level in ("bubblewrap", "namespaces") and told["nest"]
    return Cage(
        level=level,
        nested=may_nest and _can_nest(told["limits"]["disk"], told["shown"]),
        limits=Limits(**told["limits"]),
        readable=tuple(told["shown"]),
        filter=code,
        cramped=strict and told["user"] is None,
    )


def _preload(names: list[str]) -> None:
    """Import modules by name; one that cannot be imported is the student's cell's to report."""
    for name in (*ALWAYS, *names):
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    warm_up()
    gc.collect()
    gc.freeze()  # the collector of a fork then does not write to, and so copy, what all forks share


def _can_nest(disk: int, shown: list[str]) -> bool:
    """Whether a fork can make the inner layer here."""
    uid, gid = os.getuid(), os.getgid()
    try:
        child = system.fork_into(namespaces.INNER)
    except OSError:
        return False
    if child == 0:
        code = 1
        try:
            namespaces.enter_inner(uid, gid, disk, shown)
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _become(user: int) -> None:
    """Stop being root; where the wanted number is not ours to take, be nobody."""
    try:
        system.become(user, user)
    except OSError:
        system.become(NOBODY, NOBODY)
