"""Starts a run of the corpus in a process and a folder of its own, with a copy of the grader, and reads the results.

The grader is copied so that what a program does to it harms nobody, and so that a test can change the copy first.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.hostile.cases import CANARIES, VARIABLE
from tests.hostile.results import Result

ROOT = Path(__file__).resolve().parents[2]
NO_SANDBOX = 3


class NoSandboxError(RuntimeError):
    """Hostile programs cannot be run on this machine; the text says why."""


def copy_grader(folder: Path, grader: Path = ROOT / "grading") -> Path:
    """A copy of the grader's package in a folder; gives the copy's path."""
    return Path(shutil.copytree(grader, folder / "grading", ignore=shutil.ignore_patterns("__pycache__")))


def launch(
    names: Sequence[str],
    *,
    change: Callable[[Path], None] | None = None,
    grader: Path = ROOT / "grading",
    pin: bool = True,
    fresh: bool = False,
    size: int = 40,
    seconds: float = 3600,
) -> list[Result]:
    """Grade cases by name (none: all) and give a result for each case and control.

    Args:
        change: does something to the grader's copy before it is used.
        grader: the package to copy.
        pin: grade the members of a class in which something is wrong again, each alone.
        fresh: grade no class beforehand: quicker for a few, and no rows of the gradebook are compared.
        size: how many are graded side by side at most.

    Raises `NoSandboxError` where the cases are hostile and nothing would hold them, `RuntimeError` when the run itself
    failed.
    """
    with tempfile.TemporaryDirectory(prefix="corpus-", ignore_cleanup_errors=True) as place:
        home = Path(place)
        copied = copy_grader(home / "grader", grader)
        if change is not None:
            change(copied)
        for name in ("tmp", "work"):
            (home / name).mkdir()
        environment = {
            **os.environ,
            "PYTHONPATH": f"{copied.parent}{os.pathsep}{ROOT}",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "TMPDIR": str(home / "tmp"),
            "OMP_NUM_THREADS": "1",
            VARIABLE: CANARIES["variable"],
        }
        out = home / "results"
        command = [sys.executable, "-m", "tests.hostile.running", "--out", str(out), "--folder", str(home / "work")]
        options = ["--size", str(size), *([] if pin else ["--as-they-are"]), *(["--fresh"] if fresh else [])]
        done = subprocess.run(
            [*command, *options, "--", *names],
            cwd=home,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
        if done.returncode == NO_SANDBOX:
            raise NoSandboxError(done.stderr.strip())
        if done.returncode:
            raise RuntimeError(f"the run ended with status {done.returncode}: {done.stderr[-3000:]}")
        lines = out.read_text(encoding="utf-8").splitlines()
        return [Result(**{**data, "faults": tuple(data["faults"])}) for data in map(json.loads, lines)]
