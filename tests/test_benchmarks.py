"""The speed benchmarks run, their sides agree, and what they measure with measures what it says."""

from __future__ import annotations

import csv
import importlib.util
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"
pytest.importorskip("resource")

# Script -> the tasks of its table.
TASKS = {
    "speed_bm25": {"index", "top 10"},
    "speed_pagerank": {"one seed set", "batch of 64"},
    "speed_fusion": {"RRF of 5 lists", "RRF of 5 lists, batch"},
    "speed_topk": {"index", "top 10"},
    "speed_cache": {"lookup", "guarded lookup"},
    "speed_graph": {"count pairs", "components", "communities"},
    "speed_text": {"windows of 100 words", "sentences to 128 pieces", "tokenize", "index from text"},
}
# On a busy machine these take more than five seconds: they import PyTorch, or have many rows.
SLOW = {"speed_fusion", "speed_topk", "speed_cache", "speed_graph", "speed_text", "speed_pagerank"}


def script(name: str) -> ModuleType:
    """A file of ``benchmarks/``, which is no package."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def shared() -> ModuleType:
    return script("_measure")


def test_every_speed_script_is_listed_here() -> None:
    assert {path.stem for path in FOLDER.glob("speed_*.py")} == set(TASKS)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in TASKS]
)
def test_a_small_run_ends_well_and_has_every_task_at_two_sizes(name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py"), "--small", "--repeats", "1"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("task "))
    rows = [re.split(r" {2,}", line) for line in lines[start + 1 :]]
    assert {row[0] for row in rows} == TASKS[name]
    for task in TASKS[name]:
        assert len({row[1] for row in rows if row[0] == task}) == 2, "two sizes, so that growth shows"
    assert sum("(size x" in row[-1] for row in rows) == len(rows) / 2
    assert any(not row[2].startswith("ragkit") for row in rows) or "is not installed" in done.stdout


def test_memory_is_what_the_work_adds_and_not_what_was_there(shared: ModuleType) -> None:
    held = np.ones(25_000_000)  # 200 MB that every fork has from the start
    grown, card = shared.peak(lambda: np.ones(12_500_000).sum())
    assert 80 < grown < 160
    assert card == 0
    assert shared.peak(lambda: held.sum())[0] < 40


def test_the_median_is_taken_and_a_side_is_counted_by_its_amount(shared: ModuleType) -> None:
    sides = [shared.Side("ours", lambda: time.sleep(0.02), 2), shared.Side("theirs", lambda: time.sleep(0.02))]
    rows = shared.measure(lambda size: [shared.Task("sleep", "nap", sides, lambda: None)], 1, repeats=3)
    assert [row.runs for row in rows] == [3, 3]
    assert rows[0].seconds >= 0.01
    assert rows[1].seconds >= 0.02
    assert rows[1].ratio == pytest.approx(rows[0].seconds / rows[1].seconds)
    assert np.isnan(rows[0].ratio)


def test_nothing_is_timed_if_the_results_differ(shared: ModuleType) -> None:
    calls: list[int] = []

    def disagree() -> None:
        raise AssertionError("7 is not 8")

    task = shared.Task("sum", "sum", [shared.Side("ours", lambda: calls.append(1))], disagree)
    with pytest.raises(AssertionError, match="7 is not 8"):
        shared.measure(lambda size: [task], 1)
    assert not calls, "the memory run is in a fork; here nothing ran"
    with pytest.raises(RuntimeError, match="7 is not 8"):
        shared.in_fork(disagree)


def test_a_slow_side_is_timed_once(shared: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "PATIENCE", 0.01)
    spent = shared.timed([shared.Side("slow", lambda: time.sleep(0.02)), shared.Side("quick", lambda: None)], 4)
    assert [len(times) for times in spent] == [1, 4]


def test_a_missing_peer_is_said(shared: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert not shared.installed("a_module_that_nobody_has")
    assert "a_module_that_nobody_has is not installed: its rows are left out" in capsys.readouterr().out
    assert shared.installed("numpy")


def test_words_follow_zipfs_law(shared: ModuleType) -> None:
    """Probability proportional to 1 / (rank + 2.7): rank 0 comes (10 + 2.7) / 2.7 times as often as rank 10."""
    counts = np.bincount(shared.zipf_ranks(400_000, 1_000, seed=1), minlength=1_000)
    assert len(counts) == 1_000
    assert counts[0] / counts[10] == pytest.approx(12.7 / 2.7, rel=0.05)
    assert counts[100:200].sum() / counts[500:600].sum() == pytest.approx(
        np.log(202.7 / 102.7) / np.log(602.7 / 502.7), rel=0.05
    )
    assert len({shared.word(rank) for rank in range(20_000)}) == 20_000
    passages = shared.zipf_passages(200, words=30)
    assert passages == shared.zipf_passages(200, words=30)
    assert np.median([len(passage) for passage in passages]) == pytest.approx(30, abs=5)


@pytest.fixture(scope="module")
def book_build() -> ModuleType:
    return script("book_build")


def test_no_schedule_beats_the_floor_of_a_build(book_build: ModuleType) -> None:
    """Every way to share five pages between two workers takes at least that long."""
    cells = [7.0, 3.0, 2.0, 2.0, 1.0]
    shares = [sum(c for bit, c in enumerate(cells) if way >> bit & 1) for way in range(2 ** len(cells))]
    best = min(max(share, sum(cells) - share) for share in shares)
    assert book_build.floor(cells, 2) <= best
    assert book_build.floor(cells, 2) == 7.5
    assert book_build.floor([9.0, 1.0], 2) == 9.0


def test_a_copy_to_build_holds_what_git_would_and_no_build(book_build: ModuleType, tmp_path: Path) -> None:
    root, to = tmp_path / "root", tmp_path / "to"
    (root / "sub").mkdir(parents=True)
    for name, text in {"known": "1", "sub/new": "2", "built": "3", ".gitignore": "built\n"}.items():
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "add", "known"], check=True)
    book_build.copy(root, to)
    found = {path.relative_to(to).as_posix(): path.read_text() for path in to.rglob("*") if path.is_file()}
    assert found == {"known": "1", "sub/new": "2", ".gitignore": "built\n"}


def test_the_kept_table_of_the_build_has_the_columns_and_a_date(book_build: ModuleType) -> None:
    with book_build.KEPT.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert tuple(rows[0]) == book_build.Row._fields
    assert all(len(row) == len(rows[0]) for row in rows)
    assert re.match(r"\d{4}-\d{2}-\d{2}: ", {row[0]: row[1] for row in rows}["measured on"])
