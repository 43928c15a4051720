"""What the grading process loads once, so that no judging process has to: modules, and cells compiled."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from grading.running.late import late_parts
from grading.running.plan import Plan
from grading.running.preparing import prepared, prepared_setup

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
tried: set[str] = set()


def prepare(plan: Plan) -> None:
    """Compile the instructor's cells, and import what they do, but for what lies beside the notebook."""
    modules: set[str] = set()
    for cell in plan.cells:
        if cell.kind == "test" and (whole := prepared(cell).whole) is not None:
            modules |= whole.modules
        elif cell.kind == "setup":
            modules.update(*(code.modules for code in prepared_setup(cell)))
    modules -= {Path(file).stem for file in plan.files}
    texts = (cell.source for cell in plan.cells if cell.kind in ("setup", "test"))
    import_all(modules | late_parts(modules, texts))


def import_all(modules: Iterable[str]) -> None:
    """Import modules that are installed. One that cannot be imported is a test's to report."""
    for name in sorted(set(modules) - tried):
        tried.add(name)
        with one_thread(), contextlib.suppress(Exception):
            importlib.import_module(name)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Libraries that are loaded meanwhile start no threads: a process with threads forks badly."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
