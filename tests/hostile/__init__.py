"""Submissions that cheat, spy, break or were broken on their way, one small file each, and what grades them.

`README.md` says what the files hold and how to add one.

    cases.py         reads a case, and builds what it hands in
    making.py        notebooks: the released one, filled in, and what can be done to its cells and bytes
    world.py         a small course to grade in, with two honest students, and a listener
    steps.py         hands in, grades, kills, locks
    watching.py      what must be the same after grading: files, processes, the gradebook's other rows
    handed_back.py   what a student gets, and what may not be in it
    asserting.py     what must be so after a case
    running.py       cases side by side in small classes, in a process of its own
    launching.py     starts that with a copy of the grader
    results.py       what became of one piece of work

The programs in `cheating/`, `leaks/` and `resources/` are hostile in earnest: some kill every process that they may
signal, fill the disk or overwrite what they can reach. Build them anywhere; run them in the grader's sandbox alone.
"""
