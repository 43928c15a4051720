"""The 135M model run in the loops: on one question, or on all of a task, each answer filed before the next prompt.

What is filed is not asked again, so the same command goes on where a run broke off. Left out: parallel runs.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any

from ragkit.base import Message
from ragkit.models import Recording
from ragkit.models.local import NAME, Local
from ragkit.models.recording_runs import file_record
from ragkit.models.recording_tasks import key_text
from ragkit.models.records import Record, record_key
from ragkit.recorded.agents.loops import LOOPS
from ragkit.recorded.agents.questions import Case
from ragkit.recorded.agents.replays import asked_of
from ragkit.recorded.agents.writing import write


@dataclass
class Filing:
    """The 135M model in one question's loop: an answer that is filed is not asked for again, a new one is filed."""

    task: str
    case: Case
    known: dict[str, str]
    model: Local
    number: int = field(default=0, init=False)

    def __call__(self, prompt: str | list[Message]) -> str:
        self.number += 1
        key = record_key(key_text(prompt))
        if key not in self.known:
            self.known[key] = reply = self.ask(prompt)
            item = f"{self.case.id}/135M/{self.number}"
            file_record(Record(self.task, item, key, "135M", NAME, datetime.date.today(), reply))
        return self.known[key]

    def ask(self, prompt: str | list[Message]) -> str:
        """One call."""
        return write(self.task, prompt, self.model)


def live(task: str, case: Case, model: Local) -> Any:
    """A loop of the 135M model run now, as it was recorded, and filed nowhere."""
    return LOOPS[task](case, lambda prompt: write(task, prompt, model))


def record(task: str, threads: int | None = None) -> int:
    """Let the 135M model answer every question of a task; what is filed already is not asked again."""
    source, model, count = Recording(task, "135M"), Local(threads=threads), 0
    known = {r.key: r.response for r in source.records if r.answerer == "135M"}
    for case in asked_of(task, "135M"):
        before = len(known)
        LOOPS[task](case, Filing(task, case, known, model), keep=True)
        count += len(known) - before
        print(f"{case.id}: {len(known) - before} new answers", flush=True)
    return count
