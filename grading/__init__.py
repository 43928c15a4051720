"""What runs, judges and reports graded work, around nbgrader. It knows nothing of the package the course teaches.

In the order in which a submission meets them; between them goes plain data (frozen dataclasses that serialise to JSON):

    course/        the instructor's side: folders, answer cells, tests, points; the released exercises
    submission/    what a student handed in, read, and rebuilt around the instructor's source
    running/       one rebuilt submission run: the judging process, the student's process, and what goes between
    verdict.py     what one submission earned, and the sentences about it
    judge.py       from a file to a verdict
    check.py       one verdict, for the one who wrote the answer
    record.py      the verdict in a file, with hashes of all it came from
    handins.py     what a class has handed in
    pool.py        several submissions judged at once
    gradebook.py   the one writer into nbgrader's gradebook
    feedback.py    pages for students, an index for the instructor
    export.py      the table of marks
    classroom.py   a whole class, from the folder of submissions to the marks
    sample/        the sample class
    syntax.py      Python read without running it
    __main__.py    the command line

The names are not imported here: the student's process imports this package and should start in no time.
"""
