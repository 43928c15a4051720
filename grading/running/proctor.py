"""Judges one submission: runs its cells and the instructor's tests, twice where a test has a hidden part.

The first run is sent the cells and the visible text of the tests; what a student reads comes from it: messages, lines,
printed text, errors of cells. The second is a fresh process of the student's, the whole text of those tests that have a
hidden part and passed the first time; out of it come a status, points, and words that stand in the test (`sealing`). So
what a student reads comes from a process that was never sent a hidden input. Tests run where they stand among the
cells, those of one question against one fork of the student's process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from time import monotonic
from typing import Any

from grading.running.clock import Clock
from grading.running.desk import Desk
from grading.running.explaining import Explainer, failed, stop_text
from grading.running.known import Known, lost
from grading.running.plan import CellRun, Plan, PlanCell, TestRun
from grading.running.preparing import Code, prepared, prepared_setup
from grading.running.sealing import points_for, sealed
from grading.running.session import Session, Students
from grading.running.stops import StudentStopped

MAX_PRINTED = 8_000


class Proctor:
    """The two runs of a plan. Each outcome is handed to `tell`; what is `known` already is not run again."""

    def __init__(self, plan: Plan, students: Students, known: Known, tell: Callable[[dict[str, Any]], None]) -> None:
        self.plan, self.students, self.known, self.tell_runner = plan, students, known, tell
        self.clock = Clock(plan.limits, known.left, known.was_late)
        self.tests = [cell for cell in plan.cells if cell.kind == "test"]
        self.explainer = Explainer(plan.cells, plan.names)
        self.explainer.errors.update({name: ran.error for name, ran in known.cells.items() if ran.error is not None})

    def run(self) -> None:
        """Everything that is not known."""
        if any(cell.id not in self.known.visible for cell in self.tests):
            self._first_run()
        if any(self.known.outcome(cell) is None for cell in self.tests):
            self._second_run()

    def _first_run(self) -> None:
        """Cells and visible tests, up to the last test: no mark depends on what comes after it."""
        session = self._session()
        desk = Desk(session, self.plan.names)
        known = self.known
        try:
            due = {cell.id for cell in self.tests if cell.id not in known.visible}
            for cell in self._up_to(due):
                if cell.kind != "test":
                    if not lost(known.cells.get(cell.id)):
                        known.cells[cell.id] = self._run_cell(session, cell)
                        self._tell({"cell": known.cells[cell.id]})
                    if cell.kind == "setup":
                        desk.run_setup(cell)
                elif cell.id in known.visible:
                    _keep(desk, prepared(cell).visible)
                else:
                    self._tell({"begins": cell.id})
                    began = monotonic()
                    ran = self._visible(desk, cell, self._more(cell, due))
                    known.visible[cell.id] = replace(ran, seconds=round(monotonic() - began, 4))
                    self._tell({"test": known.visible[cell.id], "whole": False})
        finally:
            session.close()

    def _second_run(self) -> None:
        """The same cells in a fresh process, and the whole tests that are still open."""
        session = self._session()
        desk = Desk(session, self.plan.names)
        known = self.known
        due = {cell.id for cell in self.tests if known.outcome(cell) is None}
        helping = self._helping(due)
        differs = False
        try:
            for cell in self._up_to(due):
                if cell.kind != "test":
                    if not lost(known.cells.get(cell.id)):
                        differs |= self._ends_otherwise(session, cell)
                    if cell.kind == "setup":
                        desk.run_setup(cell)
                elif cell.id in due or cell.id in helping:
                    test = prepared(cell)
                    assert test.whole is not None  # one that is no Python is known since the first run
                    self._tell({"begins": cell.id})
                    outcome = desk.run_test(test.whole, self._numpy(test.whole), self._more(cell, due | helping))
                    if cell.id in due:
                        seconds = known.visible[cell.id].seconds  # those of this run may tell what the student heard
                        ran = replace(sealed(outcome, cell, self.explainer, differs), seconds=seconds)
                        known.whole[cell.id] = ran
                        self._tell({"test": ran, "whole": True})
                else:
                    _keep(desk, prepared(cell).whole)
        finally:
            session.close()

    def _visible(self, desk: Desk, cell: PlanCell, more: bool) -> TestRun:
        """Run what everybody may see of a test. One of which nothing is to be seen passes here."""
        test = prepared(cell)
        if test.fault:
            return failed(cell, "grader_error", f"The test is no Python: {test.fault}.", ran=False)
        passed = TestRun(cell.id, "ok", cell.points, "")
        if test.visible is None:
            return passed
        outcome = desk.run_test(test.visible, self._numpy(test.visible), more)
        if outcome.stopped is not None:  # whatever the test made of it
            return failed(cell, outcome.stopped.status, stop_text(outcome.stopped))
        if outcome.problem is None:
            return replace(passed, points=points_for(outcome.value, cell))
        if isinstance(outcome.problem, NameError) and outcome.problem.name in self._hidden_names(cell):
            return passed  # what it uses is defined in a hidden part: the second run decides
        return self.explainer.of_test(outcome.problem, cell, outcome.wanted, desk.session.lost)

    def _run_cell(self, session: Session, cell: PlanCell) -> CellRun:
        """Run a cell in the student's process."""
        answer = session.run_cell(cell.id, cell.source)
        error = self.explainer.of_cell(cell, answer.get("error"), session.lost.get(cell.id))
        printed = answer.get("printed")
        return CellRun(cell.id, cell.own, error, printed[:MAX_PRINTED] if isinstance(printed, str) else "")

    def _ends_otherwise(self, session: Session, cell: PlanCell) -> bool:
        """Run a cell again; whether it fails, and did not fail so before."""
        answer = session.run_cell(cell.id, cell.source)
        before = self.known.cells.get(cell.id)
        error = Explainer((), ()).of_cell(cell, answer.get("error"), session.lost.get(cell.id))
        return error is not None and (before is None or before.error is None or before.error.type != error.type)

    def _helping(self, due: set[str]) -> set[str]:
        """Tests that passed, and are run again because a later one that is due uses a value they make.

        Definitions and imports of all others are kept anyway.
        """
        passed = {name for name, ran in self.known.visible.items() if ran.status == "ok"} - due
        helping: set[str] = set()
        for index, cell in reversed(list(enumerate(self.tests))):
            code = prepared(cell).whole
            if code is None or (cell.id not in due and cell.id not in helping):
                continue
            missing = code.used - code.bound - set(self.plan.names)
            for earlier in self.tests[:index]:
                made = prepared(earlier).whole
                if made is not None and earlier.id in passed and missing & made.values:
                    helping.add(earlier.id)
        return helping

    def _hidden_names(self, test: PlanCell) -> set[str]:
        """Names that are defined in the hidden part of a test, or of one before it."""
        known: set[str] = set()
        for cell in self.tests:
            known |= prepared(cell).hidden_names
            if cell.id == test.id:
                break
        return known - set(self.plan.names)

    def _numpy(self, code: Code) -> bool:
        """Whether a test may send arrays, as far as imports tell."""
        setups = (piece for cell in self.plan.cells if cell.kind == "setup" for piece in prepared_setup(cell))
        return any("numpy" in piece.modules for piece in (code, *setups))

    def _more(self, test: PlanCell, run: set[str]) -> bool:
        """Whether a test of the same question follows a test, of those that are `run`, or nothing at all does."""
        between = False
        for cell in self.plan.cells[self.plan.cells.index(test) + 1 :]:
            if cell.id in run:
                return not between and self._question(cell) == self._question(test)
            between |= cell.kind != "test"
        return True

    def _question(self, test: PlanCell) -> frozenset[str]:
        """The names of answers that a test uses."""
        code = prepared(test).whole
        return code.used & frozenset(self.plan.names) if code is not None else frozenset()

    def _up_to(self, tests: Collection[str]) -> Iterator[PlanCell]:
        """The cells of the plan, up to the last of some tests."""
        left = set(tests)
        for cell in self.plan.cells:
            if not left:
                return
            yield cell
            left.discard(cell.id)

    def _session(self) -> Session:
        session = Session(self.students, self.plan.limits, self.plan.files, self.plan.names, self.clock)
        for name, ran in self.known.cells.items():
            if (error := ran.error) is not None and lost(ran):
                session.lost[name] = StudentStopped(error.type, error.text)  # type: ignore[arg-type]
        return session

    def _tell(self, event: dict[str, Any]) -> None:
        now = monotonic()
        self.tell_runner({**event, "at": now, "left": max(0.0, self.clock.ends - now), "late": self.clock.was_late})


def _keep(desk: Desk, code: Code | None) -> None:
    if code is not None:
        desk.keep_definitions(code)
