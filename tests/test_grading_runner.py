"""The judging process and its two runs: what it takes over from its parent, what it survives, what gets out of it."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grading.course.notebook import hidden_ranges
from grading.judge import check_source, judge, judge_submission
from grading.running.late import late_parts
from grading.running.plan import Limits, Plan, PlanCell, Run, TestRun
from grading.running.preparing import blanked, prepared
from grading.running.rehearsal import rehearse
from grading.running.runner import MANY, Runner, run
from grading.running.sealing import BROKE_OFF, CHECK_TOO_LONG, DIFFERENT, FURTHER, NO_USE, TOO_SLOW
from grading.running.stops import UNASKED, StudentStopped
from grading.running.warming import warm_up
from grading.running.withholding import withheld
from grading.submission import read
from tests.grading_tiny import BOX_ONLY, FAST, RIGHT, cell, make_course, solved, source_cells, write_notebook

LIMITS = Limits(cell_seconds=6, test_seconds=6, total_seconds=60)
HIDE, SEEK = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner((), LIMITS) as runner:
        yield runner


def plan(*cells: PlanCell, files: tuple[str, ...] = (), limits: Limits = LIMITS) -> Plan:
    names = tuple(name for cell in cells if cell.kind == "answer" for name in cell.binds)
    return Plan(cells, names, files, limits)


def answer(source: str, *binds: str) -> PlanCell:
    return PlanCell("answer", "answer", source, binds=binds or ("f",))


def extra(source: str, name: str = "your cell 1") -> PlanCell:
    return PlanCell("extra", name, source)


def setup(source: str) -> PlanCell:
    return PlanCell("setup", "setup", source)


def check(source: str, name: str = "test", points: float = 1.0) -> PlanCell:
    return PlanCell("test", name, source, points, hidden_ranges(source))


def hidden(part: str, visible: str = "f", name: str = "test") -> PlanCell:
    return check(f"{visible}\n{HIDE}\n{part}\n{SEEK}", name)


def only(outcome: Run) -> TestRun:
    assert outcome.fault == ""
    (test,) = outcome.tests
    return test


def holds(runner: Runner, source: str, **more: object) -> None:
    """Run a test that looks round in the judging process."""
    test = only(runner.run(plan(answer("def f(): return 1"), check(source), **more)))
    assert (test.status, test.message) == ("ok", "")


# What the judging process takes over


def test_judge_runs_nothing_of_its_parents_at_the_end(runner: Runner, tmp_path: Path):
    mark, parent = tmp_path / "mark", os.getpid()

    def leave() -> None:
        mark.write_text(str(os.getpid()))

    atexit.register(leave)
    try:
        holds(runner, "assert f() == 1")
    finally:
        if os.getpid() == parent:
            atexit.unregister(leave)
    assert not mark.exists()


def test_judge_has_no_handler_no_descriptor_and_no_variable_of_its_parents(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GRADER_SECRET", "hunter2")
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    ours, theirs = os.pipe()
    foreign = [os.fstat(one).st_ino for one in (ours, theirs)]
    try:
        holds(
            runner,
            f"""
import os, signal
f()
assert signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL, "a handler"
assert "GRADER_SECRET" not in os.environ, "a variable"
nodes = []
for descriptor in range(256):
    try:
        nodes.append(os.fstat(descriptor).st_ino)
    except OSError:
        pass
assert not set(nodes) & set({foreign}), "a descriptor of the parent's"
assert len(nodes) == 6, "three streams, the parent, what it writes down, the student's process"
""",
        )
    finally:
        os.close(ours)
        os.close(theirs)
        signal.signal(signal.SIGUSR1, before)


def test_judge_cannot_be_looked_into_and_has_limits(runner: Runner):
    holds(
        runner,
        """
import ctypes, resource
assert ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) == 0, "PR_GET_DUMPABLE"
assert resource.getrlimit(resource.RLIMIT_AS)[0] < 1 << 38, "memory"
try:
    bytearray(1 << 33)
except MemoryError:
    pass
else:
    assert False, "took eight gigabytes"
""",
    )


def test_modules_beside_the_notebook_can_be_imported_on_both_sides_and_installed_ones_come_first(
    runner: Runner, tmp_path: Path
):
    (tmp_path / "till.py").write_text("CURRENCY = 'crowns'")
    (tmp_path / "json.py").write_text("raise RuntimeError('the wrong one')")
    (tmp_path / "data.txt").write_text("seven")
    source = "import json, till\nwords = open('data.txt').read()"
    work = "import till\ndef f(): return [till.CURRENCY, open('data.txt').read()]"
    files = tuple(str(tmp_path / name) for name in ("data.txt", "json.py", "till.py"))
    test = "assert f() == [till.CURRENCY, words] == ['crowns', 'seven']\nassert json.dumps(1) == '1'"
    here = os.getcwd()
    outcome = runner.run(plan(setup(source), answer(work), check(test), files=files))
    assert [cell.error for cell in outcome.cells] == [None, None]
    assert (only(outcome).status, only(outcome).message) == ("ok", "")
    assert os.getcwd() == here


def test_unseeded_numbers_of_a_test_are_the_same_each_time(runner: Runner):
    cells = (answer("def f(): return 0"), check("import random\nassert f() == random.random()"))
    first, second = (only(runner.run(plan(*cells))).message for _ in range(2))
    assert first == second
    work = plan(
        answer("def f(x): return x"), check("import random\nx = random.random()\nassert f(x) != x, f'it was {x}'")
    )
    assert only(runner.run(work)).message == only(runner.run(work)).message


# What it survives


@pytest.mark.parametrize(
    ("end", "status"), [("os._exit(3)", "grader_error"), ("os.kill(os.getpid(), 9)", "crash"), ("1 / 0", "ok")]
)
def test_death_of_the_judge_costs_the_test_that_it_died_in(end: str, status: str, runner: Runner):
    outcome = runner.run(
        plan(
            answer("def f(): return 1\nprint('once')"),
            check("assert f() == 1", "before"),
            check(f"import os\ntry:\n    {end}\nexcept ArithmeticError:\n    pass", "dies"),
            check("assert f() == 1", "after"),
        )
    )
    assert [test.status for test in outcome.tests] == ["ok", status, "ok"]
    assert [cell.printed for cell in outcome.cells] == ["once\n"]
    assert ("status 3" in outcome.fault) == (status == "grader_error")


def test_what_takes_the_judge_too_long_costs_its_own_test(runner: Runner):
    limits = Limits(cell_seconds=6, test_seconds=2, total_seconds=60)
    slow = """
P = (1 << 61) - 1
def f():
    one = {number * P: 0 for number in range(1, 1_500)}
    return [one.copy() for _ in range(150)]
def g():
    return 1
"""
    began = time.monotonic()
    outcome = runner.run(
        plan(answer(slow, "f", "g"), check("f()", "slow"), check("assert g() == 1", "quick"), limits=limits)
    )
    slow_test, quick = outcome.tests
    assert (slow_test.status, slow_test.points) == ("timeout", 0)
    if slow_test.message != CHECK_TOO_LONG:  # on a busy machine the student's side runs out of its own time first
        assert "still running" in slow_test.message
    assert quick.status == "ok"
    assert time.monotonic() - began < 60


def test_judge_at_work_without_an_end_is_stopped_in_either_run(runner: Runner):
    limits = Limits(test_seconds=1, total_seconds=30)
    loop = "f()\nwhile True:\n    pass"
    outcome = runner.run(plan(answer("def f(): return 1"), check(loop, "a"), hidden(loop, name="b"), limits=limits))
    assert [(test.status, test.message) for test in outcome.tests] == [("timeout", CHECK_TOO_LONG)] * 2


def test_total_time_covers_both_runs(runner: Runner):
    limits = Limits(cell_seconds=3, test_seconds=3, total_seconds=4)
    began = time.monotonic()
    slow = "import time\ntime.sleep(1.5)\ndef f():\n    time.sleep(1.2)\n    return 1"
    outcome = runner.run(plan(answer(slow), hidden("assert f() == 1", "assert f() == 1"), limits=limits))
    assert only(outcome).status == "timeout"
    assert only(outcome).message == TOO_SLOW
    assert time.monotonic() - began < 20


def test_total_time_covers_all_lives_of_the_judge(runner: Runner):
    limits = Limits(cell_seconds=3, test_seconds=3, total_seconds=3)
    dies = "import os\nos.kill(os.getpid(), 9)"
    work = answer("import time\ntime.sleep(1.2)\ndef f(): return 1")
    outcome = runner.run(
        plan(work, check(dies, "a"), check(dies, "b"), check(dies, "c"), check(dies, "d"), limits=limits)
    )
    assert [test.status for test in outcome.tests] == ["crash", "crash", "timeout", "timeout"]


def test_cell_that_hung_once_is_not_waited_for_again(runner: Runner):
    limits = Limits(cell_seconds=1.5, test_seconds=3, total_seconds=30)
    began = time.monotonic()
    outcome = runner.run(
        plan(
            extra("import time\ntime.sleep(60)"),
            answer("def f(): return 1"),
            hidden("assert f() == 1", "assert f() == 1"),
            limits=limits,
        )
    )
    assert only(outcome).status == "ok"
    assert time.monotonic() - began < 2 * 1.5  # busy or not: a process that sleeps is given no more time
    assert [cell.error and cell.error.type for cell in outcome.cells] == ["timeout", None]


def test_single_use_makes_its_own_sandbox():
    outcome = run(plan(answer("def f(): return 1"), check("assert f() == 1")))
    assert only(outcome).status == "ok"
    assert outcome.sandbox != "none"


# The two runs


def test_hidden_lines_are_blanked_and_line_numbers_stay():
    source = f"a = 1\n    {HIDE}\nb = 2\n{SEEK}\nc = 3"
    assert blanked(source, hidden_ranges(source)) == "a = 1\n\n\n\nc = 3"
    assert blanked(source, hidden_ranges(source), "pass") == "a = 1\n    pass\n\n\nc = 3"


@pytest.mark.parametrize(
    ("source", "visible"),
    [
        (f"# words\n{HIDE}\nf()\n{SEEK}", False),
        (f"f()\n{HIDE}\nf()\n{SEEK}", True),
        (f"def go():\n    {HIDE}\n    f()\n    {SEEK}\ngo()", True),
        (f"x = [\n{HIDE}\n1,\n{SEEK}\n]", True),
        (f"if f():\n    x = (\n{HIDE}\n1)\n{SEEK}", False),
    ],
)
def test_visible_part_of_a_test(source: str, visible: bool):
    test = prepared(check(source))
    assert (test.visible is not None) == visible
    assert test.whole is not None


def test_hidden_part_that_is_the_body_of_a_function_decides(runner: Runner):
    source = f"def go():\n    {HIDE}\n    assert f() == 1, 'one'\n    {SEEK}\ngo()"
    assert only(runner.run(plan(answer("def f(): return 1"), check(source)))).status == "ok"
    test = only(runner.run(plan(answer("def f(): return 2"), check(source))))
    assert (test.status, test.message, test.failed_hidden) == ("student_error", "one", True)


def test_helper_of_a_hidden_part_may_serve_a_visible_one(runner: Runner):
    source = f"{HIDE}\ndef right():\n    return 1\n{SEEK}\nassert f() == right(), 'one'"
    assert only(runner.run(plan(answer("def f(): return 1"), check(source)))).status == "ok"
    assert only(runner.run(plan(answer("def f(): return 2"), check(source)))).message == "one"
    mine = "def right(): return 2\ndef f(): return 2"
    assert only(runner.run(plan(answer(mine), check(source)))).status == "student_error"


def test_values_and_helpers_of_earlier_tests_serve_in_the_second_run(runner: Runner):
    outcome = runner.run(
        plan(
            answer("def f(x): return x"),
            check("def twice(x):\n    return [x, x]\nassert f(1) == 1", "helper"),
            check("given = twice(3)\nassert f(given) == [3, 3]", "value"),
            hidden("assert f(given) == twice(3), 'kept'", name="test"),
        )
    )
    assert [test.status for test in outcome.tests] == ["ok", "ok", "ok"]


def test_helper_that_calls_the_answer_as_it_is_defined_stops_nobody(runner: Runner):
    helper = "x = f()\ndef check(y=f()):\n    pass"
    outcome = runner.run(
        plan(answer("import os\ndef f(): os._exit(3)"), check(helper, "a"), check("check()", "b"), check("1", "c"))
    )
    assert [test.status for test in outcome.tests] == ["crash", "not_attempted", "ok"]
    assert outcome.fault == ""


@pytest.mark.parametrize(
    ("work", "part", "status", "message"),
    [
        ("def f(): return 2", "assert f() == 1, 'one'", "student_error", "one"),
        ("def f(): return 2", "assert f() == 1, (\n    'one '\n    'two'\n)", "student_error", "one two"),
        ("def f(): return 2", "x = f()\nassert x == 1, f'not {x}'", "student_error", FURTHER),
        ("def f(): return 2", "text = 'one'\nassert f() == 1, text", "student_error", FURTHER),
        ("def f(): return 2", "assert f() == 1", "student_error", FURTHER),
        ("def f(): return 2", "raise AssertionError(str(f()))", "student_error", FURTHER),
        ("def f(): return 'x'", "assert f() + 1", "student_error", NO_USE),
        ("def f(): return [][1]", "f()", "student_error", "Your code raised IndexError"),
        (
            "class E7349(KeyError): pass\ndef f(): raise E7349(7349)",
            "f()",
            "student_error",
            "Your code raised KeyError",
        ),
        ("def f(): raise UnicodeError('7349')", "f()", "student_error", "Your code raised an exception"),
        ("def f(): assert 0, '7349'", "f()", "student_error", "Your code raised AssertionError"),
        ("def f(): raise NotImplementedError", "f()", "not_attempted", "Not attempted yet: the function raises "),
        ("def f():\n    import os\n    os._exit(73)", "f()", "crash", BROKE_OFF),
        ("def f():\n    import os\n    os.kill(os.getpid(), 11)", "f()", "crash", BROKE_OFF),
        ("def f(): return 2", "g()", "not_attempted", "Not attempted yet: `g` is not defined (what you handed in "),
    ],
)
def test_words_of_a_hidden_part_were_there_before(work: str, part: str, status: str, message: str, runner: Runner):
    outcome = runner.run(plan(answer(work, "f", "g"), hidden(part)))
    test = only(outcome)
    assert (test.status, test.points, test.lines) == (status, 0, ())
    assert test.message.startswith(message)
    assert "7349" not in str(outcome.cells) + test.message
    assert "73" not in test.message


def test_endless_hidden_part_says_no_more_than_that(runner: Runner):
    limits = Limits(test_seconds=1, total_seconds=30)
    test = only(runner.run(plan(answer("def f():\n    while True: pass"), hidden("f()"), limits=limits)))
    assert (test.status, test.message) == ("timeout", TOO_SLOW)


def test_syntax_error_is_why_a_hidden_test_finds_nothing(runner: Runner):
    test = only(runner.run(plan(answer("def f(:\n    pass"), check(f"# words\n{HIDE}\nf()\n{SEEK}"))))
    reason = "of the syntax error in the cell “answer”, line 1"
    assert (test.status, test.message) == ("student_error", f"`f` is not defined, because {reason}.")
    assert not test.ran


def test_nothing_printed_and_no_time_of_the_second_run_gets_out(runner: Runner):
    work = """
import os
import time
def f(x):
    print("heard", x)
    if x == 7349:
        with open("heard", "w") as file:
            file.write("7349")
        time.sleep(2)
    return x
"""
    tell = "import os\nif os.path.exists('heard'):\n    print(open('heard').read())\n    raise ValueError('7349')"
    outcome = runner.run(
        plan(
            answer(work),
            hidden("assert f(7349) == 7349", "assert f(1) == 1"),
            extra(tell),
            check("assert f(2) == 2", "last"),
        )
    )
    assert [test.status for test in outcome.tests] == ["ok", "ok"]
    assert [(cell.printed, cell.error) for cell in outcome.cells] == [("", None), ("", None)]
    assert outcome.tests[0].seconds < 2


def test_first_process_is_never_sent_a_hidden_input(runner: Runner):
    work = "def f(x):\n    if x == 7349:\n        raise ValueError('heard')\n    return 0"
    outcome = runner.run(plan(answer(work), hidden("assert f(7349) == 7349, 'hidden'", "assert f(1) == 1, 'visible'")))
    assert only(outcome).message == "visible"
    assert not only(outcome).failed_hidden


def test_no_second_run_without_need(runner: Runner, monkeypatch: pytest.MonkeyPatch):
    spawned: list[object] = []
    spawn = runner.sandbox.spawn
    monkeypatch.setattr(runner, "plans", MANY)
    monkeypatch.setattr(runner.sandbox, "spawn", lambda files=(): spawned.append(files) or spawn(files))
    runner.run(plan(answer("def f(): return 1"), check("assert f() == 1")))
    assert len(spawned) == 1
    runner.run(plan(answer("def f(): return 2"), hidden("assert f() == 1", "assert f() == 1")))
    assert len(spawned) == 2
    runner.run(plan(answer("def f(): return 1"), hidden("assert f() == 1", "assert f() == 1")))
    assert len(spawned) == 4


def test_work_that_goes_otherwise_the_second_time_gets_no_points_and_is_told_so(runner: Runner):
    # the clock is all that differs between the two runs here
    work = "import time\nassert time.monotonic() < {end}\ndef f(): return 1"
    end = time.monotonic() + 4
    wait = f"import time\ntime.sleep(max(0, {end} - time.monotonic()))\n{HIDE}\nassert f() == 1\n{SEEK}"
    test = only(runner.run(plan(answer(work.replace("{end}", str(end))), check(wait))))
    assert (test.status, test.points, test.message) == ("student_error", 0, DIFFERENT)


@pytest.mark.parametrize(("last", "points"), [("0.5", 0.5), ("0", 0), ("2", 1), ("-1", 1), ("True", 1), ("'x'", 1)])
def test_partial_credit_is_that_of_the_run_that_judges_the_whole(last: str, points: float, runner: Runner):
    assert only(runner.run(plan(answer("def f(): pass"), check(f"f()\n{last}")))).points == points
    assert only(runner.run(plan(answer("def f(): pass"), check(f"f()\n{HIDE}\n{last}\n{SEEK}")))).points == points
    assert only(runner.run(plan(answer("def f(): pass"), check(f"0.25\n{HIDE}\n{last}\n{SEEK}")))).points == points


# What tests share

COUNT = """
calls = []
def f(): calls.append(1); return len(calls)
def g(): return len(calls)
"""


@pytest.mark.parametrize(
    "cells",
    [
        [check("assert f() == 1", "first"), check("assert f() == 2", "second"), check("assert g() == 0", "third")],
        [check("assert f() == 1", "first"), check("assert g() == 0", "second"), check("assert f() == 1", "third")],
        [check("assert f() == 1", "first"), extra("pass"), check("assert f() == 1", "second"), check("", "third")],
        [hidden("assert f() == 2", "assert f() == 1", "first"), check("assert f() == 2"), hidden("f()", "f()", "last")],
    ],
)
def test_tests_of_a_question_share_what_its_functions_leave_behind_and_no_others(cells: list[PlanCell], runner: Runner):
    outcome = runner.run(plan(answer(COUNT, "f", "g"), *cells))
    assert [(test.status, test.message) for test in outcome.tests] == [("ok", "")] * 3


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), 9)", "ctypes.string_at(0)"])
def test_fork_that_dies_costs_the_test_it_died_in_and_the_next_gets_a_new_one(end: str, runner: Runner):
    work = f"import ctypes, os\n{COUNT}\ndef die(): {end}"
    tests = check("assert f() == 1\ndie()", "first"), check("assert f() == 1\nassert die", "second")
    first, second = runner.run(plan(answer(work, "f", "die"), *tests)).tests
    assert (first.status, second.status) == ("crash", "ok")


def test_numbers_of_random_go_on_from_where_the_cells_left_them(runner: Runner):
    work = "import random\nrandom.seed(7)\nrandom.random()\ndef f(): return random.random()"
    test = "import random\nrandom.seed(7)\nrandom.random()\nassert f() == random.random()"
    outcome = runner.run(plan(answer(work), check(test, "first"), extra("pass"), check(test, "second")))
    assert [(test.status, test.message) for test in outcome.tests] == [("ok", "")] * 2


@pytest.mark.parametrize("draw", ["random.random()", "float(numpy.random.rand())", "__import__('random').random()"])
def test_unseeded_numbers_of_an_answer_are_the_same_each_time(draw: str, runner: Runner):
    work = f"import numpy\n{'import random' if draw[0] == 'r' else ''}\ndef f(): return {draw}"
    cells = answer(work), check("assert f() == 2, f'it was {f()}'")
    assert len({only(runner.run(plan(*cells))).message for _ in range(3)}) == 1


# Frames that nobody asked for

FIND = """
import json
import os
import stat
import sys

def sockets():
    for descriptor in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                yield descriptor
        except OSError:
            pass

def tell(message):
    data = json.dumps(message).encode()
    for descriptor in sockets():
        os.write(descriptor, len(data).to_bytes(4, "big") + data)

def number():
    frame = sys._getframe()
    while frame is not None:
        message = frame.f_locals.get("message")
        if isinstance(message, dict) and "n" in message:
            return message["n"]
        frame = frame.f_back
"""


@pytest.mark.parametrize(
    "trick",
    [
        "tell({'n': 99, 'value': 1, 'objects': []})",
        "tell({'value': 1, 'objects': []})",
        "tell({'n': number(), 'value': 1, 'objects': []})",
        "tell({'n': True, 'value': 1, 'objects': []})",
        "tell([1])",
        "tell({'n': 1, 'value': 2, 'objects': []})",
        "[os.write(one, b'\\0\\0\\0\\x05hello') for one in sockets()]",
    ],
)
def test_answer_that_was_not_asked_for_is_suspicious_and_costs_one_test(trick: str, runner: Runner):
    work = f"{FIND}\ndef f():\n    {trick}\n    return 1\ndef g():\n    return 1"
    outcome = runner.run(
        plan(answer(work, "f", "g"), check("assert f() == 1", "tricks"), check("assert g() == 1", "honest"))
    )
    tricks, honest = outcome.tests
    assert (tricks.status, tricks.points, tricks.message) == ("suspicious", 0, UNASKED)
    assert honest.status == "ok"


def test_answer_that_was_not_asked_for_is_noticed_at_the_end_of_a_test(runner: Runner):
    late = "def f():\n    threading.Timer(0.2, lambda: tell({'n': 3, 'ended': 0})).start()\n    return 1"
    work = f"{FIND}\nimport threading\n{late}"
    outcome = runner.run(plan(answer(work), check("import time\nf()\ntime.sleep(1)")))
    assert only(outcome).status == "suspicious"


def test_answer_that_a_cell_was_not_asked_for_costs_the_cell(runner: Runner):
    work = f"{FIND}\ntell({{'n': 7, 'done': True, 'error': None, 'printed': ''}})\ndef f():\n    return 1"
    outcome = runner.run(plan(answer(work), check("assert f() == 1"), hidden("f()", name="second")))
    assert [(test.status, test.message) for test in outcome.tests] == [("suspicious", UNASKED)] * 2
    assert [cell.error and cell.error.type for cell in outcome.cells] == ["suspicious"]


def test_names_that_were_not_asked_for_do_not_reach_the_test(runner: Runner):
    patch = """
import sys
for frame in [sys._getframe()]:
    while frame is not None:
        me = frame.f_locals.get("self")
        if type(me).__name__ == "Worker":
            def serve(begin, me=me):
                me.wire.write({"n": begin["n"], "names": {"f": 5, "abs": 0, "sum": 7}, "objects": []})
                while True:
                    message = me.wire.read()
                    if message["op"] == "end":
                        return
                    me.wire.write({"n": message["n"], "value": 1, "objects": []})
            me.serve_test = serve
        frame = frame.f_back
"""
    test = only(runner.run(plan(answer(patch), check("assert abs(-2) == 2 and sum([1]) == 1\nassert f == 5"))))
    assert (test.status, test.message) == ("ok", "")


# Objects of the answer's own kind

EVERYTHING = """
class Everything:
    def __contains__(self, item): return True
    def __bool__(self): return True
    def __len__(self): return 3
    def __eq__(self, other): return True
    def __ne__(self, other): return True
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __lt__
    def __hash__(self): return hash(3)
    def __float__(self): return 3.0
    def __index__(self): return 3
    def __iter__(self): return iter(())
    def __array__(self, *args, **kwargs):
        import numpy
        return numpy.array([3.0])
    def __call__(self, *args): return self
def f():
    return Everything()
class Seven(Everything):
    def __iter__(self): return iter((7,))
    def __getitem__(self, index): return 7
def g():
    return Seven()
"""


@pytest.mark.parametrize(
    "claim",
    [
        "'x' in f()",
        "len(f()) == 3",
        "bool(f())",
        "f()",
        "f() == 3",
        "3 == f()",
        "f() < 4",
        "f() >= 1",
        "f() in [3]",
        "f() in {3: 1}",
        "f() in {3}",
        "float(f()) == 3",
        "[1, 2, 3, 4][f()] == 4",
        "list(f()) == [3]",
        "__import__('numpy').allclose(g(), 3.0)",
        "(__import__('numpy').array([3.0]) == g()).all()",
        "__import__('numpy').float64(3.0) == f()",
        "__import__('numpy').array_equal(f(), [3.0])",
        "isinstance(f(), (int, list, float, str, dict, set))",
    ],
)
def test_claims_of_an_object_that_nobody_asked_for_earn_nothing(claim: str, runner: Runner):
    for work in (EVERYTHING, EVERYTHING.replace("def __call__(self, *args): return self", "")):
        test = only(runner.run(plan(answer(work, "f", "g"), check(f"assert {claim}"))))
        assert (test.status, test.points) == ("student_error", 0)


def test_truth_of_such_an_object_is_an_error_with_its_reason(runner: Runner):
    test = only(runner.run(plan(answer("class Own: pass\ndef f(): return Own()"), check("assert f(), 'nothing'"))))
    assert "an object of its own kind where plain data was wanted" in test.message


@pytest.mark.parametrize(
    ("gives", "claim"),
    [
        ("{'a': 1, 'b': 2}.keys()", "'a' in f() and 'c' not in f() and len(f()) == 2 and f()"),
        ("{'a': 1, 'b': 2}.values()", "2 in f() and list(f()) == [1, 2]"),
        ("__import__('collections').deque([1, 2])", "2 in f() and len(f()) == 2 and f()[0] == 1"),
        ("__import__('collections').deque()", "not f() and 1 not in f()"),
        ("(n for n in [1, 2])", "list(f()) == [1, 2]"),
        ("map(str, [1, 2])", "'2' in f()"),
    ],
)
def test_honest_containers_are_taken_for_what_they_hold(gives: str, claim: str, runner: Runner):
    test = only(runner.run(plan(answer(f"def f(): return {gives}"), check(f"assert {claim}"))))
    assert (test.status, test.message) == ("ok", "")


def test_class_that_the_exercise_asks_for_speaks_for_its_objects(runner: Runner):
    work = """
class Box:
    def __init__(self, items): self.items = items
    def __contains__(self, item): return item in self.items
    def __len__(self): return len(self.items)
    def more(self): return Box([*self.items, 9])
class Liar:
    def __contains__(self, item): return True
def f(): return Liar()
"""
    test = """
box = Box([1, 2])
assert 1 in box and 3 not in box and len(box) == 2 and box and not Box([])
more = box.more()
assert isinstance(more, Box) and len(more) == 3 and 9 in more
assert not isinstance(f(), Box)
"""
    assert only(runner.run(plan(answer(work, "Box", "f"), check(test)))).message == ""
    assert "plain data" in only(runner.run(plan(answer(work, "Box", "f"), check("assert 1 in f()")))).message


# The exercise, and the verdict


def test_modules_to_preload_are_installed_ones_that_nothing_hidden_names(tmp_path: Path):
    cells = source_cells()
    cells[1]["source"] = "import math, till, no_such_module\nfrom os.path import join"
    cells[2]["source"] = "def total(numbers):\n    ### BEGIN SOLUTION\n    import heapq\n    ### END SOLUTION"
    cells[3]["source"] = f"def go():\n    import string\n{HIDE}\nimport fractions\n{SEEK}"
    course = make_course(tmp_path, cells)
    (tmp_path / "source" / "tiny" / "till.py").write_text("")
    assert course.exercise("tiny").preload == ("heapq", "math", "os", "string")


def test_late_parts_are_those_that_the_code_speaks_of():
    assert late_parts(["numpy", "json"], ["np.random.rand()", "x = 1"]) == {"numpy.random"}
    assert late_parts(["numpy"], ["np.zeros(3)"]) == late_parts(["json"], ["random"]) == set()


def test_what_is_gone_through_before_the_forks_leaves_no_trace(runner: Runner, capsys: pytest.CaptureFixture[str]):
    before = sys.modules["__main__"], sys.stdout, sys.stderr, sorted(os.listdir("/proc/self/fd"))
    warm_up()
    rehearse(runner.sandbox)
    assert before == (sys.modules["__main__"], sys.stdout, sys.stderr, sorted(os.listdir("/proc/self/fd")))
    assert capsys.readouterr() == ("", "")


def test_rehearsal_that_fails_costs_nobody(runner: Runner, monkeypatch: pytest.MonkeyPatch):
    def fails(students: object) -> None:
        calls.append(students)
        raise StudentStopped("crash", "no process")

    calls: list[object] = []
    monkeypatch.setattr("grading.running.runner.rehearse", fails)
    monkeypatch.setattr(runner, "plans", MANY - 2)
    for _ in range(3):
        assert only(runner.run(plan(answer("def f(): return 1"), check("assert f() == 1")))).status == "ok"
    assert calls == [runner.sandbox]


def test_hash_of_an_exercise_covers_what_lies_beside_it(tmp_path: Path):
    course = make_course(tmp_path)
    before = course.exercise("tiny").sha256
    beside = tmp_path / "source" / "tiny" / "till.py"
    beside.write_text("x = 1")
    with_file = course.exercise("tiny").sha256
    beside.write_text("x = 2")
    assert len({before, with_file, course.exercise("tiny").sha256}) == 3
    beside.write_text("x = 1")
    assert course.exercise("tiny").sha256 == with_file


def test_verdict_says_how_long_and_in_what(runner: Runner, tmp_path: Path):
    exercise = make_course(tmp_path).exercise("tiny")
    (tmp_path / "a.py").write_text(RIGHT)
    verdict = judge(exercise, tmp_path / "a.py", FAST, runner)
    assert verdict.full
    assert verdict.sandbox == runner.sandbox.level
    assert 0 < sum(test.seconds for test in verdict.tests) < verdict.seconds < 60
    assert check_source(exercise, FAST, runner) == []


def test_suspicion_and_notes_of_a_submission_are_taken_over(runner: Runner, tmp_path: Path):
    exercise = make_course(tmp_path).exercise("tiny")
    book = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [c for c in solved() if c is not None][:-1]}
    submission = read(write_notebook(tmp_path / "tiny.ipynb", book))
    object.__setattr__(submission, "notes", ("It began with a mark.",))
    verdict = judge_submission(exercise, submission, FAST, runner)
    assert verdict.notes[0] == "It began with a mark."
    assert len(verdict.notes) > 1
    object.__setattr__(submission, "suspicion", "It holds a hidden test.")
    verdict = judge_submission(exercise, submission, FAST, runner)
    assert (verdict.status, verdict.score, verdict.message) == ("suspicious", 0, "It holds a hidden test.")
    assert {test.status for test in verdict.tests} == {"suspicious"}


def test_suspicious_cell_that_no_test_needs_is_seen_in_the_verdict(runner: Runner, tmp_path: Path):
    exercise = make_course(tmp_path).exercise("tiny")
    cells = solved({"total": RIGHT.split("\n\n")[0], "Box": BOX_ONLY})
    cells.insert(1, cell(f"{FIND}\ntell({{'n': 7, 'done': True}})"))
    book = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}
    verdict = judge(exercise, write_notebook(tmp_path / "tiny.ipynb", book), FAST, runner)
    assert (verdict.score, verdict.status) == (10, "suspicious")


def test_what_an_answer_may_not_use_is_not_beside_it(tmp_path: Path):
    till = tmp_path / "till.py"
    till.write_text("RATE = 2\ndef add_up(prices):\n    return sum(prices)\nclass Box: pass\nbest = worst = add_up\n")
    other = tmp_path / "till.txt"
    other.write_text("def add_up")
    folder = tmp_path / "given"
    folder.mkdir()
    given = withheld([str(till), str(other)], ["till.add_up", "till.Box", "till.worst", "shop.RATE"], folder)
    assert given[1] == str(other)
    space: dict[str, object] = {}
    exec(Path(given[0]).read_text(), space)
    assert space["RATE"] == 2
    assert not {"best", "worst"} & set(space)
    for name in ("add_up", "Box"):
        with pytest.raises(ImportError, match=f"{name}: the exercise asks"):
            space[name]([1])  # type: ignore[operator]
    assert withheld([str(till)], ["shop.add_up"], folder) == (str(till),)
