"""When something was handed in, and what being late costs: nbgrader's own answers to both.

The time is in the `timestamp.txt` that nbgrader's exchange writes beside a notebook. The penalty is that of the plugin
which nbgrader_config.py names, by default none. Only where somebody is late is that file run, as nbgrader runs it: the
plugin is a class of the instructor's, which may stand in it.
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from grading.submission.opening import AbsentError, UnreadableError, read_bytes

STAMP = "timestamp.txt"
LONGEST = 200  # bytes of a time


def submitted_at(folder: Path, root: Path | None = None) -> tuple[datetime | None, str]:
    """When an assignment was handed in, in UTC, None where that is not known; and what is wrong with the file that
    should say so, "" where nothing is. No step below `root` may be a link."""
    from grading.gradebook.tables import parse_utc

    path = folder / STAMP
    try:
        data = read_bytes(path, root)
    except AbsentError:
        return None, ""
    except UnreadableError as problem:
        return None, f"{path}: {problem} No time of submission is known."
    try:
        if len(data) > LONGEST:
            raise ValueError("it is too long")
        time: datetime = parse_utc(data.decode("utf-8-sig").strip())
    except Exception:  # the parser raises what it likes
        return None, f"{path}: holds no time that can be read. No time of submission is known."
    return time, ""


class Penalty:
    """What being late costs, by nbgrader's `AssignLatePenalties` as a course's nbgrader_config.py sets it up."""

    def __init__(self, config: Path) -> None:
        self.config = config
        self._assigner: Any = None

    def __call__(self, student: str, score: float, seconds: float) -> float | None:
        """The points that a notebook of `score` loses for so many seconds, None for no penalty.

        Raises `ValueError` that names the setting when the plugin cannot be had or fails.
        """
        try:
            if self._assigner is None:
                self._assigner = self._made()
            lost = self._assigner.plugin_inst.late_submission_penalty(student, score, seconds)
            if lost is None:
                return None
            return float(self._assigner._check_late_penalty(SimpleNamespace(score=score), lost))
        except Exception as problem:
            said = f"{type(problem).__name__}: {problem}"
            raise ValueError(
                f"AssignLatePenalties.plugin_class: no penalty of {student} could be had ({said})"
            ) from None

    def _made(self) -> Any:
        from nbgrader.preprocessors import AssignLatePenalties  # imports nearly all of Jupyter
        from traitlets.config import Config
        from traitlets.config.loader import PyFileConfigLoader

        sys.path.insert(0, str(self.config.parent))
        try:
            loader = PyFileConfigLoader(self.config.name, str(self.config.parent))
            found = loader.load_config() if self.config.is_file() else Config()
            made = AssignLatePenalties(config=found)
            made.init_plugin()
            return made
        finally:
            sys.path.remove(str(self.config.parent))
