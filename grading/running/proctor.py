"""The process that judges one submission: runs the instructor's setup and test cells against stand-ins for the answers.

Started by `runner.run`, which writes a plan to its input and reads verdicts, one JSON object a line and each with the
run's token, from a pipe that the student's process never holds. The tests run here and the student's code in another
process (`session.Session`), so a verdict is made where no submitted line runs.

Setup cells run on both sides. Here a statement is left out when it uses what a student defines, or what such a
statement defined; a name that a test needs and that is not known here is asked of the student's process. Left out: a
value that one test cell keeps from a student's function and a later test cell uses (each test has its own fork of the
student's process).
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import sys
import time
import types
from collections.abc import Callable, Collection
from dataclasses import asdict, replace
from typing import Any

from grading.running.explaining import Explainer, failed, stop_text
from grading.running.plan import CellRun, Plan, PlanCell, TestRun, plan_from_json
from grading.running.session import Session
from grading.syntax import bound_names, parse, plain_python, used_names

BUILTINS = frozenset(dir(builtins))


class Proctor:
    """Runs the cells of a plan in order and hands each outcome to `tell`; tests in `done` are left out."""

    def __init__(self, plan: Plan, done: Collection[str], tell: Callable[[dict[str, Any]], None]) -> None:
        self.cells, self.done, self.tell = plan.cells, frozenset(done), tell
        self.session = Session(plan.limits, plan.files, reap=True)
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.space = module.__dict__
        self.answer_names = frozenset(plan.names)
        self.tainted = set(plan.names)
        self.explainer = Explainer(plan.cells, plan.names)

    def run(self) -> None:
        """Everything up to the last test: no mark depends on what comes after it."""
        last = max((index for index, cell in enumerate(self.cells) if cell.kind == "test"), default=-1)
        try:
            for cell in self.cells[: last + 1]:
                if cell.kind != "test":
                    self.tell({"cell": asdict(self.run_cell(cell))})
                    if cell.kind == "setup":
                        self.run_setup(cell)
                elif cell.id not in self.done:
                    self.tell({"begins": cell.id})
                    began = time.monotonic()
                    outcome = self.run_test(cell)
                    self.tell({"test": asdict(replace(outcome, seconds=round(time.monotonic() - began, 4)))})
        finally:
            self.session.close()

    def run_cell(self, cell: PlanCell) -> CellRun:
        """Run a cell in the student's process."""
        answer = self.session.run_cell(cell.id, cell.source)
        error = self.explainer.of_cell(cell, answer.get("error"), self.session.lost.get(cell.id))
        printed = answer.get("printed")
        return CellRun(cell.id, cell.own, error, printed if isinstance(printed, str) else "")

    def run_setup(self, cell: PlanCell) -> None:
        """The statements of a setup cell that stand on their own, run on this side too."""
        for node in parse(cell.source).body:
            if used_names(node) & self.tainted:
                self.tainted.update(bound_names([node]))
                continue
            try:
                self._execute([node], cell.id)
            except Exception:  # what it should define is asked of the student's process, where it ran too
                self.tainted.update(bound_names([node]))

    def run_test(self, cell: PlanCell) -> TestRun:
        """Run a test cell here, against a fork of the student's process."""
        try:
            tree = ast.parse(plain_python(cell.source))
        except SyntaxError as problem:
            return failed(cell, "grader_error", f"The test is no Python: {problem.msg}.", ran=False)
        used = used_names(tree)
        wanted = used - set(bound_names(tree.body)) - set(self.space) - (BUILTINS - self.answer_names)
        outcome = TestRun(cell.id, "ok", cell.points, "")
        found: dict[str, Any] = {}
        try:
            found = self.session.begin_test(sorted(wanted | (used & self.answer_names)))
            self.space.update(found)
            value = self._execute(tree.body, cell.id, last_value=True)
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= cell.points:
                outcome = replace(outcome, points=float(value))  # nbgrader's partial credit: the last expression
        except BaseException as problem:
            outcome = self.explainer.of_test(problem, cell, wanted, self.session.lost)
            self._keep_definitions(tree, cell.id)
        finally:
            self.session.end_test()
            for known in found:
                self.space.pop(known, None)
        stopped = self.session.stopped
        if stopped is not None:  # whatever the test made of it
            outcome = replace(outcome, status=stopped.status, points=0.0, message=stop_text(stopped), ran=True)
        return outcome

    def _execute(self, body: list[ast.stmt], name: str, last_value: bool = False) -> Any:
        """Run statements in the test's namespace; with `last_value`, give the value of a last expression."""
        last: ast.Expression | None = None
        if last_value and body and isinstance(body[-1], ast.Expr):
            last, body = ast.Expression(body[-1].value), body[:-1]
        exec(compile(ast.Module(body=body, type_ignores=[]), f"<{name}>", "exec", dont_inherit=True), self.space)
        return eval(compile(last, f"<{name}>", "eval", dont_inherit=True), self.space) if last is not None else None

    def _keep_definitions(self, tree: ast.Module, name: str) -> None:
        """What a failed test would still have defined for the tests after it: its helpers and imports."""
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom) and not (
                set(bound_names([node])) <= set(self.space)
            ):
                try:
                    self._execute([node], name)
                except Exception:  # a helper that builds on the answer: the tests after it will say so themselves
                    continue


def main() -> None:
    """Read the plan from the input, write verdicts to the descriptor it names."""
    start = json.load(sys.stdin)
    pipe = os.fdopen(start["pipe"], "w", encoding="utf-8")

    def tell(event: dict[str, Any]) -> None:
        """One line to the runner."""
        pipe.write(json.dumps({"token": start["token"], **event}) + "\n")
        pipe.flush()

    Proctor(plan_from_json(start["plan"]), start["done"], tell).run()
    tell({"end": True})
