"""What can answer the jobs of a class: workers on this machine, or those of a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from grading.course import Course
from grading.jobs import Answer, Job
from grading.pool import Pool, patience, worker_command
from grading.running.plan import Limits
from grading.scheduling import Cluster


class Engine(Protocol):
    """Answers jobs."""

    def run(self, jobs: Iterable[Job]) -> Iterator[Answer]:
        """An answer to each job, in the order in which they come. Where it can, it begins before it is asked for the
        first."""

    def dismiss(self) -> None:
        """No more jobs are to come: who waits for some can go."""


OpenEngine = Callable[[Course, Limits], AbstractContextManager[Engine]]


def pool_of(jobs: int = 0, allow_unsandboxed: bool = False) -> OpenEngine:
    """Workers on this machine, 0 for as many as processors. Raises `ValueError` when `jobs` is below 0."""
    if jobs < 0:
        raise ValueError(f"jobs: {jobs} is below 0")

    def start(course: Course, limits: Limits) -> Pool:
        command = worker_command(course, limits, allow_unsandboxed)
        return Pool(command, jobs or processors(), patience(limits))

    return start


def cluster_at(address: str, allow_unsandboxed: bool = False) -> OpenEngine:
    """Workers on the Dask cluster whose scheduler has this address."""

    def connect(course: Course, limits: Limits) -> Cluster:
        return Cluster(address, worker_command(course, limits, allow_unsandboxed), patience(limits))

    return connect


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
