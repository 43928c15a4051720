"""Runs one rebuilt submission: a plan goes in, what became of its cells and tests comes out.

    plan.py         what goes in and what comes out, limits included

The grading process serves a whole class and runs neither tests nor anything of a student's:

    runner.py       holds a sandbox, forks a judging process a submission, survives its death
    loading.py      what it loads once for all of them
    late.py         parts of packages that come only when they are asked for
    rehearsal.py    what it goes through once, so that its forks need not
    withholding.py  the files beside a notebook without what an answer may not use
    preparing.py    the instructor's cells read and compiled, tests with and without their hidden parts

The judging process runs the instructor's tests and never a line of the student's:

    child.py        a fork of the grading process, what it leaves behind, its own limits
    proctor.py      cells and tests in order, in two runs
    known.py        what is known so far
    desk.py         the namespace that setup cells and tests run in, against stand-ins for the answers
    explaining.py   what to say of a test that did not pass
    sealing.py      what little may be said where hidden inputs were sent
    standins.py     what a test sees of the student's functions, classes and objects
    descriptions.py what the student's process says of them, and of exceptions
    session.py      the student's process as the judge sees it
    channel.py      messages to that process
    stops.py        what is raised when it cannot go on, and the words for it
    clock.py        the time it has
    processes.py    its processor time

The student's process runs the submitted code and knows no test; `grading.sandbox` is what it is locked up in:

    zygote.py       forks it
    warming.py      what the zygote goes through first, so that its forks need not
    worker.py       runs cells, then serves calls to what they defined
    notebook.py     what a notebook has and plain Python has not
    pipes.py        its end of the channel, and what it prints
    reports.py      an exception, and a function or class, as data

Both:

    codec.py        plain data and shared objects between the two processes
    forms.py        its part for values that JSON has no word for
    containers.py   its part for lists, dicts and sets
    arrays.py       its part for numpy
    caps.py         how much may arrive

No names are imported here: each process takes what it needs and should start in no time.
"""
