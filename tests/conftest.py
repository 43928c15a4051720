"""Fixtures for every test file, and which of the long tests run.

A test marked ``slow`` takes minutes. ``make test`` leaves it out and says so, ``make test-full`` (``RAGKIT_FULL=1``)
runs all of them, and CI (``RAGKIT_REQUIRE_ALL=1``) runs a seeded sample and prints which. The cold build of the whole
book is in every sample. One marked ``full`` takes longer still and is left to ``make test-full``: other tests run a
seeded sample of what it does. ``RAGKIT_SAMPLE_SEED`` repeats a sample; it is the day's number otherwise.
"""

import datetime
import os
import random
from pathlib import Path

import pytest

# Answers that students might hand in, two of one name among them, and an instructor's course: data for the graders'
# tests, and no modules of ours. Collected for doctests they would be imported, and stay for tests that import them.
collect_ignore = ["submissions", "hostile/course"]

SAMPLE = 2
ALWAYS = "test_the_whole_book_builds_cold_and_without_a_network"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of benchmark files; tests that need it skip where it is absent."""
    named = os.environ.get("RAGKIT_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[1].parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no benchmark data at {folder} (set RAGKIT_DATA)")
    return folder


def sample(names: list[str], seed: int, size: int = SAMPLE) -> set[str]:
    """The long tests that CI runs: those of ``ALWAYS`` and ``size`` of the others, the same for one seed.

    >>> sorted(sample(["a", "b", "c"], seed=1)) == sorted(sample(["c", "b", "a"], seed=1))
    True
    """
    fixed = {name for name in names if ALWAYS in name}
    rest = sorted(set(names) - fixed)
    return fixed | set(random.Random(seed).sample(rest, min(size, len(rest))))


def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed once, so that every worker of one run has the same."""
    os.environ.setdefault("RAGKIT_SAMPLE_SEED", str(datetime.date.today().toordinal()))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the long tests that this run leaves out, each with its reason."""
    if os.environ.get("RAGKIT_FULL") == "1":
        return
    whole = [item for item in items if item.get_closest_marker("full")]
    long = [item for item in items if item.get_closest_marker("slow") and item not in whole]
    chosen: set[str] = set()
    if os.environ.get("RAGKIT_REQUIRE_ALL") == "1":
        chosen = sample([item.nodeid for item in long], int(os.environ["RAGKIT_SAMPLE_SEED"]))
    for item in (*whole, *long):
        if item.nodeid not in chosen:
            item.add_marker(pytest.mark.skip(reason="takes minutes: make test-full runs it, CI a sample"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say which of the long tests were in the sample."""
    if os.environ.get("RAGKIT_REQUIRE_ALL") == "1" and os.environ.get("RAGKIT_FULL") != "1":
        seed = os.environ["RAGKIT_SAMPLE_SEED"]
        reports = [r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, [])]
        ran = sorted({r.nodeid for r in reports if "slow" in r.keywords and r.when == "call"})
        terminalreporter.write_line(f"long tests sampled with RAGKIT_SAMPLE_SEED={seed}: {', '.join(ran) or 'none'}")
