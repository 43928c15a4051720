"""A class on a Dask cluster: the same records, a turn for every submission, and what happens when a machine is lost."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from grading import scheduling
from grading.__main__ import main
from grading.classroom import grade_class
from grading.course import Course
from grading.engines import cluster_at, pool_of
from grading.jobs import Job, without_timings
from grading.scheduling import Cluster
from tests.grading_tiny import BOX_ONLY, FAST, make_course, notebook, solved, write_notebook
from tests.test_grading_pool import ACTOR, jobs

distributed = pytest.importorskip("distributed")
QUIET = Console(file=io.StringIO())
COMMAND = [sys.executable, "-S", "-c", ACTOR]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers, each a process with one thread, and nothing on the network but loopback."""
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**settings, silence_logs=50) as made:
        yield made


def a_class(root: Path) -> Course:
    """Two students with the very same bytes, and others."""
    course = make_course(root)
    work = {
        "ann": solved(),
        "bob": solved(),
        "cyd": solved({"total": "def total(numbers):\n    return 0", "Box": BOX_ONLY}),
        "zoë, o'hara": solved({"total": "import os\nos._exit(3)", "Box": BOX_ONLY}),
        "blank": solved({}),
    }
    for student, cells in work.items():
        write_notebook(course.submitted / student / "tiny" / "tiny.ipynb", notebook(cells))
    return course


def records_of(course: Course) -> dict[str, Any]:
    """Every record as it lies on the disk, timings aside."""
    folder = course.build / "records"
    paths = sorted(folder.rglob("*.json"))
    return {str(path.relative_to(folder)): without_timings(json.loads(path.read_bytes())) for path in paths}


def test_a_cluster_gives_the_records_of_the_pool_and_grades_equal_files_one_by_one(cluster: Any, tmp_path: Path):
    course = a_class(tmp_path)
    ann, bob = (course.submitted / student / "tiny" / "tiny.ipynb" for student in ("ann", "bob"))
    assert ann.read_bytes() == bob.read_bytes()
    here = grade_class(course, limits=FAST, console=QUIET, engine=pool_of(1))
    from_pool = records_of(course)
    shutil.rmtree(course.build)
    there = grade_class(course, limits=FAST, console=QUIET, engine=cluster_at(cluster.scheduler_address))
    assert there.reused == here.reused == 0
    assert records_of(course) == from_pool
    assert len(from_pool) == 5
    assert there.marks == here.marks
    assert here.marks["ann", "tiny"] == here.marks["bob", "tiny"] == 10


def test_command_takes_a_scheduler(cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    a_class(tmp_path)
    assert main(["grade", "--course", str(tmp_path), "--scheduler", cluster.scheduler_address]) == 0
    assert "5 submissions of 5 students" in capsys.readouterr().out


def test_no_key_holds_content_and_none_comes_twice(cluster: Any, monkeypatch: pytest.MonkeyPatch):
    """Two runs at once on one cluster, with the same students, must not get each other's answers."""
    keys: list[str] = []
    real = distributed.Client.submit

    def submit(self: Any, *given: Any, key: str, pure: bool, **more: Any) -> Any:
        keys.append(key)
        assert not pure
        return real(self, *given, key=key, pure=pure, **more)

    monkeypatch.setattr(distributed.Client, "submit", submit)
    monkeypatch.setattr(scheduling, "CHUNK", 1)
    for _ in range(2):
        with Cluster(cluster.scheduler_address, COMMAND, 30) as workers:
            same = [Job("ok", "tiny", "tiny", "/x/same")] * 3
            assert len(list(workers.run(same))) == 3
    assert len(keys) == len(set(keys)) == 6
    assert all("ok-tiny" in key and "/x/same" not in key for key in keys)


def test_chunks_are_answered_as_they_are_done(cluster: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scheduling, "CHUNK", 1)
    with Cluster(cluster.scheduler_address, COMMAND, 5) as workers:
        order = [answer.job.student for answer in workers.run(jobs("hang", "ok", "ok"))]
    assert order[-1] == "hang 0"


def test_deadly_job_costs_itself_alone(cluster: Any):
    with Cluster(cluster.scheduler_address, COMMAND, 30) as workers:
        found = {answer.job.student: answer for answer in workers.run(jobs("ok", "die", *["ok"] * 6))}
    assert len(found) == 8
    assert "signal 9" in found["die 1"].fault
    assert [name for name, answer in found.items() if not answer.line] == ["die 1"]


def test_machine_that_is_lost_costs_nobody_an_answer(cluster: Any, tmp_path: Path):
    """The worker of the cluster is killed under its chunk, once; the chunk is answered by another."""
    killer = f"""
import os, signal, sys
for line in sys.stdin:
    if not os.path.exists({str(tmp_path / "killed")!r}):
        open({str(tmp_path / "killed")!r}, "w").close()
        os.kill(os.getppid(), signal.SIGKILL)
    print("fine", flush=True)
"""
    with Cluster(cluster.scheduler_address, [sys.executable, "-S", "-c", killer], 30) as workers:
        found = list(workers.run(jobs("a", "b", "c")))
    assert (tmp_path / "killed").is_file()
    assert sorted(answer.job.student for answer in found) == ["a 0", "b 1", "c 2"]
    assert {answer.line for answer in found} == {"fine"}


def test_chunk_that_fails_as_a_whole_goes_out_again_job_by_job(cluster: Any, monkeypatch: pytest.MonkeyPatch):
    def refuse(lines: list[str], command: list[str], patience: float) -> list[tuple[str, str, str]]:
        if any("bad" in line for line in lines):
            raise OSError("no more disk")
        return [(line, "fine", "") for line in lines]

    refuse.__module__ = "__main__"  # so that it travels by value
    monkeypatch.setattr(scheduling, "run_chunk", refuse)
    monkeypatch.setattr(scheduling, "RETRIES", 0)
    monkeypatch.setattr(scheduling, "CHUNKS_A_THREAD", 1)
    with Cluster(cluster.scheduler_address, COMMAND, 30) as workers:
        found = {answer.job.student: answer for answer in workers.run(jobs("ok", "bad", "ok", "ok"))}
    assert found["bad 1"].fault == "OSError: no more disk"
    assert len(found) == 4
    assert all(answer.line == "fine" for name, answer in found.items() if name != "bad 1")


def test_worker_that_refuses_there_is_quoted(cluster: Any):
    text = "import sys; print('python -m grading: no sandbox', file=sys.stderr); sys.exit(2)"
    with (
        Cluster(cluster.scheduler_address, [sys.executable, "-c", text], 5) as workers,
        pytest.raises(ValueError, match=r"^no sandbox$"),
    ):
        list(workers.run(jobs("ok")))


def test_scheduler_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    a_class(tmp_path)
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "500ms"}):
        assert main(["grade", "--course", str(tmp_path), "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "scheduler: none answers at tcp://127.0.0.1:9" in capsys.readouterr().err


def test_without_dask_the_package_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match="scheduler: needs the package distributed"):
        Cluster("tcp://127.0.0.1:9", COMMAND, 1)


def test_dask_is_not_imported_by_who_does_not_use_it():
    text = "import sys, grading.classroom, grading.scheduling; sys.exit('distributed' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0
