"""Which of the long tests a run takes: none by default, all in full, a seeded sample under CI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ALWAYS, sample

CONFTEST = Path(__file__).with_name("conftest.py")
LONG = f"""
import pytest

@pytest.mark.slow
@pytest.mark.parametrize("n", range(5))
def test_long(n): pass

@pytest.mark.slow
def {ALWAYS}(): pass

def test_short(): pass
"""


def run(folder: Path, **settings: str) -> str:
    """pytest's own output over a file with five long tests, the whole-book one and a short one."""
    (folder / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "test_it.py").write_text(LONG, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow\n", encoding="utf-8")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("RAGKIT_", "PYTEST_"))} | settings
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(folder)]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False).stdout


def test_by_default_long_tests_are_skipped_and_counted(tmp_path: Path) -> None:
    assert "1 passed, 6 skipped" in run(tmp_path)


def test_a_full_run_takes_all(tmp_path: Path) -> None:
    assert "7 passed" in run(tmp_path, RAGKIT_FULL="1")


def test_ci_takes_the_book_and_a_sample_and_prints_which(tmp_path: Path) -> None:
    out = run(tmp_path, RAGKIT_REQUIRE_ALL="1", RAGKIT_SAMPLE_SEED="7")
    assert "4 passed, 3 skipped" in out
    line = next(line for line in out.splitlines() if line.startswith("long tests sampled"))
    assert "RAGKIT_SAMPLE_SEED=7" in line
    assert ALWAYS in line
    assert line.count("test_long[") == 2


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_one_seed_is_one_sample_in_any_order(seed: int) -> None:
    names = [f"t{i}" for i in range(9)]
    assert sample(names, seed) == sample(names[::-1], seed)
    assert len(sample(names, seed)) == 2
