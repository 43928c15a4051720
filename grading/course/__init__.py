"""The instructor's side of a course. Points, tests and metadata come from here and never from a submission.

notebook.py   nbgrader's notebook format: labels, stubs, hidden parts
exercise.py   one notebook, as the grader needs it
folders.py    where a course keeps things
withdrawn.py  hidden parts that its tests had before
settings.py   what its nbgrader_config.py sets that grading does not follow
release.py    the released exercises, made from the solutions
"""

from grading.course.exercise import Exercise, SourceCell, read_exercise
from grading.course.folders import Course, open_course

__all__ = ["Course", "Exercise", "SourceCell", "open_course", "read_exercise"]
