"""What a student handed in: found, read with care, and set into the instructor's notebook.

naming.py      what a file's name says about which exercise it answers
listing.py     what lies in a folder
picking.py     which file of a folder is meant
opening.py     its bytes, reached by no link
decoding.py    its text, and the parts of its JSON
provenance.py  whether it looks like the instructor's own notebook
reading.py     a file's cells, or why there are none
stubs.py       what was given out, and whether an answer is still that
placing.py     which cell an answer is by where it stands
matching.py    which of a student's cells answers which question
rebuilding.py  the notebook that runs: the instructor's cells with the student's answers
notes.py       what leaving out all but Python has to say, in few words
imports.py     imports that an exercise forbids
"""

from grading.submission.decoding import decode
from grading.submission.imports import forbidden_imports
from grading.submission.opening import UnreadableError, read_bytes
from grading.submission.picking import Pick, pick, pick_all
from grading.submission.provenance import files_of, hidden_parts
from grading.submission.reading import StudentCell, Submission, read
from grading.submission.rebuilding import Paper, rebuild

__all__ = [
    "Paper",
    "Pick",
    "StudentCell",
    "Submission",
    "UnreadableError",
    "decode",
    "files_of",
    "forbidden_imports",
    "hidden_parts",
    "pick",
    "pick_all",
    "read",
    "read_bytes",
    "rebuild",
]
