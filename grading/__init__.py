"""What runs, judges and reports graded work, around nbgrader. It knows nothing of the package the course teaches.

In the order in which a submission meets them; between them goes plain data (frozen dataclasses that serialise to JSON):

    course.py      the instructor's side: folders, answer cells, tests, points, metadata
    submission.py  what a student handed in, and the notebook rebuilt from the instructor's source
    imports.py     imports that an exercise forbids
    runner.py      runs one rebuilt submission: a plan goes in, what became of cells and tests comes out
    proctor.py     the judging process: test cells, against stand-ins for the answers
    proxy.py       the stand-ins, and the student's process as the judge sees it; the place for a sandbox
    codec.py       plain data and shared objects between the two processes
    worker.py      the student's process: the submitted code, and no test
    judge.py       one submission's verdict, in words
    record.py      the verdict in a file, with hashes of all it came from
    gradebook.py   the one writer into nbgrader's gradebook
    feedback.py    pages for students, an index for the instructor
    export.py      the table of marks
    classroom.py   a whole class, with several processes
    sample.py      the sample class, made from sample_class/
    release.py     the released exercises, made from the solutions
    __main__.py    the command line

The names are not imported here: the student's process imports this package and should start in no time.
"""
