"""nbgrader's own tables, and nothing else of nbgrader's.

Importing the package imports nearly all of Jupyter, for the extensions of its server; importing its tables imports
what validates notebooks, and a grammar of internet addresses that takes seconds to build. Nothing here asks for any.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def _without(module: str) -> Iterator[None]:
    """Makes an import fail for a while; for one that its user can do without."""
    known = module in sys.modules
    if not known:
        sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if not known:
            del sys.modules[module]


@contextlib.contextmanager
def _bare(package: str) -> Iterator[None]:
    """Makes modules of a package importable without running its `__init__`, which is left to who imports it later."""
    spec = None if package in sys.modules else importlib.util.find_spec(package)
    if spec is not None:
        sys.modules[package] = importlib.util.module_from_spec(spec)
    try:
        yield
    finally:
        if spec is not None:
            del sys.modules[package]


with _without("rfc3987_syntax"), _bare("nbgrader"), _bare("nbformat"):
    from nbgrader.api import (
        Assignment,
        Base,
        BaseCell,
        Comment,
        Course,
        Grade,
        GradeCell,
        Notebook,
        SolutionCell,
        SourceCell,
        Student,
        SubmittedAssignment,
        SubmittedNotebook,
        TaskCell,
        new_uuid,
    )
    from nbgrader.dbutil import ALEMBIC_DIR
    from nbgrader.utils import parse_utc

__all__ = [
    "ALEMBIC_DIR",
    "Assignment",
    "Base",
    "BaseCell",
    "Comment",
    "Course",
    "Grade",
    "GradeCell",
    "Notebook",
    "SolutionCell",
    "SourceCell",
    "Student",
    "SubmittedAssignment",
    "SubmittedNotebook",
    "TaskCell",
    "new_uuid",
    "parse_utc",
]
