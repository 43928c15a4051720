"""The outer layer by `bwrap`: the command that the zygote is started with.

Started by root, `bwrap` makes no user namespace, and the zygote changes to a user of its own before it imports
anything: a limit on processes does not bind root, whatever a user namespace calls it. Started by a user, the user
namespace is what makes the other namespaces possible.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from grading.sandbox.layout import hidden
from grading.sandbox.places import INSIDE


def find() -> str | None:
    """Where `bwrap` is, if it is installed."""
    return shutil.which("bwrap", path=os.environ.get("PATH", "") + ":/usr/bin:/usr/local/bin")


def command(bwrap: str, shown: Iterable[str], modules: str, disk: int, change_user: bool) -> list[str]:
    """`bwrap` and its arguments, up to the program to run; `modules` is the folder with the modules that run inside."""
    shown = tuple(shown)
    words = [bwrap, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if change_user:
        words += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        words += ["--unshare-user", "--cap-drop", "ALL"]
    words += ["--new-session", "--as-pid-1", "--hostname", "sandbox"]
    words += ["--perms", "1777", "--size", str(disk), "--tmpfs", "/tmp"]  # first: Python itself may stand below it
    words += [word for path in _above(shown) for word in ("--dir", path)]  # else their owner alone could enter them
    words += [word for path in shown for word in _show(path)]
    words += [word for path in hidden(shown) for word in ("--tmpfs", path, "--remount-ro", path)]
    words += ["--ro-bind", modules, INSIDE, "--proc", "/proc", "--dev", "/dev"]
    words += ["--perms", "1777", "--size", str(disk // 4 + 4096), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    return [*words, "--chdir", "/tmp", "--remount-ro", "/", "--"]


def _above(paths: Iterable[str]) -> list[str]:
    """The folders that some paths lie in: ["/a/b/c"] -> ["/a", "/a/b"]."""
    above = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    return sorted(above - {"/"})


def _show(path: str) -> Sequence[str]:
    """Arguments that show one path; a link of the system's (/bin -> usr/bin) stays a link."""
    if os.path.islink(path) and path.count("/") == 1:
        return ("--symlink", os.readlink(path), path)
    return ("--ro-bind", path, path)
