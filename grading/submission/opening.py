"""Opens what a student handed in: a regular file of reasonable size, reached by no symbolic link.

Below the folder of all submissions every step (student, assignment, file) is opened from the step above it and must be
no link, so that what is read lies where it seems to lie, whatever is moved meanwhile. Every problem is a sentence for
the student.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAX_BYTES = 20 << 20
MAX_SHOWN = 80
KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFREG: "a file",
}
Identity = tuple[int, int]  # (st_dev, st_ino): what the file is, under whichever name


class UnreadableError(ValueError):
    """What was handed in cannot be graded; the text says why, for the student."""


class AbsentError(UnreadableError):
    """There is nothing of that name."""


def read_bytes(path: Path, root: Path | None = None) -> bytes:
    """The content of a regular file of reasonable size. Raises `UnreadableError`."""
    return read_file(path, root)[0]


def read_file(path: Path, root: Path | None = None) -> tuple[bytes, Identity]:
    """The content of a regular file, and what file it is. No step below `root` may be a link; without a root, the file
    itself may not. Raises `UnreadableError`."""
    with open_folder(path.parent, root) as folder, _complaining(path.name, folder):
        found = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableError(f"The file is {kind_of(found.st_mode)}; hand in the notebook itself.")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path.name, flags, dir_fd=folder), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise UnreadableError("The file was replaced while it was read; hand in the notebook itself.")
            data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UnreadableError(f"The file is larger than {MAX_BYTES >> 20} MB; clear its outputs and hand it in again.")
    return data, (about.st_dev, about.st_ino)


@contextmanager
def open_folder(folder: Path, root: Path | None = None) -> Iterator[int]:
    """A descriptor of a folder; no step below `root` may be a link. Raises `UnreadableError`."""
    start = folder if root is None else root
    try:
        steps = folder.relative_to(start).parts
    except ValueError:
        steps = ("..",)
    if ".." in steps:
        raise UnreadableError("The file lies outside the folder of submissions.")
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    with _complaining(start.name, None):
        here = os.open(start, flags)
    try:
        for step in steps:
            with _complaining(step, here):
                below = os.open(step, flags | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)


@contextmanager
def _complaining(name: str, folder: int | None) -> Iterator[None]:
    """Turns what the system says about a name in a folder into a sentence."""
    try:
        yield
    except UnreadableError:
        raise
    except FileNotFoundError:
        raise AbsentError("There is no file here.") from None
    except NotADirectoryError:
        mode = stat.S_IFREG if folder is None else os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        raise UnreadableError(f"“{shown(name)}” is {kind_of(mode)} where a folder should be.") from None
    except OSError as problem:
        raise UnreadableError(f"“{shown(name)}” could not be read ({problem.strerror}).") from None
    except ValueError:  # a zero byte in the name
        raise UnreadableError("The file's name cannot be used.") from None


def kind_of(mode: int) -> str:
    """What a file is, in words: "a symbolic link", "a folder"."""
    return KINDS.get(stat.S_IFMT(mode), "no file")


def shown(name: str) -> str:
    """A file's name as a sentence can hold it: one line, no control signs, not too long.

    >>> shown("a\\nb")
    'a�b'
    """
    text = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in name)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
