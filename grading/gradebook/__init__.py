"""The one writer into nbgrader's gradebook.

It writes every cell of the source, so a test that a submission lost is an explicit zero, and it writes every test's
score anew each time, so none survives from an earlier hand-in. A mark that a person has given is left alone; one that
was given for an earlier hand-in is flagged for review, where nbgrader itself flags every one. A student whose file is
gone loses the entry.

Rows are those that nbgrader's own API would write, a thousand submissions a transaction: the file holds whole chunks
whenever it is read, and grading again completes what an interruption left out.

tables.py       nbgrader's own tables
opening.py      the file: made, checked, locked, and what to say when it cannot be written
describing.py   an exercise's cells as rows
scores.py       a verdict as the values of its rows
rows.py         many rows in few statements
entries.py      students entered, entries taken out
writing.py      many submissions in one transaction
hashes.py       which file the scores are about
penalties.py    what being late costs
reading.py      marks, and who has an entry
book.py         all of it for one course
"""

from grading.gradebook.book import Book
from grading.gradebook.opening import GradebookLocked

__all__ = ["Book", "GradebookLocked"]
