"""The prompts that the course's chapters send to a model, so that each recorded answer can be checked and made again.

Each module of this folder belongs to one chapter or one technique and exports ``TASKS``: task name -> a function that
yields ``(item, prompt)`` pairs, built by the package's own prompt functions. ``TASKS`` here is their union. It serves
``python -m ragkit.corpus check``, which fails on a record that matches no prompt any more, and
``python -m ragkit.models.recording rerecord --tasks ragkit.recorded:TASKS``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable

Prompts = Callable[[], Iterable[tuple[str, str]]]


def _collect() -> dict[str, Prompts]:
    """The tasks of every module of this folder; one name claimed by two modules is an error."""
    tasks: dict[str, Prompts] = {}
    for found in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        for name, prompts in importlib.import_module(f"{__name__}.{found}").TASKS.items():
            if name in tasks:
                raise ValueError(f"the task {name!r} is defined twice, the second time in {__name__}.{found}")
            tasks[name] = prompts
    return tasks


TASKS: dict[str, Prompts] = _collect()
