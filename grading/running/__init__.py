"""Runs one rebuilt submission: a plan goes in, what became of its cells and tests comes out.

    plan.py       what goes in and what comes out, limits included
    runner.py     starts the judging process, reads what it tells, survives its death

The judging process runs the instructor's tests and never a line of the student's:

    proctor.py    cells and tests in order, against stand-ins for the answers
    explaining.py what to say of a test that did not pass
    standins.py   what a test sees of the student's functions, classes and objects
    session.py    the student's process as the judge sees it; the place for a sandbox
    channel.py    messages to that process, and the time it has
    processes.py  processor time, orphans and ends of processes

The student's process runs the submitted code and knows no test:

    worker.py     runs cells, then serves calls to what they defined
    pipes.py      its end of the channel, and what it prints
    reports.py    an exception, and a function or class, as data

Both:

    codec.py      plain data and shared objects between the two processes
    containers.py its part for lists, dicts and sets
    arrays.py     its part for numpy

No names are imported here: each process takes what it needs and should start in no time.
"""
