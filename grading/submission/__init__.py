"""What a student handed in: read with care, and set into the instructor's notebook.

reading.py     a file's cells, or why there are none
matching.py    which of a student's cells answers which question
rebuilding.py  the notebook that runs: the instructor's cells with the student's answers
imports.py     imports that an exercise forbids
"""

from grading.submission.imports import forbidden_imports
from grading.submission.reading import StudentCell, Submission, UnreadableError, decode, read, read_bytes
from grading.submission.rebuilding import Paper, rebuild

__all__ = [
    "Paper",
    "StudentCell",
    "Submission",
    "UnreadableError",
    "decode",
    "forbidden_imports",
    "read",
    "read_bytes",
    "rebuild",
]
