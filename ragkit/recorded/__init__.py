"""The prompts that the course's chapters send to a model, so that each recorded answer can be checked and made again.

Each module of this folder belongs to one chapter or one technique and exports ``TASKS``: task name -> a function that
yields ``(item, prompt)`` pairs, built by the package's own prompt functions. A chapter that needs more than a file has
a folder, whose ``__init__`` exports them. ``TASKS`` here is their union. It serves
``python -m ragkit.corpus check``, which fails on a record that matches no prompt any more, and
``python -m ragkit.models.recording rerecord --tasks ragkit.recorded:TASKS``.

Names are read from the sources, and a module is imported when one of its tasks is asked for, so that a mistake in one
chapter's module leaves the others at work. For that ``TASKS`` of a module must be written as a dictionary with its
names in quotation marks. A module may also export ``SETTINGS``: task name -> `Settings`, how long an answer may get and
how it is asked for.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from ragkit.models.recording_tasks import Settings

Prompts: TypeAlias = Callable[[], Iterable[tuple[str, str]]]


class Tasks(Mapping[str, Prompts]):
    """The tasks of every module of a package, in the order of modules and then of names.

    ``tasks[name]`` imports the module of that name's task and raises what the import raises; an unknown name is a
    ``KeyError``. Looking names up, counting them and listing them imports nothing. ``broken`` holds the modules whose
    tasks cannot even be named. A name that two modules claim is a ``ValueError`` at the first look.
    """

    def __init__(self, package: str, folder: Path) -> None:
        self.package, self.folder = package, folder

    @cached_property
    def _index(self) -> tuple[dict[str, str], dict[str, str]]:
        """Task -> module, and broken module -> what is wrong with it."""
        homes: dict[str, str] = {}
        broken: dict[str, str] = {}
        files = [path for path in self.folder.glob("*.py") if not path.stem.startswith("__")]
        found = {path.stem: path for path in files} | {f.parent.name: f for f in self.folder.glob("*/__init__.py")}
        for name, path in sorted(found.items()):
            module = f"{self.package}.{name}"
            try:
                names = task_names(path.read_text(encoding="utf-8"))
            except (SyntaxError, ValueError) as error:
                broken[module] = f"{type(error).__name__}: {error}"
                continue
            for task in names:
                if task in homes:
                    raise ValueError(f"the task {task!r} is defined twice: in {homes[task]} and in {module}")
                homes[task] = module
        return homes, broken

    @property
    def broken(self) -> dict[str, str]:
        """Module -> why its tasks are unknown: it does not parse, or ``TASKS`` is not written out."""
        return dict(self._index[1])

    def module_of(self, task: str) -> str:
        """The dotted name of the module that a task is in."""
        return self._index[0][task]

    def __getitem__(self, task: str) -> Prompts:
        prompts: Prompts = importlib.import_module(self.module_of(task)).TASKS[task]
        return prompts

    def settings(self, task: str) -> Settings:
        """How a model is asked the task: the module's ``SETTINGS`` for it, or the defaults."""
        module = importlib.import_module(self.module_of(task))
        found: Settings = getattr(module, "SETTINGS", {}).get(task, Settings())
        return found

    def __contains__(self, task: object) -> bool:  # a mapping's own asks for the value, which would import
        return task in self._index[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._index[0])

    def __len__(self) -> int:
        return len(self._index[0])


def task_names(source: str) -> list[str]:
    """The names in a module's ``TASKS``, read and not run; a ``ValueError`` where they are not written out.

    >>> task_names('TASKS = {"rewrite": prompts}')
    ['rewrite']
    """
    for node in ast.parse(source).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if not any(isinstance(target, ast.Name) and target.id == "TASKS" for target in targets):
            continue
        value = getattr(node, "value", None)
        keys = [key.value for key in value.keys if isinstance(key, ast.Constant)] if isinstance(value, ast.Dict) else []
        names = [key for key in keys if isinstance(key, str)]
        if not isinstance(value, ast.Dict) or len(names) < len(value.keys):
            raise ValueError("TASKS must be a dictionary with its names written out")
        return names
    raise ValueError("TASKS is missing")


TASKS = Tasks(__name__, Path(__file__).parent)
"""Every task of the course."""
