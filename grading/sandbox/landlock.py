"""Landlock: rules on files that any process may lay upon itself, for machines where namespaces are not to be had.

Reading below Python and the system's libraries, writing below one folder, nothing else. Version 4 of the interface
refuses TCP, version 6 signals to, and abstract sockets of, processes outside. What Landlock has no word on (other
sockets, tracing, changing modes) is `seccomp`'s part.

Sources: Linux, Documentation/userspace-api/landlock.rst; include/uapi/linux/landlock.h.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections.abc import Iterable

from grading.sandbox import system

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION = 1
BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
ALL_OF_1 = (1 << 13) - 1
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
FILE_ONLY = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
NET_BIND_TCP, NET_CONNECT_TCP = 1, 2
SCOPE_ABSTRACT_UNIX, SCOPE_SIGNAL = 1, 2
READ_ONLY = EXECUTE | READ_FILE | READ_DIR
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SIGNALS_SINCE = 6


def version() -> int:
    """The version of the interface that the kernel has; 0 where there is none, or it is switched off."""
    try:
        return system.syscall(CREATE_RULESET, 0, 0, VERSION)
    except OSError:
        return 0


def handled(abi: int) -> int:
    """Every right on files that a version knows, for what is not known cannot be refused."""
    rights = ALL_OF_1
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        rights |= right if abi >= since else 0
    return rights


def restrict(readable: Iterable[str], folder: str) -> None:
    """Lay the rules on this process and all it will start. There is no way back. Raises `OSError` without Landlock."""
    abi = version()
    rights = handled(abi)
    net = NET_BIND_TCP | NET_CONNECT_TCP if abi >= 4 else 0
    scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL if abi >= SIGNALS_SINCE else 0
    attributes = struct.pack("QQQ", rights, net, scoped)
    size = 24 if abi >= SIGNALS_SINCE else 16 if abi >= 4 else 8
    ruleset = system.syscall(CREATE_RULESET, ctypes.c_char_p(attributes), size, 0)
    try:
        for path in readable:
            _allow(ruleset, path, READ_ONLY)
        for device in DEVICES:
            _allow(ruleset, device, READ_FILE | WRITE_FILE)
        _allow(ruleset, folder, rights & ~IOCTL_DEV)
        system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
        system.syscall(RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """One rule; what does not exist needs none."""
    with contextlib.suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not os.path.isdir(path):
                rights &= FILE_ONLY
            rule = struct.pack("=Qi", rights, descriptor)
            system.syscall(ADD_RULE, ruleset, BENEATH, ctypes.c_char_p(rule), 0)
        finally:
            os.close(descriptor)
