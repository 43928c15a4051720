"""Running a model over the prompts of tasks, so that a run that breaks off loses nothing and goes on where it stopped.

The rule of write-ahead logs in small: an answer is in its file before the next prompt is asked, and a list beside it
says which prompts this run has answered (``<task>.<answerer>.log``, one key a line under the author's name). The list
goes when the task is done. A second call finds it and skips those prompts; a call with another author starts anew.
Left out: two runs of one task side by side.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ragkit.models.recording_tasks import Tasks, chosen, key_text, prompts_of, recorded
from ragkit.models.records import FOLDER, Record, check_task, record_key, write_records


def rerecord(
    tasks: Tasks,
    llm: Any,
    answerer: str,
    author: str,
    folder: Path | None = None,
    only: Sequence[str] = (),
    gaps_only: bool = False,
    advance: Callable[[], None] = lambda: None,
) -> int:
    """Ask ``llm`` every prompt of the tasks and record its answers; returns how many prompts it was asked.

    An item's older record by the same answerer is replaced. Each answer is on disk before the next prompt is asked, so
    a run that breaks off, even by being killed, loses at most the answer under way; the same call made again asks the
    rest. ``gaps_only`` asks only prompts that have no answer by ``answerer``. ``advance`` is called after each prompt,
    also after one that was skipped. Two items with one prompt share one answer. Raises ``ValueError`` for the answerer
    ``hand``, and whatever ``llm`` raises.
    """
    if answerer == "hand":
        raise ValueError("answerer must be a model that runs; hand answers are written by people")
    return sum(_run(tasks, task, llm, answerer, author, folder, gaps_only, advance) for task in chosen(tasks, only))


def _run(
    tasks: Tasks,
    task: str,
    llm: Any,
    answerer: str,
    author: str,
    folder: Path | None,
    gaps_only: bool,
    advance: Callable[[], None],
) -> int:
    """One task of a run."""
    log = run_log(task, answerer, folder)
    known = {record.key: record.response for record in recorded(task, folder) if record.answerer == answerer}
    done = known if gaps_only else {key: known[key] for key in _answered(log, author) if key in known}
    count = 0
    for item, prompt in prompts_of(tasks, task).items():
        text = key_text(prompt)
        key = record_key(text)
        if key not in done:
            done[key] = llm.chat(prompt) if isinstance(prompt, list) else llm(prompt)
            count += 1
            file_record(Record(task, item, key, answerer, author, datetime.date.today(), done[key]), folder)
            _note(log, author, key)
        advance()
    log.unlink(missing_ok=True)
    return count


def file_record(record: Record, folder: Path | None = None) -> None:
    """Put one record into its task's file, in place of what the same answerer said of that item or that prompt.

    The file is replaced as a whole (``write_records``): a reader sees the old one or the new one.
    """
    kept = [
        row
        for row in recorded(record.task, folder)
        if row.answerer != record.answerer or (row.item != record.item and row.key != record.key)
    ]
    write_records(record.task, [*kept, record], folder)


def run_log(task: str, answerer: str, folder: Path | None = None) -> Path:
    """Where a run that has not ended keeps the keys it has answered; absent when none is under way."""
    check_task(task)
    return (FOLDER if folder is None else Path(folder)) / f"{task}.{answerer}.log"


def _answered(log: Path, author: str) -> list[str]:
    """The keys that a run by ``author`` has answered; a line that was cut while it was written is no key."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.is_file() else []
    return lines[1:] if lines[:1] == [author] else []


def _note(log: Path, author: str, key: str) -> None:
    old = _answered(log, author)
    with log.open("a" if old else "w", encoding="utf-8", newline="\n") as file:
        file.write(f"{key}\n" if old else f"{author}\n{key}\n")
