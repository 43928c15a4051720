"""Namespaces by system call: the outer layer where `bwrap` is missing, and the inner layer of each submission.

The outer layer is made once, round the zygote: its own root with nothing in it but what `layout` shows, no network, its
own processes. The inner layer is made anew in each fork of the zygote: a user namespace without capabilities, processes
of its own (killing the first ends all), a private `/tmp` of bounded size, an empty `/proc`. The network namespace is
the outer layer's: a fresh one costs more than all the rest.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from grading.sandbox import system
from grading.sandbox.places import FOLDER, INSIDE

OUTER = system.CLONE_NEWNS | system.CLONE_NEWPID | system.CLONE_NEWNET | system.CLONE_NEWIPC | system.CLONE_NEWUTS
INNER = system.CLONE_NEWUSER | system.CLONE_NEWNS | system.CLONE_NEWPID | system.CLONE_NEWIPC
PRIVATE = system.MS_NOSUID | system.MS_NODEV
DEVICES = ("null", "zero", "full", "random", "urandom")
STUDENT = 65534  # the user's number inside
INODES = 20_000
"""Files and folders at once in the student's folder."""


def enter_outer(shown: Iterable[str], covered: Iterable[str], modules: str, disk: int, change_user: bool) -> None:
    """Go into the outer layer; returns in a child, the first process there. The parent waits and ends with it."""
    if change_user:
        system.unshare(OUTER)
    else:
        uid, gid = os.getuid(), os.getgid()
        system.unshare(OUTER | system.CLONE_NEWUSER)
        system.map_ids(uid, uid, gid)
    child = os.fork()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)
    system.mount("none", "/", flags=system.MS_REC | system.MS_PRIVATE)
    places = {INSIDE: modules, **{path: path for path in shown}, **{f"/dev/{name}": f"/dev/{name}" for name in DEVICES}}
    opened = {to: os.open(path, os.O_PATH | os.O_CLOEXEC) for to, path in places.items() if not _is_link(path)}
    root = "/tmp"  # what lies there is out of reach by its name from now on, hence the descriptors
    system.mount("tmpfs", root, "tmpfs", PRIVATE, "mode=0755,size=1m")
    for folder in ("proc", "tmp"):
        os.mkdir(f"{root}/{folder}")
    system.mount("tmpfs", f"{root}/tmp", "tmpfs", PRIVATE, f"mode=1777,size={disk}")
    for path in places:
        if path not in opened:
            os.symlink(os.readlink(path), root + path)
    for to, descriptor in opened.items():
        _bind(descriptor, root + to, read_only=not to.startswith("/dev/"))
        os.close(descriptor)
    for path in covered:
        system.mount("tmpfs", root + path, "tmpfs", PRIVATE | system.MS_RDONLY, "size=4k")
    os.makedirs(f"{root}/dev/shm")
    system.mount("proc", f"{root}/proc", "proc", PRIVATE | system.MS_NOEXEC)
    system.pivot_root(root)
    system.mount("none", "/", flags=system.MS_BIND | system.MS_REMOUNT | system.MS_RDONLY | PRIVATE)
    os.chdir("/tmp")


def enter_inner(uid: int, gid: int, disk: int, shown: Iterable[str]) -> None:
    """Furnish the inner layer from within, in a child of `system.fork_into(INNER)`; the numbers are the parent's.

    What is shown and lies below `/tmp`, as an environment that is only tried out may, is shown there again.
    """
    system.map_ids(STUDENT, uid, gid)
    system.mount("none", "/", flags=system.MS_REC | system.MS_PRIVATE)
    opened = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in shown if path.startswith("/tmp/")}
    system.mount("tmpfs", "/tmp", "tmpfs", PRIVATE, f"mode=0755,size={disk},nr_inodes={INODES}")
    for path, descriptor in opened.items():
        _bind(descriptor, path, read_only=False)  # it is already, and stays so
        os.close(descriptor)
    system.mount("tmpfs", "/dev/shm", "tmpfs", PRIVATE, f"mode=0755,size={max(disk // 4, 4096)},nr_inodes=1000")
    system.mount("tmpfs", "/proc", "tmpfs", PRIVATE | system.MS_RDONLY, "mode=0555,size=4k,nr_inodes=1")
    os.mkdir(FOLDER)


def _is_link(path: str) -> bool:
    """Whether a path is a link of the system's, such as /bin -> usr/bin, which stays one."""
    return os.path.islink(path) and path.count("/") == 1


def _bind(source: int, to: str, read_only: bool) -> None:
    """Show what a descriptor stands for at another place."""
    if stat.S_ISDIR(os.fstat(source).st_mode):
        os.makedirs(to, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(to), exist_ok=True)
        os.close(os.open(to, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    system.mount(f"/proc/self/fd/{source}", to, flags=system.MS_BIND | system.MS_REC)
    if read_only:
        system.make_read_only(to)
