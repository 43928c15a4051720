"""nbgrader's own commands with this grader inside: `nbgrader autograde`, formgrader's button, `generate_feedback`.

Three lines in a course's nbgrader_config.py:

    from grading.bridge import install
    c = get_config()
    install(c)

rebuilt.py    the notebook for people to look at: the instructor's cells with the student's answers
exporter.py   reads what was handed in, however it is encoded, and gives nbgrader the rebuilt notebook
records.py    has submissions judged, and keeps the records
reaching.py   what nbgrader says about a course, in this package's terms
judging.py    takes the verdict, and writes down for each test what nbgrader reads a score from
tidy.py       files that nbgrader would not see, renamed

What runs is what `python -m grading grade` runs, and the marks are the same. What the button does not reach:

* a file of another name than the notebook's (`ps1 (1).ipynb`, `PS1.ipynb`), a plain Python file, a folder too deep:
  nbgrader looks for the exact name. `python -m grading tidy` renames them; `grading grade` finds them as they are.
* a student whose id has one of the characters `*`, `?`, `[`: nbgrader takes ids for patterns.
* a folder with a link or a device in it is refused with a reason: nbgrader copies what lies beside a notebook.

nbgrader grades one submission after another, so a class is `grading grade`'s work; the button is for one student.
"""

from __future__ import annotations

from typing import Any


def install(config: Any) -> None:
    """Have nbgrader grade with this package. `config` is what `get_config()` gives in nbgrader_config.py."""
    config.Autograde.exporter_class = "grading.bridge.exporter.RebuildingExporter"
    config.Autograde.sanitize_preprocessors = []
    config.Autograde.autograde_preprocessors = [
        "grading.bridge.judging.JudgeInstead",
        "grading.bridge.judging.SaveVerdict",
        "nbgrader.preprocessors.AssignLatePenalties",
    ]
