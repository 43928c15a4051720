"""The system calls of Linux that Python 3.11 has no function for, by ctypes: namespaces, mounts, capabilities, prctl.

Each raises `OSError` that names the call. Imported inside the sandbox, so nothing beyond the standard library is used.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import signal
from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID = 1, 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
SECCOMP_MODE_FILTER = 2

PR_GET_TID_ADDRESS = 40
CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID = 0x00200000, 0x01000000

SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SYS_CLONE = {"x86_64": 56, "aarch64": 220}
SYS_MOUNT_SETATTR = 442

libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *args: Any) -> int:
    """A function of the C library; -1 becomes an `OSError`."""
    result: int = getattr(libc, name)(*args)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def syscall(number: int, *args: Any) -> int:
    """A system call by its number; integers are passed as the machine's long ones."""
    return call(
        "syscall", ctypes.c_long(number), *(ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args)
    )


def prctl(option: int, *args: Any) -> int:
    """`prctl` with the arguments that are left out as zeros, which some options insist on."""
    full = [*args, 0, 0, 0, 0][:4]
    return call("prctl", option, *(ctypes.c_ulong(arg) if isinstance(arg, int) else arg for arg in full))


def unshare(flags: int) -> None:
    """Move this process (for process ids: its children) into new namespaces."""
    call("unshare", ctypes.c_int(flags))


def fork_into(flags: int) -> int:
    """`os.fork` with the child in new namespaces: it is the first process of a new process namespace.

    `unshare` and two forks would do the same, and a fork of a process with numpy costs more than all the rest. The
    interpreter is told as `os.fork` tells it; what C libraries do at a fork is left out, which is right as long as no
    other thread runs.
    """
    if platform.machine() not in SYS_CLONE:
        raise OSError(f"fork_into: the number of the call is not known for {platform.machine()}")
    held = ctypes.PyDLL(None, use_errno=True)  # the interpreter's lock stays held: this thread goes on in the child
    thread = ctypes.c_void_p()
    with contextlib.suppress(OSError):
        prctl(PR_GET_TID_ADDRESS, ctypes.byref(thread))  # where the C library keeps the thread's number
    if thread.value:
        flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID
    at = ctypes.c_ulong(thread.value or 0)
    none = ctypes.c_ulong(0)
    last = (none, at) if platform.machine() == "aarch64" else (at, none)
    number, flags_ = ctypes.c_long(SYS_CLONE[platform.machine()]), ctypes.c_ulong(flags | signal.SIGCHLD)
    ctypes.pythonapi.PyOS_BeforeFork()
    child: int = held.syscall(number, flags_, none, none, *last)
    if child == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    error = ctypes.get_errno()
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if child < 0:
        raise OSError(error, f"clone: {os.strerror(error)}")
    return child


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or bind a folder."""
    call(
        "mount",
        source.encode(),
        target.encode(),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        options.encode() or None,
    )


def make_read_only(target: str) -> None:
    """Make a mount, and all that is mounted below it, read-only."""
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0, 0, 0)
    syscall(SYS_MOUNT_SETATTR, AT_FDCWD, target.encode(), AT_RECURSIVE, attributes, ctypes.sizeof(attributes))


def pivot_root(folder: str) -> None:
    """Make a mount the root of this mount namespace, and let go of the old one."""
    os.chdir(folder)
    syscall(SYS_PIVOT_ROOT[platform.machine()], b".", b".")
    call("umount2", b".", MNT_DETACH)
    os.chdir("/")


def map_ids(inside: int, uid: int, gid: int) -> None:
    """In a fresh user namespace: the one user and the one group that exist there."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside} {uid} 1"),
        ("gid_map", f"{inside} {gid} 1"),
    ):
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


def drop_capabilities() -> None:
    """Give up every capability, for good: nothing that is executed later can bring one back."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    call("capset", header, (ctypes.c_uint32 * 6)())


def become(uid: int, gid: int) -> None:
    """Change from root to an ordinary user, groups included."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    prctl(PR_SET_DUMPABLE, 1)  # else /proc/self belongs to root, and a user namespace cannot be given its ids
