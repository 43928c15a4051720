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
from typing import NamedTuple, TypeAlias

from ragkit.base import LLM, Message
from ragkit.models.records import Record, files_of, read_records, record_key, write_records
from ragkit.models.shapes import chat_prompt, check_prompt

Prompt: TypeAlias = "str | list[Message]"
Tasks: TypeAlias = Mapping[str, Callable[[], Iterable[tuple[str, Prompt]]]]


class Settings(NamedTuple):
    """How a model is asked a task's prompts, so that answers recorded on different days are of one kind.

    ``max_tokens`` bounds an answer, ``stop`` ends it; ``raw`` lets the local model go on with the prompt's own text, as
    a base model does, where otherwise it is asked in a turn of a chat. Where the code of a task writes the first words
    of an answer itself, so that the model goes on from them, they are ``begun``: a record holds them, and they are no
    part of ``max_tokens``.
    """

    max_tokens: int = 256
    stop: tuple[str, ...] = ()
    raw: bool = False
    begun: str = ""


def load_tasks(name: str) -> Tasks:
    """The mapping that an import string such as ``package.module:TASKS`` leads to."""
    if ":" not in name:
        raise ValueError(f"tasks must be given as MODULE:NAME, got {name!r}")
    sys.path.insert(0, "")  # as python -m does not where a console script starts it
    try:
        found = pkgutil.resolve_name(name)
    finally:
        sys.path.remove("")
    if not isinstance(found, Mapping):
        raise ValueError(f"{name} must map a task to a function that gives (item, prompt) pairs")
    return found


def unnamed(tasks: Tasks) -> dict[str, str]:
    """Modules whose tasks could not even be named (`broken`), with the reason; a plain dictionary has none."""
    return dict(getattr(tasks, "broken", {}))


def settings_of(tasks: Tasks, task: str) -> Settings:
    """What the mapping's own ``settings`` says of a task; the defaults for a plain dictionary."""
    known: Callable[[str], Settings] | None = getattr(tasks, "settings", None)
    return known(task) if known else Settings()


def by_opening(template: str, opened: LLM, otherwise: LLM) -> LLM:
    """One model out of two: prompts that begin as ``template`` does, up to its first ``$``, go to ``opened``.

    >>> by_opening("Mend this: $sql", lambda prompt: "mended", lambda prompt: "written")("Mend this: SELEC")
    'mended'
    """
    opening = template.partition("$")[0]
    return lambda prompt: (opened if prompt.startswith(opening) else otherwise)(prompt)


def prompts_of(tasks: Tasks, task: str) -> dict[str, Prompt]:
    """A task's prompts by item. An item with two different prompts is a ``ValueError``, so is what is no function."""
    make, prompts = tasks[task], dict[str, Prompt]()
    if not callable(make):
        raise ValueError(f"task {task!r} must be a function that gives (item, prompt) pairs, got {type(make).__name__}")
    for item, prompt in make():
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


def chosen(tasks: Tasks, only: Sequence[str]) -> list[str]:
    """The tasks that ``only`` names, in the mapping's order; all of them when it names none."""
    unknown = sorted(set(only) - set(tasks))
    if unknown:
        raise ValueError(f"unknown task {unknown[0]!r}; known are {', '.join(tasks)}")
    return [task for task in tasks if not only or task in only]
