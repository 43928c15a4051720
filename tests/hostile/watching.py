"""What must be the same after grading as before: files, shared folders, processes, the gradebook's other rows."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import pwd
import re
import signal
import site
import sqlite3
import stat
import sys
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import grading
from tests.hostile.world import World

PR_SET_CHILD_SUBREAPER = 36
SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/run")
TIMES = ("timestamp",)  # columns of the gradebook that say when
Row = tuple[tuple[str, Any], ...]


def files(world: World) -> dict[str, str]:
    """What every file is that grading does not make: the course's, the canary, the grader's own sources.

    A link counts as what it says, a pipe or a socket as what it is, and none is opened.
    """
    course = world.course
    made = (course.build, course.build.parent, course.feedback, course.database)
    found = {}
    for path in (*_below(course.root), world.canary, *_below(Path(grading.__file__).parent)):
        if any(path == place or place in path.parents for place in made) or path.name.startswith("gradebook.db"):
            continue
        if "__pycache__" not in path.parts:
            found[str(path)] = _state(path)
    return found


def _below(root: Path) -> Iterable[Path]:
    for folder, folders, names in os.walk(root):
        yield from (Path(folder) / name for name in (*folders, *names))


def _state(path: Path) -> str:
    try:
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            return f"file {hashlib.sha256(path.read_bytes()).hexdigest()}"
        if stat.S_ISLNK(mode):
            return f"link {os.readlink(path)}"
    except OSError as problem:
        return type(problem).__name__
    return f"kind {stat.S_IFMT(mode):o}"


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """What is new, gone or changed, by name."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def shared_names() -> set[str]:
    """Every name in the folders that all programs of this machine share, or from which Python starts."""
    home = Path.home()
    starts = (*filter(None, sys.path), *site.getsitepackages(), str(home), f"{home}/.ipython/profile_default/startup")
    names = set()
    for folder in {*SHARED, *starts, os.environ.get("TMPDIR", "/tmp")}:
        with contextlib.suppress(OSError):
            names |= {os.path.join(folder, name) for name in os.listdir(folder)}
    return names


def planted(before: set[str], after: set[str], texts: str) -> list[str]:
    """New names that a case speaks of, or that belong to nobody, or that lie in our own temporary folder.

    Other programs use the shared folders at the same time: theirs are neither.
    """
    return sorted(name for name in after - before if _ours(name) or _spoken(Path(name).name, texts))


def _ours(name: str) -> bool:
    """Whether a new name lies in our own temporary folder, or belongs to a user who has no account."""
    if os.path.dirname(name) == os.environ.get("TMPDIR"):
        return True
    try:
        return pwd.getpwuid(os.lstat(name).st_uid).pw_name == "nobody"
    except KeyError:
        return True
    except OSError:
        return False


def _spoken(name: str, texts: str) -> bool:
    plain = re.sub(r"\d+", "", name).strip("-_. ")
    return len(plain) > 3 and plain in texts and name != "__pycache__"


def adopt() -> None:
    """Have every orphan among our descendants become our child, so that none escapes `descendants`."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(but: Collection[tuple[int, str]] = ()) -> dict[tuple[int, str], str]:
    """The living processes below this one, as (number, time of its start) -> name."""
    parents: dict[int, tuple[int, str, str, str]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                head, _, tail = Path(f"/proc/{entry}/stat").read_text(errors="replace").rpartition(")")
                fields = tail.split()
                parents[int(entry)] = (int(fields[1]), fields[19], fields[0], head.partition("(")[2])
    found = {}
    for process, (_, start, state, name) in parents.items():
        above = process
        while above in parents and above != os.getpid():
            above = parents[above][0]
        if above == os.getpid() != process and state not in "ZX" and (process, start) not in but:
            found[process, start] = name
    return found


def left_over(but: Collection[tuple[int, str]], patience: float = 3.0) -> list[str]:
    """Processes that grading has left, after a moment to end in; they are ended here."""
    end = time.monotonic() + patience
    while (left := descendants(but)) and time.monotonic() < end:
        time.sleep(0.05)
    for process, _ in left:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    return [f"{name} ({process})" for (process, _), name in left.items()]


def rows(database: Path, without: Collection[str] = ()) -> dict[str, list[Row]]:
    """Every table of the gradebook, times aside, without what belongs to these students; none before there is one."""
    if not database.exists():
        return {}
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as book:
        book.row_factory = sqlite3.Row
        tables = [row["name"] for row in book.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if not tables:
            return {}
        others = [row["sql"] for row in book.execute("SELECT sql FROM sqlite_master WHERE type != 'table'")]
        data = {table: [dict(row) for row in book.execute(f'SELECT * FROM "{table}"')] for table in tables}
    own = set(without)
    for table, key in (("submitted_assignment", "student_id"), ("submitted_notebook", "assignment_id")):
        own |= {row["id"] for row in data.get(table, ()) if row[key] in own}
    kept = {}
    for table, found in data.items():
        mine = [row for row in found if not own & {row.get("id"), row.get("student_id"), row.get("notebook_id")}]
        mine = [row for row in mine if row.get("assignment_id") not in own]
        kept[table] = sorted((tuple((k, v) for k, v in row.items() if k not in TIMES) for row in mine), key=repr)
    kept["triggers, views and indexes"] = sorted(((("sql", sql),) for sql in others), key=repr)
    return kept


def flagged(database: Path, student: str) -> bool:
    """Whether a mark that a person gave a student is there to be looked at again."""
    query = """
        SELECT min(grade.needs_manual_grade) FROM grade
        JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
        JOIN submitted_assignment AS mine ON mine.id = submitted_notebook.assignment_id
        WHERE mine.student_id = ? AND grade.manual_score IS NOT NULL"""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as book:
        return bool(book.execute(query, (student,)).fetchone()[0])


def score(database: Path, student: str, exercise: str) -> float | None:
    """What the gradebook says: a person's mark where there is one, else the machine's; None without an entry."""
    query = """
        SELECT sum(coalesce(grade.manual_score, grade.auto_score, 0) + coalesce(grade.extra_credit, 0)) AS score
        FROM submitted_assignment AS mine
        JOIN assignment ON assignment.id = mine.assignment_id
        JOIN submitted_notebook ON submitted_notebook.assignment_id = mine.id
        JOIN grade ON grade.notebook_id = submitted_notebook.id
        WHERE mine.student_id = ? AND assignment.name = ?"""
    if not database.exists():
        return None
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as book:
        found: float | None = book.execute(query, (student, exercise)).fetchone()[0]
    return found
