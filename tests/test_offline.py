"""After set-up no command of the project reaches another machine: the commands run with the network taken away.

bubblewrap gives each command a network namespace that holds nothing but loopback, so a request that would leave the
machine fails at once and so does the command. The whole book is built this way too (``test_book_build.py``).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import need_bubblewrap, without_network

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.sandbox

REACH_OUT = """
import socket, sys
try:
    socket.create_connection(("192.0.2.1", 80), timeout=3)  # TEST-NET-1: nobody's address
except OSError as error:
    sys.exit(0 if "unreachable" in str(error) else f"not cut off: {error}")
sys.exit("a connection left the machine")
"""

EMBED = """
from ragkit.models import embedder
vectors = embedder(cache=False)(["Which kettle is blue?", "The blue kettle."])
assert vectors.shape == (2, 384), vectors.shape
"""

GENERATE = """
from ragkit.models import load
assert load()("Say hello.").strip()
"""


def run(command: list[str], tmp_path: Path) -> subprocess.CompletedProcess[str]:
    need_bubblewrap()
    return subprocess.run(
        without_network(command),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "RAGKIT_CACHE": str(tmp_path / "cache")},
    )


def test_the_network_is_really_gone(tmp_path: Path) -> None:
    done = run([sys.executable, "-c", REACH_OUT], tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("program", [EMBED, pytest.param(GENERATE, marks=pytest.mark.model)], ids=["embed", "generate"])
def test_models_run_without_a_network(program: str, tmp_path: Path) -> None:
    done = run([sys.executable, "-c", program], tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]


def test_the_corpus_checker_runs_without_a_network(tmp_path: Path) -> None:
    done = run([sys.executable, "-m", "ragkit.corpus", "check"], tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_an_answer_is_graded_without_a_network(tmp_path: Path) -> None:
    answer = next((ROOT / "tests" / "submissions" / "interleave").glob("right_*.py"))
    copy = tmp_path / "answer.py"
    shutil.copy(answer, copy)
    done = run([sys.executable, "-m", "grading", "check", "interleave", str(copy)], tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
