"""What workers read and write: a job or a record, each as one line of JSON.

A job says which file is whose answer to what:

    {"student": "ann", "assignment": "tiny", "notebook": "tiny", "path": "/.../tiny.ipynb", "notes": []}

A job without a path asks for the instructor's own answer to be run: its record names no student, and a test that fails
there is broken. A record is what `record.py` keeps in a file. Anything that can carry lines can carry a class: pipes,
a cluster, a job array that shares out a file of jobs and puts the records together again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from grading.record import Record, from_json

KEYS = ("student", "assignment", "notebook", "path")


@dataclass(frozen=True)
class Job:
    """A file to grade. `notes`: what was noticed when it was found, for the student."""

    student: str
    assignment: str
    notebook: str
    path: str
    notes: tuple[str, ...] = ()

    @property
    def exercise(self) -> str:
        """How tables name the exercise, as `Exercise.key` does."""
        return self.notebook if self.notebook == self.assignment else f"{self.assignment}/{self.notebook}"


@dataclass(frozen=True)
class Answer:
    """What came back for a job: the line of its record, or "" and what is known of why there is none."""

    job: Job
    line: str
    fault: str = ""


def job_line(job: Job) -> str:
    """A job as a line, without its end. Letters outside ASCII are escaped: a file's name need not be Unicode.

    >>> job_line(Job("ann", "tiny", "tiny", "a.ipynb"))
    '{"student": "ann", "assignment": "tiny", "notebook": "tiny", "path": "a.ipynb", "notes": []}'
    """
    return json.dumps(job, default=vars)


def read_job(line: str | bytes) -> Job:
    """The job in a line. Raises `ValueError` that names what is wrong with it.

    >>> read_job('{"student": "ann", "assignment": "tiny", "notebook": "tiny", "path": "a.ipynb"}').exercise
    'tiny'
    """
    data = json.loads(line)
    if not isinstance(data, dict):
        raise ValueError("job: no table of names and values")
    missing = [name for name in KEYS if not isinstance(data.get(name), str)]
    notes = data.get("notes", [])
    if missing or not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise ValueError(f"job: {(*missing, 'notes')[0]} is missing or no text")
    student, assignment, notebook, path = (data[name] for name in KEYS)
    return Job(student, assignment, notebook, path, tuple(notes))


def record_line(record: Record) -> str:
    """A record as a line, without its end."""
    return json.dumps(record, default=vars)


def read_record_line(line: str | bytes) -> Record:
    """The record in a line. Raises `ValueError` when it holds none of this version."""
    return from_json(json.loads(line))


def answers(job: Job, record: Record) -> bool:
    """Whether a record is the one that a job asked for."""
    return (record.student, record.assignment, record.notebook) == (job.student, job.assignment, job.notebook)


def without_timings(data: dict[str, Any]) -> dict[str, Any]:
    """The JSON form of a record without what differs from run to run: seconds, and the sum over all of it."""
    plain = {name: value for name, value in data.items() if name not in ("seconds", "sum")}
    return {
        name: without_timings(value)
        if isinstance(value, dict)
        else [without_timings(one) if isinstance(one, dict) else one for one in value]
        if isinstance(value, list | tuple)
        else value
        for name, value in plain.items()
    }
