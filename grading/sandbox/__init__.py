"""Locks up what a student handed in: what the process that runs it can see, reach and use.

    levels.py      the levels, from the best down
    box.py         the sandbox as the grader sees it: spawn a student's process, kill it
    selftest.py    tries to break out before the first submission, and says what was not prevented
    layout.py      what is shown inside
    bubblewrap.py  the outer layer by the program of that name
    starting.py    starts and ends a zygote (`running.zygote`)
    removing.py    removes a folder that was made to resist
    probe.py       the cell of the self-test

and what runs inside, before anything of a student's:

    inside.py      from the interpreter's first line to a zygote that serves
    entering.py    from a fork of the zygote to a student's process
    namespaces.py  the outer layer by system calls, and the inner layer of each submission
    landlock.py    rules on files, where namespaces are not to be had
    seccomp.py     a filter of system calls
    limits.py      what the system bounds
    watch.py       what it does not: memory of all processes together
    control.py     messages with descriptors
    system.py      system calls that Python lacks
    places.py      names that both sides use
"""

from grading.sandbox.box import Sandbox, Student
from grading.sandbox.levels import SandboxError
from grading.sandbox.selftest import self_test

__all__ = ["Sandbox", "SandboxError", "Student", "self_test"]
