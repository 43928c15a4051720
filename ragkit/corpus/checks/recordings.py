"""Promises of the recordings: well-formed records, and a prompt of the code behind each of them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence

from ragkit.corpus.checks.faults import Fault, Prompts
from ragkit.corpus.records import Corpus
from ragkit.models.recording_tasks import unnamed
from ragkit.models.records import Record, files_of, record_key, tasks_in
from ragkit.models.shapes import chat_prompt


def recording_faults(corpus: Corpus, tasks: Mapping[str, Prompts] | None) -> Iterator[Fault]:
    """Every record that cannot be read or answers no prompt, and every task whose prompts cannot be made."""
    for module, why in unnamed(tasks or {}).items():
        yield Fault("prompts", module, f"cannot be read: {why}")
    folder = corpus.root / "recordings"
    for task in tasks_in(folder):
        records: list[tuple[str, Record]] = []
        for path in files_of(task, folder):
            where = path.relative_to(corpus.root).as_posix()
            try:
                rows = tomllib.loads(path.read_text(encoding="utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                yield Fault("recording", where, f"is no TOML: {error}")
                continue
            if set(rows) != {"record"} or not isinstance(rows["record"], list):
                yield Fault("recording", where, f"must hold [[record]] tables and nothing else, has {sorted(rows)}")
                continue
            for number, row in enumerate(rows["record"], start=1):
                try:
                    records.append((f"{where}, record {number}", Record(**row)))
                except (TypeError, ValueError) as error:
                    yield Fault("recording", f"{where}, record {number}", str(error))
        yield from _task_faults(task, records, tasks)


def _task_faults(
    task: str, records: Sequence[tuple[str, Record]], tasks: Mapping[str, Prompts] | None
) -> Iterator[Fault]:
    """What is wrong with records that are each well formed."""
    answers: dict[tuple[str, str], str] = {}
    for where, record in records:
        if record.task != task:
            yield Fault("recording", where, f"task {record.task!r} must be the name of the file")
        if answers.setdefault((record.key, record.answerer), record.response) != record.response:
            yield Fault("recording", where, f"{record.answerer} answers the prompt {record.key} in another way before")
    if tasks is None:
        return
    if task not in tasks:
        yield Fault("stale-recording", task, "no code registers this task")
        return
    try:
        keys = {record_key(prompt if isinstance(prompt, str) else chat_prompt(prompt)) for _, prompt in tasks[task]()}
    except Exception as error:  # whatever the task's own code raises is a fault of that task alone
        yield Fault("prompts", task, f"cannot be made: {type(error).__name__}: {error}")
        return
    for where, record in records:
        if record.key not in keys:
            yield Fault("stale-recording", where, f"no prompt has the key {record.key} (item {record.item!r})")
