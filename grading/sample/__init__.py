"""The sample class: notebooks of invented students, made from the released exercises, with the damage real ones have.

class.toml   the students, what each handed in, and the mark it must get
answers/     answers that are nowhere else
pupils.py    reads class.toml
handing.py   makes the notebooks, anew each time, so that they always fit the exercises
damage.py    what was done to a notebook besides
"""

from grading.sample.damage import BYTES, DAMAGE
from grading.sample.handing import make_class
from grading.sample.pupils import CLASS, Pupil, Work, expected_marks, read_class

__all__ = ["BYTES", "CLASS", "DAMAGE", "Pupil", "Work", "expected_marks", "make_class", "read_class"]
