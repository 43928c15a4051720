"""Recordings held against the code: prompts without an answer, answers without a prompt, and both mended.

A *tasks* mapping goes from a task to a function that gives ``(item, prompt)`` pairs: the prompts that the code
produces now. A prompt is a string or a conversation. One item is one prompt; a technique that asks twice about a
question calls its items ``q7/1`` and ``q7/2``. Left out: writing hand answers, which people do, from the prompt.
"""

from __future__ import annotations

import datetime
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from ragkit.base import Message
from ragkit.models.records import Record, files_of, read_records, record_key, write_records
from ragkit.models.shapes import chat_prompt, check_prompt

Prompt: TypeAlias = "str | list[Message]"
Tasks: TypeAlias = Mapping[str, Callable[[], Iterable[tuple[str, Prompt]]]]


def load_tasks(name: str) -> Tasks:
    """The mapping that an import string such as ``package.module:TASKS`` leads to."""
    if ":" not in name:
        raise ValueError(f"tasks must be given as MODULE:NAME, got {name!r}")
    sys.path.insert(0, "")  # as python -m does not where a console script starts it
    try:
        found = pkgutil.resolve_name(name)
    finally:
        sys.path.remove("")
    if not isinstance(found, Mapping) or not all(callable(make) for make in found.values()):
        raise ValueError(f"{name} must map a task to a function that gives (item, prompt) pairs")
    return found


def prompts_of(tasks: Tasks, task: str) -> dict[str, Prompt]:
    """A task's prompts by item. An item with two different prompts is a ``ValueError``."""
    prompts: dict[str, Prompt] = {}
    for item, prompt in tasks[task]():
        if prompts.setdefault(item, prompt) != prompt:
            raise ValueError(f"task {task!r} gives the item {item!r} two different prompts; number them item/1, item/2")
        key_text(prompt)
    return prompts


def key_text(prompt: Prompt) -> str:
    """The string a prompt or a conversation is keyed by.

    >>> key_text([{"role": "user", "content": "Why?"}])
    'Why?'
    """
    return chat_prompt(prompt) if isinstance(prompt, list) else check_prompt(prompt)


def recorded(task: str, folder: Path | None = None) -> list[Record]:
    """A task's records; none for a task that was never recorded."""
    return read_records(task, folder) if files_of(task, folder) else []


def missing(
    tasks: Tasks, answerer: str = "hand", folder: Path | None = None, only: Sequence[str] = ()
) -> list[tuple[str, str, Prompt]]:
    """``(task, item, prompt)`` of every prompt that ``answerer`` has not answered."""
    gaps: list[tuple[str, str, Prompt]] = []
    for task in chosen(tasks, only):
        keys = {record.key for record in recorded(task, folder) if record.answerer == answerer}
        gaps += [(task, i, p) for i, p in prompts_of(tasks, task).items() if record_key(key_text(p)) not in keys]
    return gaps


def stale(tasks: Tasks, folder: Path | None = None, only: Sequence[str] = ()) -> list[Record]:
    """Records of these tasks that answer no prompt the code produces now."""
    left: list[Record] = []
    for task in chosen(tasks, only):
        keys = {record_key(key_text(prompt)) for prompt in prompts_of(tasks, task).values()}
        left += [record for record in recorded(task, folder) if record.key not in keys]
    return left


def rekey(
    tasks: Tasks, folder: Path | None = None, only: Sequence[str] = (), today: datetime.date | None = None
) -> int:
    """File hand answers under the prompts their items have now, and say so in their notes; returns how many moved.

    Answers of models stay: another prompt is another question to a model, so those have to be recorded again.
    """
    moved = 0
    for task in chosen(tasks, only):
        prompts = prompts_of(tasks, task)
        rows = recorded(task, folder)
        current = {(r.item, r.key) for r in rows if r.answerer == "hand"}
        changed: list[Record] = []
        for row in rows:
            key = record_key(key_text(prompts[row.item])) if row.item in prompts else row.key
            if row.answerer == "hand" and key != row.key and (row.item, key) not in current:
                said = f"filed under a new prompt on {today or datetime.date.today()}, before under {row.key}"
                row = replace(row, key=key, note=f"{row.note}; {said}" if row.note else said)
                moved += 1
            changed.append(row)
        if changed != rows:
            write_records(task, changed, folder)
    return moved


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
    """Ask ``llm`` every prompt of the tasks and record its answers; returns how many.

    An item's older records by the same answerer are replaced. What was answered is written as each task ends, and
    also when one breaks off.
    """
    if answerer == "hand":
        raise ValueError("answerer must be a model that runs; hand answers are written by people")
    count = 0
    gaps = {(task, item) for task, item, _ in missing(tasks, answerer, folder, only)}
    for task in chosen(tasks, only):
        fresh: dict[str, Record] = {}
        try:
            for item, prompt in prompts_of(tasks, task).items():
                if not gaps_only or (task, item) in gaps:
                    response = llm.chat(prompt) if isinstance(prompt, list) else llm(prompt)
                    key, today = record_key(key_text(prompt)), datetime.date.today()
                    fresh[item] = Record(task, item, key, answerer, author, today, response)
                    count += 1
                advance()
        finally:
            keys = {row.key for row in fresh.values()}  # two items can have one prompt, which has one answer
            others = [
                r
                for r in recorded(task, folder)
                if r.answerer != answerer or (r.item not in fresh and r.key not in keys)
            ]
            if fresh:
                write_records(task, [*others, *fresh.values()], folder)
    return count


def chosen(tasks: Tasks, only: Sequence[str]) -> list[str]:
    """The tasks that ``only`` names, in the mapping's order; all of them when it names none."""
    unknown = sorted(set(only) - set(tasks))
    if unknown:
        raise ValueError(f"unknown task {unknown[0]!r}; known are {', '.join(tasks)}")
    return [task for task in tasks if not only or task in only]
