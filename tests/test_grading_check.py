"""What `check` says: each thing once, plainly, and which tests it speaks of; what cannot be graded has a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grading.__main__ import main
from grading.course import Exercise, open_course
from grading.feedback import feedback_page
from grading.running.channel import StudentStopped
from grading.running.explaining import Explainer
from grading.running.plan import Limits, Line, PlanCell
from grading.submission import StudentCell, Submission, forbidden_imports, read
from grading.syntax import bound_names, holds_code, parse, plain_python, top_level_names
from grading.verdict import caret, what_stopped, which_ran
from tests.grading_tiny import (
    BOX_ONLY,
    RIGHT,
    TOTAL,
    cell,
    grade_cells,
    grade_text,
    make_course,
    notebook,
    solved,
    source_cells,
    write_notebook,
)

NONE = "No test was run, visible or hidden."
BROKEN = "def total(numbers):\n    return [\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_course(tmp_path_factory.mktemp("course")).root


@pytest.fixture(scope="module")
def exercise(root: Path) -> Exercise:
    return open_course(root).exercise("tiny")


def check(root: Path, path: Path, *more: str) -> int:
    return main(["check", "tiny", str(path), "--course", str(root), *more])


# Which tests ran


def one_test(root: Path, test: str) -> Exercise:
    cells = [cell(TOTAL, grade_id="total", solution=True), cell(test, grade_id="test-total", grade=True, points=2)]
    return make_course(root, cells).exercise("tiny")


def test_says_that_hidden_tests_ran_only_where_there_are_some(exercise: Exercise, tmp_path: Path):
    assert which_ran(grade_text(exercise, tmp_path, RIGHT)) == "The visible and the hidden tests were run."
    plain = one_test(tmp_path / "plain", "assert total([1]) == 1")
    assert which_ran(grade_text(plain, tmp_path, RIGHT)) == "All tests were run; none is hidden."
    write_notebook(tmp_path / "released" / "release" / "tiny" / "tiny.ipynb", notebook(solved({})))
    released = open_course(tmp_path / "released").exercise("tiny")
    assert which_ran(grade_text(released, tmp_path, RIGHT)).startswith("Only the tests that you can see were run")


def test_tests_that_found_no_answer_are_named(exercise: Exercise, tmp_path: Path):
    said = which_ran(grade_text(exercise, tmp_path, BOX_ONLY))
    assert said.endswith("These found no answer to run: test-total, test-hidden.")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The file is empty."),
        (" \n\n", "The file is empty."),
        ("# later\n\n# more", "The file holds no code, only comments or blank lines."),
        ("def totals(n):\n    return 0", "`total` is not defined (what you handed in defines `totals`)"),
        ("import math", "`total` is not defined."),
    ],
)
def test_file_without_the_answer_says_so_and_that_nothing_ran(
    text: str, words: str, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "a.py"
    path.write_text(text)
    assert check(root, path) == 1
    out = capsys.readouterr().out
    assert words in out
    assert NONE in out
    assert "were run" not in out


def test_notebook_with_emptied_answers_says_so(exercise: Exercise, tmp_path: Path):
    verdict = grade_cells(exercise, tmp_path, solved({"total": "# todo", "Box": ""}))
    assert verdict.message == "The answer cells hold no code, only comments or blank lines."
    assert {test.status for test in verdict.tests} == {"not_attempted"}
    assert which_ran(verdict) == NONE


# A cell that stops


def test_syntax_error_is_shown_once_with_its_line_and_a_caret(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "a.py"
    path.write_text(BROKEN)
    assert check(root, path) == 1
    out = capsys.readouterr().out
    assert "SyntaxError in your file, line 2: '[' was never closed\n    return [\n           ^\n" in out
    assert out.count("was never closed") == 1
    assert NONE in out


def test_tests_refer_to_the_syntax_error_shortly(exercise: Exercise, tmp_path: Path):
    verdict = grade_cells(exercise, tmp_path, solved({"total": BROKEN, "Box": BOX_ONLY}))
    message = "`total` is not defined, because of the syntax error in the cell “total”, line 2."
    assert [test.message for test in verdict.tests] == [message, message, ""]
    assert [test.lines for test in verdict.tests] == [(), (), ()]
    assert [what_stopped(ran) for ran in verdict.stopped] == [
        "SyntaxError in the cell “total”, line 2: '[' was never closed\n    return [\n           ^"
    ]
    page = feedback_page(exercise, "Somebody", verdict)
    assert page.count("was never closed") == 1


def test_error_while_a_file_is_read_is_told_once_with_its_lines(exercise: Exercise, tmp_path: Path):
    verdict = grade_text(exercise, tmp_path, "def helper():\n    return 1 / 0\nx = helper()\n" + RIGHT)
    reason = "is not defined, because your file stopped with ZeroDivisionError, line 2."
    assert [test.message for test in verdict.tests] == [f"`total` {reason}", f"`total` {reason}", f"`Box` {reason}"]
    (ran,) = verdict.stopped
    assert what_stopped(ran) == (
        "ZeroDivisionError in your file, line 2: division by zero\n"
        "    your file, line 3, in <module>: x = helper()\n"
        "    your file, line 2, in helper: return 1 / 0"
    )


@pytest.mark.parametrize(
    ("code", "column", "want"), [("x = (", 5, "    ^"), ("\tx", 2, "\t^"), ("“中” = 1", 4, "    ^"), ("x", 1, "^")]
)
def test_caret_stands_under_its_column(code: str, column: int, want: str):
    assert caret(Line("c", 1, "f", code, column)) == want


# JSON


def test_json_keeps_its_keys_and_says_the_rest_beside(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_notebook(tmp_path / "tiny.ipynb", notebook([{**one, "metadata": {}} for one in solved()]))
    assert check(root, path, "--json") == 0
    shown = capsys.readouterr()
    result = json.loads(shown.out)
    assert list(result) == ["exercise", "score", "max_score", "tests"]
    assert all(list(test) == ["id", "points", "max_points", "status", "message"] for test in result["tests"])
    assert "Note: The answer cell “total” had lost its label" in shown.err
    assert shown.err.strip().endswith("The visible and the hidden tests were run.")
    assert check(root, path) == 0
    assert "Note: The answer cell “total” had lost its label" in capsys.readouterr().out


def test_json_of_a_syntax_error(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "a.py"
    path.write_text(BROKEN)
    assert check(root, path, "--json") == 1
    shown = capsys.readouterr()
    assert {test["status"] for test in json.loads(shown.out)["tests"]} == {"student_error"}
    assert "    return [\n           ^" in shown.err
    assert NONE in shown.err


# What the student's process says of itself is not believed


def test_forged_report_gives_nothing_of_a_hidden_test_away():
    test = PlanCell("test", "t", "### BEGIN HIDDEN TESTS\ntotal([7349])\n### END HIDDEN TESTS", 1, ((1, 3),))
    answer = PlanCell("answer", "total", "def total(n):\n    return n[0]", binds=("total",))
    forged = {
        "type": "7349",
        "family": ["7349", "print", "IndexError", 7349],
        "text": "7349",
        "lines": [
            {"cell": "total", "line": 2, "function": "7349", "code": "7349"},
            {"cell": "t", "line": 2},
            {"cell": "total", "line": 7349},
            {"cell": ["7349"], "line": "7349"},
            "7349",
        ],
    }
    problem = RuntimeError("7349")
    problem.__dict__["student_error"] = forged
    try:
        exec(compile("\nraise problem", "<t>", "exec"), {"problem": problem})
    except RuntimeError as raised:
        outcome = Explainer([answer, test], ["total"]).of_test(raised, test, [], {})
    assert outcome.failed_hidden
    assert outcome.message == "Your code raised IndexError"
    assert outcome.lines == (Line("total", 2, "total", "return n[0]"),)
    assert "7349" not in str(outcome)


@pytest.mark.parametrize("report", [None, [], "x", {}, {"lines": 3, "family": 3}, {"lines": [{"cell": {}}]}])
def test_report_of_any_shape_is_taken(report: object):
    answer = PlanCell("answer", "total", "x")
    error = Explainer([answer], ["total"]).of_cell(answer, report, None)
    assert error is None or error.lines == ()
    stopped = Explainer([answer], []).of_cell(answer, report, StudentStopped("timeout", "late"))
    assert stopped is not None
    assert stopped.type == "timeout"


# Text that is hard to read as Python


def test_magic_lines_become_plain_python_and_real_errors_stay_where_they_are():
    assert plain_python("%time\nx = 1") == "pass\nx = 1"
    assert plain_python("if True:\n    !ls\n    help?") == "if True:\n    pass\n    pass"
    assert plain_python("x = (5\n     % 2)") == "x = (5\n     % 2)"
    both = plain_python("%matplotlib inline\ndef f(:\n    pass")
    assert both == "pass\ndef f(:\n    pass"
    assert plain_python("text = '''\n%time\n'''") == "text = '''\n%time\n'''"


@pytest.mark.parametrize("text", ["-" * 300_000 + "1", "(" * 3000, "a+" * 60_000 + "b", "\0", "not " * 60_000])
def test_text_that_no_parser_takes_costs_only_its_own_points(text: str, exercise: Exercise, tmp_path: Path):
    assert parse(text).body == []
    assert holds_code(text)
    verdict = grade_text(exercise, tmp_path, text)
    assert verdict.score == 0
    assert verdict.status in ("student_error", "crash", "unreadable")


def test_names_that_cells_define():
    compound = "try:\n    import a.b\n    def f(): y = 1\nexcept E:\n    x = 1\nfrom c import d as e"
    assert set(top_level_names("%time\n" + compound)) == {"x", "f", "y"}
    assert set(bound_names(parse(compound).body)) == {"a", "f", "x", "y", "e"}
    assert bound_names(parse("import a.b; x, y = 1, 2\ndef f(): z = 1").body) == ("a", "x", "y", "f")


def test_magic_line_hides_no_forbidden_import():
    name = ["ragkit.search.fusion.interleave"]
    assert forbidden_imports(["%matplotlib inline\nfrom ragkit.search.fusion import interleave"], name)
    assert forbidden_imports(["import ragkit", "mine = ragkit.search.interleave"], name)
    assert not forbidden_imports(["not python (", "def interleave(): pass"], name)


def test_too_much_code_or_too_many_cells_are_refused_with_a_reason(tmp_path: Path):
    (tmp_path / "a.py").write_text("x = 1\n" * 50_000)
    assert "characters of code" in read(tmp_path / "a.py").problem
    many = write_notebook(tmp_path / "many.ipynb", notebook([cell("x")] * 2_001))
    assert "cells" in read(many).problem
    long_text = write_notebook(tmp_path / "text.ipynb", notebook([cell("x " * 200_000, "markdown")]))
    assert read(long_text) == Submission((StudentCell("", "x " * 200_000, False),), read(long_text).sha256)


# Errors name what they are about


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "tiny.ipynb: cannot be read as a notebook"),
        ("[]", "tiny.ipynb: is JSON but no notebook"),
        ('{"cells": [1]}', "tiny.ipynb: is JSON but no notebook"),
        ('{"cells": [], "metadata": {"exercise": "x"}}', "tiny.ipynb: metadata.exercise is no table"),
    ],
)
def test_broken_source_is_named(text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    course = make_course(tmp_path)
    (course.source / "tiny" / "tiny.ipynb").write_text(text)
    (tmp_path / "a.py").write_text(RIGHT)
    assert check(tmp_path, tmp_path / "a.py") == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("points", ["many", -1, float("inf")])
def test_points_that_are_none_are_named(points: object, tmp_path: Path):
    cells = source_cells()
    cells[3]["metadata"]["nbgrader"]["points"] = points
    with pytest.raises(ValueError, match=r"tiny\.ipynb: .*test-total"):
        make_course(tmp_path, cells).exercise("tiny")


def test_broken_configuration_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "nbgrader_config.py").write_text("c = (")
    (tmp_path / "a.py").write_text(RIGHT)
    assert check(tmp_path, tmp_path / "a.py") == 2
    assert "nbgrader_config.py: cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("limit", [{"test_seconds": 0}, {"total_seconds": float("nan")}, {"memory": -1}])
def test_limit_that_is_none_is_named(limit: dict[str, float]):
    with pytest.raises(ValueError, match=next(iter(limit))):
        Limits(**limit)
