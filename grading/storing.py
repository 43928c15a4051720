"""Small files that a class of programs may write at once: names that are safe, replaced in one step, read with care."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path


def file_name(name: str) -> str:
    """A name as part of a path: itself where that is safe, else what is left of it and a hash, so that no two meet.

    >>> file_name("zoë o'hara"), file_name(".."), file_name("a/b")
    ("zoë o'hara", '__~5ec1f7e700f37c3d', 'a_b~c14cddc033f64b9d')
    """
    key = name.encode("utf-8", "surrogatepass")
    if 0 < len(key) <= 120 and name.isprintable() and not name.startswith(".") and not set(name) & set("/\\~"):
        return name
    left = re.sub(r"[^\w -]", "_", name)[:40]
    return f"{left}~{hashlib.sha256(key).hexdigest()[:16]}"


def whole(text: str) -> str:
    """A text that a file can hold: surrogates that make a pair become its character, as in JSON, and half a pair a
    mark that something is missing.

    >>> whole("\\ud83d\\ude00 \\udcff!")
    '😀 �!'
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def replace_file(path: Path, text: str) -> None:
    """Write a file in one step: whoever reads it sees the old text or the new one. Folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")
    with _own(draft) as descriptor, open(descriptor, "wb", closefd=False) as file:
        file.truncate()
        file.write(text.encode())
        file.flush()
        draft.replace(path)


def read_file(path: Path, most: int) -> str:
    """The text of a regular file of bounded size; whatever else lies there is not waited for.

    Raises `OSError` or `ValueError`.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > most:
            raise ValueError(f"{path}: is no regular file of at most {most} bytes")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(most).decode("utf-8")
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _own(draft: Path) -> Iterator[int]:
    """A draft opened by this process alone. What a killed process left of it is taken over, so nothing piles up."""
    while True:
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is(draft, descriptor):  # and was not moved into place by another process meanwhile
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _is(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
