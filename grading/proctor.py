"""The process that judges one submission: runs the instructor's setup and test cells against stand-ins for the answers.

Started by `runner.run`, which writes a plan to its input and reads verdicts, one JSON object a line and each with the
run's token, from a pipe that the student's process never holds. The tests run here and the student's code in another
process (`proxy.Session`), so a verdict is made where no submitted line runs.

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
from typing import Any

from grading.proxy import Limits, Session, StudentStopped

MAX_TEXT = 2_000
BUILTINS = frozenset(dir(builtins))


def bound_names(nodes: list[ast.stmt]) -> set[str]:
    """Names that top-level statements define: "import a.b; x, y = 1, 2" -> {"a", "x", "y"}."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        else:
            names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names


def used_names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def parse(source: str) -> ast.Module:
    """The cell's syntax tree; an empty one where it is no Python."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


class Proctor:
    """Runs the cells of a plan in order and hands each outcome to `tell`."""

    def __init__(self, plan: dict[str, Any], tell: Any) -> None:
        self.cells: list[dict[str, Any]] = plan["cells"]
        self.done: set[str] = set(plan["done"])
        limits = {**plan["limits"], "prefix": tuple(plan["limits"]["prefix"])}
        self.session = Session(Limits(**limits), tuple(plan["files"]), reap=True)
        self.tell = tell
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.space = module.__dict__
        self.tainted: set[str] = set(plan["names"])
        self.answer_names: frozenset[str] = frozenset(plan["names"])
        self.errors: dict[str, dict[str, Any]] = {}

    def run(self) -> None:
        last = max((index for index, cell in enumerate(self.cells) if cell["kind"] == "test"), default=-1)
        try:
            for cell in self.cells[: last + 1]:  # no mark depends on what comes after the last test
                if cell["kind"] != "test":
                    self.run_cell(cell)
                elif cell["id"] not in self.done:
                    self.tell({"begins": cell["id"]})
                    self.tell(self.run_test(cell))
        finally:
            self.session.close()

    def run_cell(self, cell: dict[str, Any]) -> None:
        answer = self.session.run_cell(cell["id"], cell["source"])
        error = tidy_error(answer.get("error"))
        stopped = answer.get("stopped")
        if stopped is not None:
            error = {"type": stopped[0], "family": [], "text": stopped[1], "lines": []}
        if error is not None:
            self.errors[cell["id"]] = error
        printed = answer.get("printed")
        self.tell({"cell": cell["id"], "error": error, "printed": printed if isinstance(printed, str) else ""})
        if cell["kind"] == "setup":
            self.run_setup(cell)

    def run_setup(self, cell: dict[str, Any]) -> None:
        """The statements of a setup cell that stand on their own, run on this side too."""
        for node in parse(cell["source"]).body:
            if used_names(node) & self.tainted:
                self.tainted |= bound_names([node])
                continue
            try:
                self._execute([node], cell["id"])
            except Exception:
                self.tainted |= bound_names([node])

    def run_test(self, cell: dict[str, Any]) -> dict[str, Any]:
        began = time.monotonic()
        name, points = cell["id"], float(cell["points"])
        verdict: dict[str, Any] = {
            "test": name,
            "status": "ok",
            "points": points,
            "message": "",
            "lines": [],
            "hidden": False,
        }
        try:
            tree = ast.parse(cell["source"])
        except SyntaxError as problem:
            return {
                **verdict,
                "status": "grader_error",
                "points": 0.0,
                "message": f"the test is no Python: {problem.msg}",
            }
        wanted = used_names(tree) - bound_names(tree.body) - set(self.space) - (BUILTINS - self.answer_names)
        found: dict[str, Any] = {}
        try:
            found = self.session.begin_test(sorted(wanted | (used_names(tree) & self.answer_names)))
            self.space.update(found)
            value = self._execute(tree.body, name, last_value=True)
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= points:
                verdict["points"] = float(value)  # nbgrader's partial credit: the value of the last expression
        except BaseException as problem:
            verdict.update(points=0.0, **self.explain(problem, cell, wanted))
            self._keep_definitions(tree, name)
        finally:
            stopped = self.session.stopped
            self.session.end_test()
            for known in found:
                self.space.pop(known, None)
        if stopped is not None:  # whatever the test made of it
            verdict.update(points=0.0, status=stopped.status, message=stop_text(stopped))
        verdict["seconds"] = round(time.monotonic() - began, 4)
        return verdict

    def explain(self, problem: BaseException, cell: dict[str, Any], wanted: set[str]) -> dict[str, Any]:
        """Status, message and student's lines for a test that did not run to its end. Of a hidden part nothing but the
        author's message, or the type of the student's error, gets out."""
        passed = test_lines(problem, f"<{cell['id']}>")
        line = passed[-1] if passed else 0
        hidden = any(first <= one <= last for first, last in cell["hidden"] for one in passed)
        where = {"hidden": hidden, "lines": []}
        if isinstance(problem, StudentStopped):
            return {"status": problem.status, "message": stop_text(problem), **where}
        error = tidy_error(problem.__dict__.get("student_error")) if hasattr(problem, "__dict__") else None
        cause = problem.__cause__ or problem.__context__
        behind = tidy_error(getattr(cause, "__dict__", {}).get("student_error"))
        for seen in (error, behind):
            if seen is not None and "NotImplementedError" in seen["family"]:
                return {"status": "not_attempted", "message": "Not attempted yet: the function raises "
                        "NotImplementedError.", **where}  # fmt: skip
        if error is not None:
            kind = (error["family"] or ["Exception"])[0] if hidden else error["type"]
            text = f": {error['text']}" if error["text"] and not hidden else ""
            return {
                "status": "student_error",
                "message": f"Your code raised {kind}{text}",
                **where,
                "lines": error["lines"],
            }
        if isinstance(problem, NameError) and problem.name in wanted | self.answer_names:
            return {**self.explain_missing(str(problem.name)), "hidden": hidden}
        if isinstance(problem, AssertionError):
            text = str(problem)[:MAX_TEXT]
            if not text:
                source = cell["source"].split("\n")[line - 1].strip() if line else ""
                text = "A further check of this test does not hold." if hidden else f"This does not hold: {source}"
            return {"status": "student_error", "message": text, **where}
        text = "" if hidden else f": {problem}"[:MAX_TEXT]
        message = f"The test could not work with what your answer gave back ({type(problem).__name__}{text})."
        return {"status": "student_error", "message": message, **where}

    def explain_missing(self, name: str) -> dict[str, Any]:
        """Why a name that the test needs is not there: the error of the cell that should define it, if it had one."""
        owners = [cell for cell in self.cells if cell["kind"] != "test" and name in cell.get("binds", ())]
        for cell in owners or [cell for cell in self.cells if cell["kind"] == "answer"]:
            error = self.errors.get(cell["id"])
            if error is None and cell["id"] in self.session.lost:  # it ran once, and not when it was run again
                status, text = self.session.lost[cell["id"]]
                error = {"type": status, "family": [], "text": text, "lines": []}
            if error is None:
                continue
            if "NotImplementedError" in error["family"]:
                break
            message = f"`{name}` is not defined, because its cell stopped: {error['type']}: {error['text']}"
            status = error["type"] if error["type"] in ("timeout", "crash") else "student_error"
            return {"status": status, "message": message, "lines": error["lines"]}
        return {"status": "not_attempted", "message": f"Not attempted yet: `{name}` is not defined.", "lines": []}

    def _execute(self, body: list[ast.stmt], name: str, last_value: bool = False) -> Any:
        last: ast.Expression | None = None
        if last_value and body and isinstance(body[-1], ast.Expr):
            last, body = ast.Expression(body[-1].value), body[:-1]
        exec(compile(ast.Module(body=body, type_ignores=[]), f"<{name}>", "exec", dont_inherit=True), self.space)
        return eval(compile(last, f"<{name}>", "eval", dont_inherit=True), self.space) if last is not None else None

    def _keep_definitions(self, tree: ast.Module, name: str) -> None:
        """What a failed test would still have defined for the tests after it: its helpers and imports."""
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom) and not (
                bound_names([node]) <= set(self.space)
            ):
                try:
                    self._execute([node], name)
                except Exception:
                    continue


def stop_text(stop: StudentStopped) -> str:
    return f"Your code was stopped: {stop.text}." if stop.status == "timeout" else f"Your code broke off: {stop.text}."


def test_lines(problem: BaseException, file: str) -> list[int]:
    """The lines of the test cell that the exception passed, outermost first."""
    lines = []
    step = problem.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            lines.append(step.tb_lineno)
        step = step.tb_next
    return lines


def tidy_error(error: Any) -> dict[str, Any] | None:
    """An error report of the student's process, reduced to the shape it should have (that process is not trusted)."""
    if not isinstance(error, dict):
        return None
    lines = error.get("lines") if isinstance(error.get("lines"), list) else []
    family = error.get("family") if isinstance(error.get("family"), list) else []
    return {
        "type": str(error.get("type", "Exception"))[:100],
        "family": [str(name)[:100] for name in family or []][:20],
        "text": str(error.get("text", ""))[:MAX_TEXT],
        "lines": [
            {
                "cell": str(line.get("cell", ""))[:200],
                "line": line["line"] if isinstance(line.get("line"), int) else 0,
                "function": str(line.get("function", ""))[:100],
                "code": str(line.get("code", ""))[:200],
            }
            for line in (lines or [])[:6]
            if isinstance(line, dict)
        ],
    }


def main() -> None:
    """Read the plan from the input, write verdicts to the descriptor it names."""
    plan = json.load(sys.stdin)
    pipe = os.fdopen(plan["pipe"], "w", encoding="utf-8")

    def tell(event: dict[str, Any]) -> None:
        pipe.write(json.dumps({"token": plan["token"], **event}) + "\n")
        pipe.flush()

    Proctor(plan, tell).run()
    tell({"end": True})
