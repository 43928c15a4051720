"""The instructor's side of one run: a namespace in which setup cells and tests are executed, never a line of the
student's.

Setup cells run on both sides. Here a statement is left out when it uses what a student defines, or what such a
statement defined; a name that a test needs and that is not known here is asked of the student's process. Left out: a
value that one test cell keeps from a student's function and a later test cell uses (what is behind it is known in its
own test alone).
"""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from grading.running.plan import PlanCell
from grading.running.preparing import Code, prepared_setup
from grading.running.session import Session
from grading.running.stops import StudentStopped

BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True)
class Outcome:
    """What became of a piece of a test: the value of its last expression, or what ended it. `stopped`: the student's
    process did not live to see the end, whatever the test made of that; `wanted`: names that it needed of the
    answer."""

    value: Any
    problem: BaseException | None
    stopped: StudentStopped | None
    wanted: frozenset[str]


class Desk:
    """One namespace and one student's process."""

    def __init__(self, session: Session, answer_names: Collection[str]) -> None:
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.space = module.__dict__
        self.session = session
        self.answer_names = frozenset(answer_names)
        self.tainted = set(answer_names)

    def run_setup(self, cell: PlanCell) -> None:
        """The statements of a setup cell that stand on their own, run on this side too."""
        for code in prepared_setup(cell):
            if code.used & self.tainted:
                self.tainted |= code.bound
                continue
            try:
                exec(code.body, self.space)
            except Exception:  # what it should define is asked of the student's process, where it ran too
                self.tainted |= code.bound

    def run_test(self, code: Code, numpy: bool, more: bool = False) -> Outcome:
        """Run a piece of a test here, against a fork of the student's process. `numpy`: it may send arrays; `more`: a
        test of the same question follows, or nothing."""
        wanted = code.used - code.bound - self.space.keys() - (BUILTINS - self.answer_names)
        value, problem = None, None
        question = code.used & self.answer_names
        found: dict[str, Any] = {}
        try:
            found = self.session.begin_test(sorted(wanted | question), numpy, question)
            self.space.update(found)
            exec(code.body, self.space)
            value = eval(code.last, self.space) if code.last is not None else None
        except BaseException as raised:
            problem = raised
            self.keep_definitions(code)
        finally:
            self.session.end_test(more)
            for known in found:
                self.space.pop(known, None)
        return Outcome(value, problem, self.session.stopped, wanted)

    def keep_definitions(self, code: Code) -> None:
        """What a test that failed, or is not run, would have defined for those after it: its helpers and imports."""
        for piece in code.pieces:
            if not piece.bound <= self.space.keys():
                try:
                    exec(piece.body, self.space)
                except (Exception, StudentStopped):  # it builds on the answer: the tests after it will say so
                    continue
