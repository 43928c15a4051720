"""Recorded answers: a model's reply is looked up by the hash of the prompt, and a miss is an error.

The same rule as the recorded fixtures of HTTP test suites (Ruby's VCR, 2010, with its mode that records nothing): an
answer belongs to one exact prompt, so code that changes a prompt must be seen to have no answer any more. A recording
never falls through to a model. Left out: recording on the fly, matching that forgives a changed prompt.

``python -m ragkit.models.recording`` lists, shows and records answers (``recording_cli.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from ragkit.base import Message
from ragkit.models.records import (
    ANSWERERS,
    Record,
    check_task,
    files_of,
    read_records,
    record_key,
    write_records,
)
from ragkit.models.shapes import chat_prompt

__all__ = [
    "ANSWERERS",
    "Record",
    "Recording",
    "RecordingMiss",
    "nearest",
    "read_records",
    "record_key",
    "write_records",
]


class RecordingMiss(LookupError):  # noqa: N818 - the field speaks of a hit and a miss
    """No record answers a prompt. Holds ``task``, ``answerer``, ``key`` and the whole ``prompt``."""

    def __init__(self, task: str, answerer: str, prompt: str, records: Sequence[Record]) -> None:
        self.task, self.answerer, self.prompt, self.key = task, answerer, prompt, record_key(prompt)
        others = sorted({r.answerer for r in records if r.key == self.key})
        lines = [
            f"the recording {task!r} holds no answer by {answerer!r} to this prompt (key {self.key}):",
            "-" * 80,
            prompt,
            "-" * 80,
        ]
        if others:
            lines.append(f"It was answered by: {', '.join(others)}.")
        lines.append("Nearest recorded items, by the words they share with the prompt:")
        near = nearest([r for r in records if r.answerer == answerer] or records, prompt)
        lines += [f"  {r.item}  key {r.key}  {r.response!r:.70}" for r in near] or ["  (none: the task has no records)"]
        command = "python -m ragkit.models.recording"
        if answerer == "hand":
            lines += [
                "Write the answer from the prompt alone, and record it (the response is read from standard input):",
                f"  {command} add --task {task} --item ITEM --key {self.key}",
                "If only the wording of the template changed, so that the answer still stands:",
                f"  {command} rekey MODULE:TASKS --only {task}",
            ]
        else:
            address = " --address URL" if answerer == "hosted" else ""
            lines += [
                "Record it by running the model:",
                f"  {command} rerecord --tasks MODULE:TASKS --only {task} --answerer {answerer}{address}",
            ]
        super().__init__("\n".join(lines))


class Recording:
    """An ``LLM`` that replays the answers one answerer gave to a task's prompts.

    ``Recording("standalone")(prompt)`` gives the hand-written answer, ``Recording("standalone", "135M")`` that of the
    local model. Files are read at the first call. Raises ``RecordingMiss`` for a prompt without a record (a task
    without a file holds none), ``ValueError`` for a damaged file.
    """

    def __init__(self, task: str, answerer: str = "hand", folder: str | Path | None = None) -> None:
        check_task(task)
        if answerer not in ANSWERERS:
            raise ValueError(f"answerer must be one of {', '.join(ANSWERERS)}, got {answerer!r}")
        self.task, self.answerer, self.folder = task, answerer, folder

    @cached_property
    def records(self) -> list[Record]:
        """Every record of the task, of all answerers; none for a task that was never recorded."""
        return read_records(self.task, self.folder) if files_of(self.task, self.folder) else []

    @cached_property
    def _by_key(self) -> dict[str, Record]:
        return {record.key: record for record in self.records if record.answerer == self.answerer}

    def __call__(self, prompt: str) -> str:
        """The recorded answer to a prompt."""
        return self.record(prompt).response

    def chat(self, messages: list[Message]) -> str:
        """The recorded answer to a conversation; a lone user turn has the key of its content."""
        return self.record(chat_prompt(messages)).response

    def record(self, prompt: str) -> Record:
        """The whole record of a prompt: who answered it, and when."""
        found = self._by_key.get(record_key(prompt))
        if found is None:
            raise RecordingMiss(self.task, self.answerer, prompt, self.records)
        return found


def nearest(records: Iterable[Record], prompt: str, n: int = 3) -> list[Record]:
    """The records whose item and response share the largest part of their words with a prompt, ties by item."""
    words = set(re.findall(r"\w+", prompt.lower()))

    def share(record: Record) -> float:
        own = set(re.findall(r"\w+", f"{record.item} {record.response}".lower()))
        return len(own & words) / len(own) if own else 0.0

    return sorted(records, key=lambda r: (-share(r), r.item, r.key))[:n]


if __name__ == "__main__":
    import sys

    from ragkit.models.recording_cli import main

    sys.exit(main())
