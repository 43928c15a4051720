"""nbgrader's own tables. Importing nbgrader imports nearly all of Jupyter, and with it a grammar of internet addresses
that takes seconds to build and that nothing here asks for: that one is left out."""

from __future__ import annotations

import contextlib
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


with _without("rfc3987_syntax"):
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
]
