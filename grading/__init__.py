"""What runs, judges and reports graded work, around nbgrader. It knows nothing of the package the course teaches.

In the order in which a submission meets them; between them goes plain data (frozen dataclasses that serialise to JSON):

    course/        the instructor's side: folders, answer cells, tests, points; the released exercises
    handins.py     what a class has handed in
    submission/    what a student handed in, read, and rebuilt around the instructor's source
    syntax.py      Python read without running it
    magics.py      a notebook's cell as plain Python
    sandbox/       what a student's process is locked up in
    running/       one rebuilt submission run: the judging process, the student's process, and what goes between
    verdict.py     what one submission earned, and the sentences about it
    judge.py       from a file to a verdict
    check.py       one verdict, for the one who wrote the answer
    pins.py        hashes of the grader's code and of the packages
    record.py      the verdict in a file, with hashes of all it came from
    storing.py     small files, written in one step
    jobs.py        jobs and records, each as one line
    worker.py      a worker: grades one job after another
    pool.py        workers on this machine
    scheduling.py  workers on a cluster
    engines.py     either of the two
    todo.py        what has been graded and what has not
    judged.py      what has not been, by whichever workers
    gradebook/     the one writer into nbgrader's gradebook
    feedback.py    pages for students
    lateness.py    when something was handed in, and what being late costs
    overview.py    the class at a glance, for the instructor
    sections.py    its parts
    pages.py       the frame of every page
    visible.py     texts that others wrote, made safe to look at
    entering.py    records into the gradebook and onto pages
    classroom.py   a whole class, from the folder of submissions to the marks
    export/        the table of marks, for other systems
    bridge/        nbgrader's own commands with this grader inside
    proof/         proves that the exercises' tests are good
    sample/        the sample class
    options.py     the words of the command line
    __main__.py    the command line

The names are not imported here: the student's process imports this package and should start in no time.
"""
