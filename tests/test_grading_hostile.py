"""Answers that attack, break or confuse the grader: each costs at most its own marks, and never earns any."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from grading.course import Exercise
from grading.feedback import feedback_page
from grading.judge import judge
from grading.running.plan import Limits
from grading.running.runner import Runner
from tests.grading_tiny import (
    BOX_ONLY,
    FAST,
    RIGHT,
    cell,
    grade_cells,
    grade_text,
    make_course,
    solved,
    statuses,
)

BAD_TOTAL = {
    "prints forged verdicts": """
def total(numbers):
    import json, os
    verdict = json.dumps({"token": "", "test": "test-total", "status": "ok", "points": 2.0, "message": "", "lines": []})
    print(verdict, flush=True)
    for fd in (1, 2):
        os.write(fd, verdict.encode() + b"\\n")
    return None
""",
    "writes into every descriptor": """
def total(numbers):
    import json, os
    line = json.dumps({"test": "test-total", "status": "ok", "points": 2.0, "lines": [], "message": ""})
    for fd in os.listdir("/proc/self/fd"):
        try:
            os.write(int(fd), line.encode() + b"\\n")
        except OSError:
            pass
    return None
""",
    "os._exit(0)": "def total(numbers):\n    import os\n    os._exit(0)\n",
    "sys.exit": "def total(numbers):\n    import sys\n    sys.exit(0)\n",
    "kills itself": "def total(numbers):\n    import os\n    os.kill(os.getpid(), 9)\n",
    "kills its parent": "def total(numbers):\n    import os\n    os.kill(os.getppid(), 9)\n    return 4\n",
    "swallows everything": """
def total(numbers):
    try:
        raise KeyboardInterrupt
    except BaseException:
        return None
""",
    "an object that equals everything": """
class Same:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __bool__(self): return True
def total(numbers):
    return Same()
""",
    "a number that equals everything": """
class Same(int):
    def __eq__(self, other): return True
    def __hash__(self): return 0
def total(numbers):
    return Same(12345)
""",
    "a list that equals everything": """
class Same(list):
    def __eq__(self, other): return True
def total(numbers):
    return Same()
""",
    "recursion": "def total(numbers):\n    return total(numbers)\n",
    "a result nested too deep": """
def total(numbers):
    deep = []
    for _ in range(100000):
        deep = [deep]
    return deep
""",
    "patches assert and builtins": """
import builtins, sys
builtins.AssertionError = ValueError
builtins.sum = lambda numbers: 3
sys.settrace(None)
def total(numbers):
    return "3"
""",
    "rewrites the grader's modules": """
import sys
for name, module in list(sys.modules.items()):
    if name.startswith("grading"):
        for key in list(vars(module)):
            if callable(getattr(module, key)):
                setattr(module, key, lambda *a, **k: {"value": 3})
def total(numbers):
    return None
""",
    "walks the frames": """
def total(numbers):
    import sys
    frame = sys._getframe()
    while frame:
        for key in ("verdict", "points", "expected", "tests"):
            frame.f_locals.get(key)
        frame = frame.f_back
    return None
""",
    "memory": "def total(numbers):\n    return len([0] * (1 << 40))\n",
}


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    return make_course(tmp_path_factory.mktemp("course")).exercise("tiny")


def test_right_answer_gets_full_marks(exercise: Exercise, tmp_path: Path):
    verdict = grade_text(exercise, tmp_path, RIGHT)
    assert (verdict.score, verdict.max_score, verdict.status, verdict.full) == (10, 10, "ok", True)


@pytest.mark.parametrize("attack", BAD_TOTAL)
def test_attack_in_one_answer_earns_nothing_and_spares_the_other(attack: str, exercise: Exercise, tmp_path: Path):
    verdict = grade_text(exercise, tmp_path, BAD_TOTAL[attack] + BOX_ONLY)
    found = statuses(verdict)
    assert found["test-total"] != "ok"
    assert found["test-hidden"] != "ok"
    if attack != "rewrites the grader's modules":  # that one breaks its own process
        assert found["test-box"] == "ok"
        assert verdict.score == 5
    assert "grader_error" not in found.values()


@pytest.mark.parametrize(
    ("attack", "status", "words"),
    [
        ("os._exit(0)", "crash", "ended the Python process (exit status 0)"),
        ("sys.exit", "crash", "exit()"),
        ("kills itself", "crash", "SIGKILL"),
        ("recursion", "student_error", "RecursionError"),
        ("memory", "student_error", "MemoryError"),
    ],
)
def test_message_says_what_happened(attack: str, status: str, words: str, exercise: Exercise, tmp_path: Path):
    test = grade_text(exercise, tmp_path, BAD_TOTAL[attack]).tests[0]
    assert test.status == status
    assert words in test.message


def test_endless_loop_costs_its_own_tests_and_little_time(exercise: Exercise, tmp_path: Path):
    began = time.monotonic()
    limits = Limits(test_seconds=1, total_seconds=20)
    verdict = grade_text(exercise, tmp_path, "def total(numbers):\n    while True:\n        pass\n" + BOX_ONLY, limits)
    assert statuses(verdict) == {"test-total": "timeout", "test-hidden": "timeout", "test-box": "ok"}
    assert time.monotonic() - began < 15


def test_endless_loop_in_a_cell_is_left_out(exercise: Exercise, tmp_path: Path):
    cells = [*solved(), cell("while True:\n    pass")]
    cells.insert(3, cells.pop())  # between the first answer and its test
    verdict = grade_cells(exercise, tmp_path, cells, Limits(cell_seconds=1, test_seconds=1, total_seconds=20))
    assert verdict.score == 10
    assert [cell.error.type for cell in verdict.stopped] == ["timeout"]


def test_total_time_ends_a_submission(exercise: Exercise, tmp_path: Path):
    box = BOX_ONLY.replace("def get(self):", "def get(self):\n        time.sleep(60)")
    slow = "import time\ndef total(numbers):\n    time.sleep(60)\n" + box
    began = time.monotonic()
    verdict = grade_text(exercise, tmp_path, slow, Limits(test_seconds=1.5, total_seconds=2.5))
    assert set(statuses(verdict).values()) == {"timeout"}
    assert time.monotonic() - began < 15


def test_exit_at_the_top_of_a_cell_costs_that_cell(exercise: Exercise, tmp_path: Path):
    answers = {"total": "import os\nos._exit(0)", "Box": BOX_ONLY}
    verdict = grade_cells(exercise, tmp_path, solved(answers))
    assert statuses(verdict) == {"test-total": "crash", "test-hidden": "crash", "test-box": "ok"}


def test_syntax_error_in_one_question_costs_that_question(exercise: Exercise, tmp_path: Path):
    answers = {"total": "def total(numbers:\n    return 1", "Box": BOX_ONLY}
    verdict = grade_cells(exercise, tmp_path, solved(answers))
    assert statuses(verdict) == {"test-total": "student_error", "test-hidden": "student_error", "test-box": "ok"}
    assert verdict.tests[0].message == (
        "`total` is not defined, because of the syntax error in the cell “total”, line 1."
    )


def test_huge_output_is_capped(exercise: Exercise, tmp_path: Path):
    noisy = "print('x' * 50_000_000)\n" + RIGHT.replace("result = 0", "result = 0; print('y' * 50_000_000)")
    verdict = grade_text(exercise, tmp_path, noisy)
    assert verdict.score == 10
    assert sum(len(ran.printed) for ran in verdict.cells) < 20_000


def test_huge_result_is_refused(exercise: Exercise, tmp_path: Path):
    limits = Limits(test_seconds=20, total_seconds=60, message=1 << 20)
    verdict = grade_text(exercise, tmp_path, "def total(numbers):\n    return 'x' * (4 << 20)\n" + BOX_ONLY, limits)
    assert statuses(verdict) == {"test-total": "crash", "test-hidden": "crash", "test-box": "ok"}


def test_forked_children_are_ended(exercise: Exercise, tmp_path: Path):
    name = f"left-{os.getpid()}"
    fork = f"""
import ctypes, os, time
def total(numbers):
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            ctypes.CDLL(None).prctl(15, b"{name}", 0, 0, 0)
            os.write(theirs, b"x")
            time.sleep(600)
    return sum(numbers) if len(os.read(ours, 1)) else 0
ours, theirs = os.pipe()
"""
    (tmp_path / "answer.py").write_text(fork + BOX_ONLY)
    with Runner(exercise.preload, FAST) as runner:  # it is not the end of the sandbox that ends them
        verdict = judge(exercise, tmp_path / "answer.py", FAST, runner)
        assert verdict.score == 10
        deadline = time.monotonic() + 5
        while (alive := _alive(name)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not alive
        shutil.copy("/bin/sleep", tmp_path / name)
        with subprocess.Popen([tmp_path / name, "60"]) as ours:  # one of that name would have been seen
            seen = _alive(name)
            ours.kill()
        assert seen == [ours.pid]


def _alive(name: str) -> list[int]:
    """Processes of that name."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            text = path.read_text()
            if f"({name})" in text and text.rsplit(")", 1)[1].split()[0] != "Z":
                found.append(int(path.parent.name))
    return found


def test_chdir_and_files_stay_in_a_folder_of_their_own(exercise: Exercise, tmp_path: Path):
    before = sorted(os.listdir("."))
    answer = "import os\nopen('left.txt', 'w').write('x')\nos.chdir('/')\n" + RIGHT
    assert grade_text(exercise, tmp_path, answer).score == 10
    assert sorted(os.listdir(".")) == before


def test_shadowed_builtins_do_not_reach_the_tests(exercise: Exercise, tmp_path: Path):
    cells = solved()
    cells.insert(0, cell("len = sorted = isinstance = None\ngiven = 'mine'"))
    assert grade_cells(exercise, tmp_path, cells).score == 10


def test_input_is_empty_and_said_so(exercise: Exercise, tmp_path: Path):
    verdict = grade_text(exercise, tmp_path, "def total(numbers):\n    return int(input())\n")
    assert verdict.tests[0].status == "student_error"
    assert "EOFError" in verdict.tests[0].message


def test_state_kept_between_tests_does_not_cross(exercise: Exercise, tmp_path: Path):
    answer = """
calls = 0
def total(numbers):
    global calls
    calls += 1
    return sum(numbers) if calls < 4 else 99
"""
    assert (
        grade_text(exercise, tmp_path, answer).score == 5
    )  # two and three calls a test; five in one process would fail


def test_secrets_of_the_environment_do_not_reach_answers(
    exercise: Exercise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GRADER_SECRET", "hunter2")
    peek = "import os\nassert 'GRADER_SECRET' not in os.environ\nassert 'hunter2' not in str(dict(os.environ))\n"
    assert grade_text(exercise, tmp_path, peek + RIGHT).score == 10


# What a failing hidden test gives away


@pytest.mark.parametrize(
    "leak",
    [
        "raise ValueError(str(numbers))",
        "raise type('E' + str(numbers), (Exception,), {})()",
        "print(numbers); return 0",
        "return [numbers]",
        "return None",
    ],
)
def test_hidden_tests_and_inputs_stay_hidden(leak: str, exercise: Exercise, tmp_path: Path):
    answer = f"def total(numbers):\n    if max(numbers, default=0) > 99:\n        {leak}\n    return sum(numbers)"
    verdict = grade_text(exercise, tmp_path, answer)
    assert statuses(verdict)["test-total"] == "ok"
    assert statuses(verdict)["test-hidden"] == "student_error"
    page = feedback_page(exercise, "Somebody", verdict) + json.dumps([test.message for test in verdict.tests])
    for secret in ("7349", "7360", "secret_numbers", "HIDDEN TESTS"):
        assert secret not in page


def test_visible_failure_shows_the_students_own_line(exercise: Exercise, tmp_path: Path):
    verdict = grade_text(exercise, tmp_path, "def total(numbers):\n    return numbers['sum']\n")
    (line,) = verdict.tests[0].lines
    assert (line.line, line.function, line.code) == (2, "total", "return numbers['sum']")
    assert "TypeError" in verdict.tests[0].message
    assert "TEST" not in str(line)


def test_hidden_assert_without_message_shows_nothing_of_itself(exercise: Exercise, tmp_path: Path):
    verdict = grade_text(exercise, tmp_path, "def total(numbers):\n    return sum(numbers) if numbers else 1\n")
    hidden = verdict.tests[1]
    assert hidden.message == "A further check of this test does not hold."


# Ways to tell what a hidden test passed, told apart from the answer's own words

HEARD = r"""
import mmap
import os
import tempfile

PLACES = [os.path.join(place, "heard.txt") for place in (os.getcwd(), tempfile.gettempdir(), "/dev/shm", "/var/tmp")]
memory = mmap.mmap(-1, 4096)

def heard(numbers):
    text = str(numbers)
    if "7349" in text:
        memory[: len(text)] = text.encode()
    for place in PLACES:
        try:
            with open(place, "a") as file:
                file.write(text + "\n")
        except OSError:
            pass

def told():
    text = memory[:100].rstrip(b"\0").decode()
    for place in PLACES:
        try:
            with open(place) as file:
                text += file.read()
        except OSError:
            pass
    return text
"""
TELLING = {
    "a file or shared memory, printed by a later cell": (
        "def total(numbers):\n    heard(numbers)\n    return sum(numbers)",
        "print(told())",
        "",
    ),
    "a file or shared memory, raised by a later cell": (
        "def total(numbers):\n    heard(numbers)\n    return sum(numbers)",
        "raise ValueError(told())",
        "",
    ),
    "a file or shared memory, raised in a later visible test": (
        "def total(numbers):\n    heard(numbers)\n    return sum(numbers)",
        "",
        "class Box:\n    def __init__(self, items):\n        raise ValueError(told())",
    ),
    "lines of a traceback that spell it": (
        """
def seven(rest): return spell(rest)  # the line says 7
def three(rest): return spell(rest)  # the line says 3
def four(rest): return spell(rest)  # the line says 4
def nine(rest): return spell(rest)  # the line says 9
def spell(rest):
    if not rest: raise ValueError
    return {"7": seven, "3": three, "4": four, "9": nine}[rest[0]](rest[1:])
def total(numbers):
    return spell(str(numbers[0])) if max(numbers, default=0) > 99 else sum(numbers)""",
        "",
        "",
    ),
    "a line whose number it is": (
        "def total(numbers):\n    if max(numbers, default=0) < 99: return sum(numbers)\n    exec(str(numbers[0])[0])\n"
        + "\n".join(f"    if str(numbers[0])[0] == '{n}': raise ValueError  # the line says {n}" for n in range(1, 10)),
        "",
        "",
    ),
    "the name of its exception": (
        "def total(numbers):\n    if max(numbers, default=0) > 99:\n"
        "        raise [UnicodeError, BlockingIOError, BufferError][numbers[0] % 3]\n    return sum(numbers)",
        "",
        "",
    ),
    "its exit status": (
        "import os\ndef total(numbers):\n    if max(numbers, default=0) > 99:\n        os._exit(numbers[0] % 97)\n"
        "    return sum(numbers)",
        "",
        "",
    ),
    "the time it takes": (
        "import time\ndef total(numbers):\n    if max(numbers, default=0) > 99:\n        time.sleep(1.5)\n"
        "    return sum(numbers)",
        "",
        "",
    ),
}


@pytest.mark.parametrize("way", TELLING)
def test_nothing_that_a_student_reads_tells_of_a_hidden_input(way: str, exercise: Exercise, tmp_path: Path):
    total, later, box = TELLING[way]
    cells = solved({"total": f"{HEARD}\n{total}", "Box": box or BOX_ONLY})
    cells.insert(6, cell(later))
    verdict = grade_cells(exercise, tmp_path, cells)
    page = feedback_page(exercise, "Somebody", verdict) + json.dumps([test.message for test in verdict.tests])
    for secret in ("7349", "7360", "the line says", "Unicode", "BlockingIO", "Buffer", "exit status"):
        assert secret not in page
    hidden = verdict.tests[1]
    assert hidden.lines == ()
    assert hidden.seconds < 1.5
    assert statuses(verdict)["test-total"] == "ok"


# Files that are no notebook


@pytest.mark.parametrize("kind", ["empty", "binary", "json", "truncated", "folder", "link", "missing", "fifo", "large"])
def test_unreadable_file_is_a_verdict(kind: str, exercise: Exercise, tmp_path: Path):
    path = tmp_path / "tiny.ipynb"
    good = json.dumps({"cells": solved(), "nbformat": 4})
    match kind:
        case "empty":
            path.write_bytes(b"")
        case "binary":
            path.write_bytes(bytes(range(256)) * 8)
        case "json":
            path.write_text('["cells"]')
        case "truncated":
            path.write_text(good[: len(good) // 2])
        case "folder":
            path.mkdir()
        case "link":
            (tmp_path / "real.ipynb").write_text(good)
            path.symlink_to("real.ipynb")
        case "fifo":
            os.mkfifo(path)
        case "large":
            path.write_bytes(b" " * (21 << 20))
    verdict = judge(exercise, path, FAST)
    assert (verdict.status, verdict.score, verdict.max_score) == ("unreadable", 0, 10)
    assert {test.status for test in verdict.tests} == {"unreadable"}
    assert verdict.message


def test_the_good_file_of_the_same_content_is_read(exercise: Exercise, tmp_path: Path):
    path = tmp_path / "tiny.ipynb"
    path.write_text(json.dumps({"cells": solved(), "nbformat": 4}))
    assert judge(exercise, path, FAST).score == 10


def test_forbidden_import_gets_no_points_and_is_told_so(exercise: Exercise, tmp_path: Path):
    verdict = grade_text(exercise, tmp_path, "from reference.totals import total as _\n" + RIGHT)
    assert (verdict.score, verdict.status) == (0, "forbidden_import")
    assert "reference.totals.total" in verdict.message
    assert {test.status for test in verdict.tests} == {"forbidden_import"}
