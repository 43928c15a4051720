"""How fast a class is graded, beside nbgrader's own `autograde`, and what one submission costs.

    python benchmarks/grading_speed.py [--quick] [--part beside|scale|cost|cluster ...]

The class is generated: a notebook of three answers and six tests, four of them with a hidden part, numpy imported.
Every submission is a different text, right and wrong answers mixed. Four parts, each in folders of its own:

beside   one class by both graders in the same run, each in a process of its own from start to end, from the folder of
         submissions to the gradebook (ours: records too, and the feedback pages, whose share is named). `nbgrader
         autograde` runs as it comes, with its stock configuration, on the first students of the class, since it takes
         over a second each. The marks must agree.
scale    one long run: seconds and resident memory at every thousand.
cost     where the time of one submission goes, in one worker, and the processor time of all its processes.
cluster  the class by the pool and through two workers of a Dask LocalCluster: the records must be identical, timings
         aside.

`--quick` is for seeing that it works: its figures are those of a start, not of a class.
"""

from __future__ import annotations

import argparse
import functools
import json
import multiprocessing
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psutil
from _measure import versions
from rich.console import Console

from grading.classroom import Outcome, grade_class
from grading.course import Course, open_course
from grading.engines import OpenEngine, cluster_at, pool_of
from grading.jobs import Answer, Job, without_timings
from grading.running.plan import Limits

SIZES = {"beside": 200, "stock": 20, "scale": 10_000, "step": 1_000, "cost": 100, "cluster": 100}
QUICK = {"beside": 12, "stock": 3, "scale": 60, "step": 20, "cost": 10, "cluster": 10}
PARTS = ("beside", "scale", "cost", "cluster")
SHELL = Console(file=sys.stderr, quiet=True)

# What `python -m grading grade` does, its table aside.
COMMAND = """
import json, sys
from pathlib import Path
from rich.console import Console
from grading.classroom import grade_class
from grading.course import open_course
outcome = grade_class(open_course(Path(sys.argv[1])), console=Console(file=sys.stderr, quiet=True))
assert not outcome.faults, next(iter(outcome.faults.values()))
print(json.dumps(outcome.seconds))
"""

# Answer -> variants of it; the first two are right. {x} is a name of the student's own, {n} a number.
ANSWERS = {
    "unit": [
        "def unit(rows):\n    {x} = np.linalg.norm(rows, axis=1, keepdims=True)  # {n}\n    return rows / {x}",
        "def unit(rows):\n    {x} = [row / max(np.sqrt(row @ row), 1e-{n}) for row in rows]\n    return np.array({x})",
        "def unit(rows):\n    {x} = np.linalg.norm(rows)  # {n}\n    return rows / {x}",
        "def unit(rows):\n    {x} = np.abs(rows).sum(axis=1, keepdims=True)  # {n}\n    return rows / {x}",
    ],
    "best": [
        "def best(scores, k):\n    {x} = sorted(range(len(scores)), key=lambda i: (-scores[i], i))\n    return {x}[:k]",
        "def best(scores, k):\n    {x} = np.argsort([-s for s in scores], kind='stable')\n    return {x}[:k].tolist()",
        "def best(scores, k):\n    {x} = sorted(range(len(scores)), key=lambda i: scores[i])\n    return {x}[:k]",
        "def best(scores, k):\n    {x} = list(scores)  # {n}\n    return [{x}.index(s) for s in sorted({x})[::-1][:k]]",
    ],
    "merge": [
        "def merge(first, second):\n    {x} = []\n    for item in [*first, *second]:\n        if item not in {x}:\n"
        "            {x}.append(item)\n    return {x}",
        "def merge(first, second):\n    {x} = dict.fromkeys(first)  # {n}\n    {x}.update(dict.fromkeys(second))\n"
        "    return list({x})",
        "def merge(first, second):\n    {x} = first + second  # {n}\n    return {x}",
        "def merge(first, second):\n    {x} = sorted(set(first) | set(second))  # {n}\n    return {x}",
    ],
}
HIDE, SHOW = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
TESTS = {
    "unit": [
        ("assert np.allclose(unit(np.array([[3.0, 4.0]])), [[0.6, 0.8]]), 'length 1'", ""),
        (
            "assert unit(np.eye(3)).shape == (3, 3), 'a row for each row'",
            "rows = np.random.default_rng(7).normal(size=(50, 8))\n"
            "assert np.allclose(np.linalg.norm(unit(rows), axis=1), 1), 'every row has length 1'",
        ),
    ],
    "best": [
        ("assert best([0.1, 0.9, 0.5], 2) == [1, 2], 'the highest first'", ""),
        ("assert best([1.0], 3) == [0], 'never more than there are'", "assert best([1, 2, 2], 2) == [1, 2], 'ties'"),
    ],
    "merge": [
        ("assert merge([1, 2], [3]) == [1, 2, 3], 'all items'", "assert merge([2, 1], [2]) == [2, 1], 'none twice'"),
        ("given = [1]\nmerge(given, [2])\nassert given == [1], 'the input'", "assert merge([], []) == [], 'empty'"),
    ],
}


def cell(source: str, kind: str = "code", **mark: Any) -> dict[str, Any]:
    """A notebook cell; keywords are its nbgrader metadata."""
    plain = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
    made: dict[str, Any] = {"cell_type": kind, "metadata": {"nbgrader": {**plain, **mark}} if mark else {}}
    made |= {"source": source, **({"outputs": [], "execution_count": None} if kind == "code" else {})}
    return made


def notebook(answers: dict[str, str], hidden: bool) -> str:
    """The notebook with these answers, the hidden parts of its tests or without them."""
    cells = [cell("# Vectors", "markdown"), cell("import numpy as np")]
    for name, tests in TESTS.items():
        cells.append(cell(answers[name], grade_id=name, solution=True))
        for place, (shown, secret) in enumerate(tests):
            source = f"{shown}\n{HIDE}\n{secret}\n{SHOW}" if secret and hidden else shown
            cells.append(cell(source, grade_id=f"test-{name}-{place}", grade=True, locked=True, points=2))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {"kernelspec": kernel}, "cells": cells})


def make_class(root: Path, size: int) -> Course:
    """A course with `size` submissions, each a text of its own, the same ones each time."""
    marked = {
        name: f"### BEGIN SOLUTION\n{all_[1].format(x='x', n=9)}\n### END SOLUTION" for name, all_ in ANSWERS.items()
    }
    write(root / "source" / "six" / "six.ipynb", notebook(marked, hidden=True))
    for number in range(size):
        draw = random.Random(number)
        own = {"x": f"x{number}", "n": draw.randrange(9, 300)}
        answers = {name: draw.choice([*all_[:2], *all_]).format(**own) for name, all_ in ANSWERS.items()}
        answers = {name: f"# {number}\n{text}" for name, text in answers.items()}
        write(root / "submitted" / f"s{number:05}" / "six" / "six.ipynb", notebook(answers, hidden=False))
    return open_course(root)


def write(path: Path, text: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def grade(course: Course, engine: OpenEngine | None = None) -> tuple[Outcome, float]:
    """Grade the class; gives the outcome and the wall seconds."""
    start = time.perf_counter()
    outcome = grade_class(course, console=SHELL, limits=Limits(), engine=engine)
    return outcome, time.perf_counter() - start


def beside(folder: Path, sizes: dict[str, int]) -> None:
    """Both graders on one class."""
    course = make_class(folder / "ours", sizes["beside"])
    stock = make_class(folder / "stock", sizes["stock"])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader runs `alembic` by its bare name
    env = {**os.environ, "PATH": path, "PYTHONWARNINGS": "ignore"}

    def call(*words: str) -> None:
        command = [sys.executable, "-m", "nbgrader", *words]
        done = subprocess.run(command, cwd=stock.root, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    call("generate_assignment", "six")
    start = time.perf_counter()
    call("autograde", "six")
    theirs = (time.perf_counter() - start) / sizes["stock"]
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, str(course.root)], capture_output=True, text=True, env=env, check=False
    )
    ours = (time.perf_counter() - start) / sizes["beside"]
    assert done.returncode == 0, done.stderr
    parts = json.loads(done.stdout)
    marks = marks_of(course)
    for student, mark in marks_of(stock).items():
        assert marks[student] == mark, f"{student}: {marks[student]} is not {mark}"
    shown = {mark: list(marks.values()).count(mark) for mark in sorted(set(marks.values()))}
    print(f"marks (mark: students): {shown}; they agree on the {sizes['stock']} that both have graded")
    print(f"nbgrader autograde  {sizes['stock']:6} submissions  {60 / theirs:8.0f} a minute  {theirs:7.3f} s each")
    print(f"ours                {sizes['beside']:6} submissions  {60 / ours:8.0f} a minute  {ours:7.3f} s each")
    print(
        f"ours / nbgrader     {theirs / ours:.1f} (in ours: {parts['gradebook']:.2f} s gradebook, "
        f"{parts['feedback']:.2f} s feedback pages)"
    )


def marks_of(course: Course) -> dict[str, float]:
    """What the gradebook says, asked through nbgrader's own API."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course.database}") as book:
        return {one.student.id: one.score for one in book.assignment_submissions("six")}


class Watched:
    """An engine whose answers are counted, with a line at every `step`."""

    def __init__(self, inner: AbstractContextManager[Any], step: int) -> None:
        self._inner, self._step = inner, step

    def __enter__(self) -> Watched:
        self._engine = self._inner.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._inner.__exit__(*error)

    def dismiss(self) -> None:
        """As the engine does."""
        self._engine.dismiss()

    def run(self, jobs: Iterable[Job]) -> Iterator[Answer]:
        """The answers; what each step took, and what is resident in this process and in the others."""
        me, before = psutil.Process(), time.perf_counter()
        for done, answer in enumerate(self._engine.run(jobs), 1):
            yield answer
            if done % self._step == 0:
                now = time.perf_counter()
                others = sum(one.memory_info().rss for one in me.children(recursive=True) if one.is_running())
                own = me.memory_info().rss
                print(f"{done:8,}  {now - before:8.2f} s  {own / 1e6:8.1f} MB  {others / 1e6:8.1f} MB", flush=True)
                before = now


def scale(folder: Path, sizes: dict[str, int]) -> None:
    """One long run."""
    course = make_class(folder, sizes["scale"])
    start = pool_of()
    print("    done   this step   this process   its workers and theirs")
    outcome, seconds = grade(course, lambda course, limits: Watched(start(course, limits), sizes["step"]))
    assert not outcome.faults, next(iter(outcome.faults.values()))
    assert len(outcome.marks) == sizes["scale"]
    print(f"{sizes['scale']:,} submissions in {seconds:.1f} s: {60 * sizes['scale'] / seconds:.0f} a minute")


def cost(folder: Path, sizes: dict[str, int]) -> None:
    """Where the time of a submission goes in one worker."""
    from grading import judge, worker
    from grading.gradebook import Book
    from grading.handins import hand_ins
    from grading.jobs import read_record_line, record_line
    from grading.record import write_record
    from grading.running.runner import Runner
    from grading.sandbox import Sandbox
    from grading.todo import job_of, kept_at

    course = make_class(folder, sizes["cost"] + 1)
    exercises = course.exercises()
    jobs = [job_of(item) for item in hand_ins(course, exercises)[1]]
    spent: dict[str, float] = {}

    def timed(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(work)
        def wrapped(*given: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return work(*given, **named)
            finally:
                spent[name] = spent.get(name, 0.0) + time.perf_counter() - start

        return wrapped

    worker.read = timed("read", worker.read)
    judge.rebuild = timed("rebuild", judge.rebuild)
    Sandbox.spawn = timed("spawn", Sandbox.spawn)
    Sandbox.kill = timed("end", Sandbox.kill)
    Runner.run = timed("run", Runner.run)

    def grade_all(some: list[Job]) -> tuple[float, dict[str, float]]:
        """Wall seconds of the jobs, and processor seconds by kind of process; of the students' those of the sandbox's
        start and end are in it, which a run of one job tells."""
        with worker.Grader(course, Limits()) as grader, Book(course.database, exercises) as book:
            grader.record(some[0])  # what is done once
            spent.clear()
            before = processor_time(resource.RUSAGE_SELF), processor_time(resource.RUSAGE_CHILDREN)
            wall, verdicts = time.perf_counter(), []
            for job in some[1:]:
                record = timed("all", grader.record)(job)
                spent["tests"] = spent.get("tests", 0.0) + sum(test.seconds for test in record.verdict.tests)
                record = timed("record", lambda record: read_record_line(record_line(record)))(record)
                timed("record", write_record)(kept_at(course, record), record)
                verdicts.append((record.student, record.verdict))
            timed("gradebook", book.write_many)(verdicts)
            wall = time.perf_counter() - wall
            own = processor_time(resource.RUSAGE_SELF) - before[0]
            judges = processor_time(resource.RUSAGE_CHILDREN)
        students = processor_time(resource.RUSAGE_CHILDREN) - judges
        return wall, {"worker": own, "judges": judges - before[1], "students and what they are forked from": students}

    _, started = grade_all(jobs[:1])
    wall, used = grade_all(jobs)
    jobs.pop()
    each = {name: 1000 * seconds / len(jobs) for name, seconds in spent.items()}
    cells = each["run"] - each["spawn"] - each["end"] - each["tests"]
    rest = each["all"] - each["read"] - each["rebuild"] - each["run"]
    parts = {"read": each["read"], "rebuild": each["rebuild"], "spawn (two processes)": each["spawn"]}
    parts |= {"cells, hidden parts, the judge's fork": cells, "tests": each["tests"], "end of the two": each["end"]}
    parts |= {"the rest of the verdict": rest, "record, line and file": each["record"], "gradebook": each["gradebook"]}
    for name, milliseconds in parts.items():
        print(f"{name:38} {milliseconds:7.2f} ms")
    print(f"{'wall':38} {1000 * wall / len(jobs):7.2f} ms\nprocessor time, what is done once left out:")
    for name, seconds in used.items():
        print(f"{name:38} {1000 * (seconds - started[name]) / len(jobs):7.2f} ms")
    print(f"{'all':38} {1000 * (sum(used.values()) - sum(started.values())) / len(jobs):7.2f} ms")


def processor_time(who: int) -> float:
    """Processor seconds of this process, or of those that it has waited for."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def cluster(folder: Path, sizes: dict[str, int]) -> None:
    """The same class by the pool and through a cluster."""
    from distributed import LocalCluster

    course = make_class(folder, sizes["cluster"])
    twin = course.submitted / "twin" / "six" / "six.ipynb"
    twin.parent.mkdir(parents=True)
    shutil.copyfile(course.submitted / "s00000" / "six" / "six.ipynb", twin)
    _, here = grade(course)
    from_pool = records_of(course)
    shutil.rmtree(course.build)
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as made:
        outcome, there = grade(course, cluster_at(made.scheduler_address))
    from_cluster = records_of(course)
    assert outcome.reused == 0
    assert from_cluster == from_pool, "the records differ"
    print(
        f"{len(from_pool)} records are identical, two of them of equal files; pool {here:.1f} s, cluster {there:.1f} s"
    )


def records_of(course: Course) -> dict[str, Any]:
    """Every record as it lies on the disk, timings aside."""
    paths = sorted((course.build / "records").rglob("*.json"))
    return {path.parts[-3]: without_timings(json.loads(path.read_bytes())) for path in paths}


def alone(part: str, sizes: dict[str, int]) -> None:
    """One part in a process and a folder of its own."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="class-") as folder:
        print(f"\n== {part}", flush=True)
        process = context.Process(target=globals()[part], args=(Path(folder).resolve(), sizes))
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit(1)


def main() -> int:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small numbers")
    parser.add_argument("--part", action="append", choices=PARTS, help="this part (again for more); default: all")
    given = parser.parse_args()
    print(versions(("nbgrader", "numpy", "distributed", "SQLAlchemy")))
    print(f"load at the start: {os.getloadavg()[0]:.1f}")
    for part in given.part or PARTS:
        alone(part, QUICK if given.quick else SIZES)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
