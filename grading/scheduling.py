"""Workers on a Dask cluster: chunks of jobs go out as tasks, and each task runs the worker command where it lands.

What travels is text, the lines of jobs and of records and a command, so the cluster needs this package only at the path
that the command names, beside the course and the Python of the same paths. Every task has a key of its own, of student,
exercise, place in the run and a number for the run, never of what was handed in: a cluster merges tasks of equal keys,
and two students with equal files are two submissions. A worker of the cluster that is lost costs its chunk another
turn; a chunk that fails as a whole goes out once more, job by job, so that only the job to blame is given back.
"""

from __future__ import annotations

import importlib
import secrets
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from types import TracebackType
from typing import Any

from grading.jobs import Answer, Job, job_line, read_job
from grading.pool import Pool

CHUNK = 32
CHUNKS_A_THREAD = 4  # at least so many, where there are jobs enough: the last to finish is not waited for long
RETRIES = 2


def run_chunk(lines: list[str], command: list[str], patience: float) -> list[tuple[str, str, str]]:
    """What a task does: answers these jobs by one worker, as lines of job and record, and what is known of a job
    without one."""
    with Pool(command, 1, patience) as pool:
        return [(job_line(answer.job), answer.line, answer.fault) for answer in pool.run(map(read_job, lines))]


class Cluster:
    """A Dask cluster that is already there, by the address of its scheduler (a context manager)."""

    def __init__(self, address: str, command: Sequence[str], patience: float) -> None:
        """Raises `ValueError` when Dask is not installed or no scheduler answers at the address."""
        try:
            self._dask = importlib.import_module("distributed")
        except ImportError:
            raise ValueError("scheduler: needs the package distributed, which is not installed") from None
        try:
            self._client = self._dask.Client(address, set_as_default=False)
        except (OSError, ValueError, TypeError) as problem:
            raise ValueError(f"scheduler: none answers at {address} ({problem})") from None
        self._command, self._patience = list(command), patience
        self._run, self._places = secrets.token_hex(8), count()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def dismiss(self) -> None:
        """Nothing: workers end with the chunk that they were started for."""

    def run(self, jobs: Iterable[Job]) -> Iterator[Answer]:
        """An answer to each job, in the order in which they come. Raises `ValueError` with the words of a worker that
        refuses to work."""
        todo = list(jobs)
        size = max(1, min(CHUNK, len(todo) // (CHUNKS_A_THREAD * self._threads())))
        done = self._dask.as_completed(loop=self._client.loop)
        chunks: dict[str, list[Job]] = {}

        def send(chunk: list[Job]) -> None:
            future = self._send(chunk)
            chunks[future.key] = chunk
            done.add(future)

        for start in range(0, len(todo), size):
            send(todo[start : start + size])
        for future in done:
            chunk = chunks.pop(future.key)
            if future.status == "finished":
                yield from (Answer(read_job(job), line, fault) for job, line, fault in future.result())
                continue
            if future.status == "cancelled":
                raise ValueError("scheduler: the cluster has dropped this run; its records so far are kept")
            problem = future.exception()
            if isinstance(problem, ValueError):
                raise problem
            if len(chunk) == 1:
                yield Answer(chunk[0], "", f"{type(problem).__name__}: {problem}")
                continue
            for job in chunk:
                send([job])

    def close(self) -> None:
        """Leave the cluster; what of this run has not begun there is dropped."""
        self._client.close()

    def _threads(self) -> int:
        return sum(self._client.nthreads().values()) or 1

    def _send(self, chunk: Sequence[Job]) -> Any:
        first, place = chunk[0], next(self._places)
        key = f"grade-{self._run}-{place}-{first.student}-{first.exercise}"
        lines = [job_line(job) for job in chunk]
        return self._client.submit(
            run_chunk, lines, self._command, self._patience, key=key, pure=False, retries=RETRIES
        )
