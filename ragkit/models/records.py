"""Records of recorded answers: the row, the key, and the TOML files that hold them.

Answers live in ``<folder>/<task>.toml``, or in every ``<folder>/<task>/*.toml`` of a task too big for one file. Who
answered is part of every record, so several answerers can answer one prompt and none is mistaken for another. The
format is on one page, ``ragkit/corpus/recordings/README.md``. Left out: the prompts themselves, which the code makes.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ragkit.models.shapes import check_prompt

ANSWERERS = ("hand", "135M", "hosted")
"""Who can have answered: the course's authors, the local model, a model behind an address."""

FOLDER = Path(__file__).resolve().parent.parent / "corpus" / "recordings"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """One answer to one prompt. ``item`` says which prompt of the task it was, such as a question's id."""

    task: str
    item: str
    key: str
    answerer: str
    author: str
    date: datetime.date
    response: str
    note: str = ""

    def __post_init__(self) -> None:
        check_task(self.task)
        if self.answerer not in ANSWERERS:
            raise ValueError(f"answerer must be one of {', '.join(ANSWERERS)}, got {self.answerer!r}")
        if not isinstance(self.key, str) or not re.fullmatch("[0-9a-f]{16}", self.key):
            raise ValueError(f"key must be 16 hex digits, got {self.key!r}")
        for field in ("item", "author", "response", "note"):
            if not isinstance(getattr(self, field), str):
                raise ValueError(f"{field} must be a str, got {getattr(self, field)!r}")
        if not self.item or not self.author:
            raise ValueError(f"item and author must not be empty, got {self.item!r} and {self.author!r}")
        if not isinstance(self.date, datetime.date) or isinstance(self.date, datetime.datetime):
            raise ValueError(f"date must be a date such as 2026-11-29, got {self.date!r}")


def record_key(prompt: str) -> str:
    """What a prompt is filed under: the first 16 hex digits of the sha256 of its UTF-8.

    >>> record_key("")
    'e3b0c44298fc1c14'
    """
    return hashlib.sha256(check_prompt(prompt).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def check_task(task: object) -> None:
    """Refuse a task's name that could not be a file's name on every system."""
    if not isinstance(task, str) or not _NAME.fullmatch(task):
        raise ValueError(f"task must be letters, digits, '_', '-' and '.', got {task!r}")


def files_of(task: str, folder: str | Path | None = None) -> list[Path]:
    """The files that hold a task's records, sorted; none for a task that was never recorded."""
    check_task(task)
    home = FOLDER if folder is None else Path(folder)
    return [path for path in (home / f"{task}.toml",) if path.is_file()] + sorted((home / task).glob("*.toml"))


def tasks_in(folder: str | Path | None = None) -> list[str]:
    """The tasks a folder holds records of, sorted."""
    home = FOLDER if folder is None else Path(folder)
    return sorted({path.stem for path in home.glob("*.toml")} | {path.parent.name for path in home.glob("*/*.toml")})


def read_records(task: str, folder: str | Path | None = None) -> list[Record]:
    """A task's records, in file order.

    Raises ``FileNotFoundError`` for a task that was never recorded, ``ValueError`` for a damaged file and for two
    different answers by one answerer under one key.
    """
    paths = files_of(task, folder)
    if not paths:
        raise FileNotFoundError(f"no recording of the task {task!r} in {FOLDER if folder is None else folder}")
    records: list[Record] = []
    for path in paths:
        try:
            rows = tomllib.loads(path.read_text(encoding="utf-8")).get("record", [])
            records += [Record(**row) for row in rows]
        except (tomllib.TOMLDecodeError, TypeError, ValueError) as error:
            raise ValueError(f"{path.name} is not a recording: {error}") from error
    _check_consistent(records, task)
    return records


def write_records(task: str, records: Iterable[Record], folder: str | Path | None = None) -> list[Path]:
    """Write all of a task's records, sorted by item, answerer and key, so that a change is a small difference.

    The result is ``<task>.toml``, or one ``<task>/<answerer>.toml`` for each answerer where the folder ``<task>``
    exists. Files of the task that hold no record any more are removed. Returns the paths written.
    """
    check_task(task)
    rows = sorted(set(records), key=lambda r: (r.item, r.answerer, r.key, r.date, r.response, r.author, r.note))
    _check_consistent(rows, task)
    home = FOLDER if folder is None else Path(folder)
    big = (home / task).is_dir()
    contents: dict[Path, list[Record]] = {}
    for row in rows:
        path = home / task / f"{row.answerer}.toml" if big else home / f"{task}.toml"
        contents.setdefault(path, []).append(row)
    for path, part in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written beside and moved: a reader never sees half a file.
        draft = path.with_suffix(".toml.part")
        draft.write_text("\n".join(map(_as_toml, part)), encoding="utf-8", newline="\n")
        draft.replace(path)
    for path in set(files_of(task, home)) - set(contents):  # last, so that a run cut short never holds too little
        path.unlink()
    return sorted(contents)


def _as_toml(record: Record) -> str:
    import tomli_w

    row: dict[str, Any] = {k: v for k, v in dataclasses.asdict(record).items() if k != "note" or v}
    # TOML reads every line end in a multi-line string as "\n". On one line a carriage return is escaped, and kept.
    readable = not any("\r" in value for value in row.values() if isinstance(value, str))
    return "[[record]]\n" + tomli_w.dumps(row, multiline_strings=readable)


def _check_consistent(records: Iterable[Record], task: str) -> None:
    seen: dict[tuple[str, str], Record] = {}
    for record in records:
        if record.task != task:
            raise ValueError(f"the record {record.item!r} is of the task {record.task!r}, in the recording of {task!r}")
        first = seen.setdefault((record.key, record.answerer), record)
        if first.response != record.response:
            raise ValueError(
                f"{task}: {record.answerer!r} gives two answers under the key {record.key} "
                f"(items {first.item!r} and {record.item!r})"
            )
