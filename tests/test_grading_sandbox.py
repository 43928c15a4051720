"""What a student's process is locked up in: tried from inside, at every level that this machine has."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grading.running.plan import Limits
from grading.sandbox import Sandbox, SandboxError, Student, bubblewrap, layout, self_test, watch
from grading.sandbox.levels import FORCE
from grading.sandbox.removing import remove
from grading.sandbox.selftest import ITEMS, REPORT
from grading.sandbox.watch import descendants

LIMITS = Limits(memory=1 << 30, processes=24, disk=8 << 20, file_size=4 << 20, open_files=64, total_seconds=20)
CAGES: tuple[tuple[Any, bool], ...] = (
    ("bubblewrap", True),
    ("namespaces", True),
    ("landlock", False),
)
FLAT = pytest.param(("bubblewrap", False), marks=pytest.mark.slow)  # an interpreter is started for each student


@pytest.fixture(scope="module", params=[*CAGES, FLAT], ids=lambda cage: f"{cage[0]}{'' if cage[1] else '-flat'}")
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox of each kind."""
    level, nest = request.param
    try:
        made = Sandbox(("numpy",), LIMITS, level=level, nest=nest)
    except SandboxError as problem:
        pytest.skip(str(problem))
    with made:
        assert made.level == level
        assert made.nested == (nest and level != "landlock"), "the inner layer is wanted and not there"
        yield made


@pytest.fixture
def student(box: Sandbox) -> Iterator[Student]:
    """A fresh student's process."""
    made = box.spawn(())
    yield made
    box.kill(made)


def ask(student: Student, seconds: float = 60, **message: Any) -> dict[str, Any]:
    """One exchange; {} when the process ends instead."""
    data = json.dumps({"n": 1, **message}).encode()
    student.connection.settimeout(seconds)
    try:
        student.connection.sendall(len(data).to_bytes(4, "big") + data)
        return receive(student)
    except (ConnectionError, EOFError):
        return {}


def receive(student: Student) -> dict[str, Any]:
    """One message."""

    def some(size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = student.connection.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    message: dict[str, Any] = json.loads(some(int.from_bytes(some(4), "big")))
    return message


def cell(student: Student, source: str) -> str:
    """What a cell prints; it must not fail."""
    answer = ask(student, op="cell", id="cell", source=source)
    assert answer, "the process ended"
    assert answer["error"] is None, answer["error"]
    return str(answer["printed"]).strip()


def error(student: Student, source: str) -> str:
    """The type of the exception that ends a cell."""
    answer = ask(student, op="cell", id="cell", source=source)
    assert answer, "the process ended"
    assert answer["error"] is not None, answer["printed"]
    return str(answer["error"]["type"])


def zygote_of(box: Sandbox) -> int:
    """The zygote's process number; `bwrap` and the namespaces' starter stand before it."""
    assert box.zygote is not None
    first = box.zygote.process.pid
    below = list(descendants(first))
    return below[0] if below and box.level in ("bubblewrap", "namespaces") else first


# --- the self-test ---


def test_nothing_is_possible_that_should_not_be(box: Sandbox) -> None:
    assert self_test(box, [layout.PACKAGE / "judge.py"] if box.level != "landlock" else []) == ()


def test_the_self_test_names_everything_where_nothing_is_prevented() -> None:
    with Sandbox((), LIMITS, allow_unsandboxed=True, level="none") as open_box:
        found = self_test(open_box)
    assert found == ITEMS


def test_a_probe_that_says_nothing_counts_as_one_that_got_out() -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    silent: Any = SimpleNamespace(
        limits=LIMITS,
        spawn=lambda files: Student(ours, -1, -1),
        kill=lambda student: ours.close(),
    )
    assert self_test(silent) == (REPORT,)


def test_a_file_that_can_be_read_is_named(box: Sandbox) -> None:
    assert self_test(box, [os.__file__]) == ("reading files outside",)


USER = """
mkdir -p "$1/python" "$1/home" && chmod 1777 "$1/home" &&
mount --bind "$2" "$1/python" && mount -t tmpfs -o mode=755 none /root &&
mkdir -p "$2" && mount --bind "$1/python" "$2" &&
shift 2 && exec setpriv --reuid 4242 --regid 4242 --clear-groups -- "$@"
"""
AS_USER = """
import sys
from grading.running.plan import Limits
from grading.sandbox import Sandbox, SandboxError, self_test
for level in ("bubblewrap", "namespaces", "landlock"):
    for nest in (True, False):
        with Sandbox((), Limits(processes=24), level=level, nest=nest) as box:
            print(level, box.nested, self_test(box))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(not shutil.which("setpriv") or not shutil.which("bwrap"), reason="needs setpriv and bwrap")
def test_an_ordinary_user_has_every_level() -> None:
    """The same as an ordinary user, to whom Python is readable (root's own folder is not)."""
    path = str(layout.PACKAGE.parent)
    with tempfile.TemporaryDirectory() as folder:  # pytest closes its own to other users
        os.chmod(folder, 0o755)
        home = {"HOME": f"{folder}/home", "TMPDIR": f"{folder}/home", "PATH": os.environ["PATH"], "PYTHONPATH": path}
        command = ["unshare", "-m", "sh", "-c", USER, "sh", folder, sys.base_prefix, sys.executable, "-c", AS_USER]
        done = subprocess.run(command, env=home, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "bubblewrap True ()",
        "bubblewrap False ()",
        "namespaces True ()",
        "namespaces False ()",
        "landlock False ()",
        "landlock False ()",
    ]


# --- what is there to be found ---


def test_the_environment_is_not_the_graders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "a-word-of-the-grader")
    with Sandbox((), LIMITS) as box:
        student = box.spawn(())
        seen = cell(
            student, "import glob, os; print(dict(os.environ), [open(f).read() for f in glob.glob('/proc/*/environ')])"
        )
        assert "a-word-of-the-grader" not in seen
        assert "OMP_NUM_THREADS" in seen
        box.kill(student)
        assert b"a-word-of-the-grader" not in Path(f"/proc/{zygote_of(box)}/environ").read_bytes()


def test_only_the_workers_modules_are_there(student: Student, box: Sandbox) -> None:
    loaded = json.loads(
        cell(student, "import json, sys; print(json.dumps([m for m in sys.modules if m.startswith('grading.')]))")
    )
    modules = set(loaded) - {"grading.running", "grading.sandbox"}
    assert modules <= set(layout.needed_modules())
    assert not modules & {
        f"grading.running.{name}" for name in ("session", "proctor", "channel", "runner", "explaining")
    }
    assert error(student, "import grading.judge") == "ModuleNotFoundError"
    assert error(student, "import grading.running.session") == "ModuleNotFoundError"


def test_home_and_the_course_are_not_there(student: Student, box: Sandbox) -> None:
    for path in (str(layout.PACKAGE / "judge.py"), os.path.expanduser("~/.bashrc"), "/etc/shadow", "/etc/passwd"):
        assert error(student, f"open({path!r})") in ("FileNotFoundError", "PermissionError"), path
    if box.nested:
        assert cell(student, "import os; print(os.listdir('/proc'), os.getcwd())") == "[] /tmp/answer"


def test_no_descriptor_but_the_socket_is_open(student: Student) -> None:
    seen = cell(
        student,
        "import os, stat\n"
        "for number in range(64):\n"
        "    try:\n"
        "        print(number, oct(stat.S_IFMT(os.fstat(number).st_mode)))\n"
        "    except OSError:\n"
        "        pass",
    )
    kinds = [line.split()[1] for line in seen.splitlines()]
    assert kinds == ["0o20000"] * 3 + ["0o140000"]


def test_the_zygote_never_held_what_was_sent(box: Sandbox) -> None:
    if os.geteuid() != 0:
        pytest.skip("reading another process's memory takes root")
    if not box.nested and box.level != "landlock":
        pytest.skip("its zygote serves one student")
    marker = "".join(("marker-", "in-a-", "hidden-", f"test-{os.getpid()}"))
    for _ in range(3):
        student = box.spawn(())
        assert cell(student, f"kept = {marker!r}; print(len(kept))") == str(len(marker))
        ask(student, op="test", names=["kept"], numpy=False)
        box.kill(student)
    memory = _memory_of(zygote_of(box))
    assert b"it never reads a student's socket" in memory, "the walk finds what is there"
    assert marker.encode() not in memory
    assert marker.encode("utf-16-le") not in memory


def _memory_of(process: int) -> bytes:
    """All of a process's memory that is no file."""
    parts = []
    with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", 0) as memory:
        for line in maps:
            span, rights, _, _, inode = line.split()[:5]
            start, end = (int(part, 16) for part in span.split("-"))
            if rights.startswith("rw") and inode == "0":
                memory.seek(start)
                parts.append(memory.read(end - start))
    return b"".join(parts)


# --- what cannot be done ---


ATTEMPTS = [
    "socket.socket(socket.AF_INET)",
    "socket.socket(socket.AF_INET6)",
    "socket.socket(40)",  # to the host of a virtual machine, past any network namespace
    "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "call('unshare', 0x10000000)",
    "call('unshare', 0x00020000)",
    "call('mount', b'none', b'/tmp', b'tmpfs', 0, None)",
    "call('umount2', b'/proc', 2)",
    "call('ptrace', 0x4206, os.getppid() or 1, None, None)",
    "call('setns', 0, 0)",
    "call('chroot', b'.')",
    "call('syscall', 435, 0, 0)",  # clone3
    "call('syscall', 425, 1, None)",  # io_uring_setup
    "call('syscall', 321, 0, None, 0)",  # bpf
    "os.memfd_create('x')",
    "call('shmget', 0, 1 << 20, 0o1600)",
    "resource.prlimit(1, resource.RLIMIT_CPU, (0, 0))",
    "os.sched_setaffinity(1, {0})",
    "os.setpriority(os.PRIO_USER, 0, 5)",
    "resource.setrlimit(resource.RLIMIT_NPROC, (resource.RLIM_INFINITY,) * 2)",
    "resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)",
    "os.setuid(0)",
    "os.mknod('device', 0o20600, os.makedev(1, 1))",
    "open('/usr/written', 'w')",
    "open('/grader/grading/running/worker.py', 'a')",
    "open('/dev/written', 'w')",
    "open('/written', 'w')",
    "os.mkdir('/proc/written')",
]
TRY = """
import ctypes, json, os, resource, socket
def call(name, *args):
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*args) == -1:
        raise OSError(ctypes.get_errno(), name)
worked = []
for attempt in json.loads({attempts!r}):
    try:
        exec(attempt)
        worked.append(attempt)
    except (OSError, ValueError):
        pass
print(json.dumps(worked))
"""


def test_calls_that_no_answer_needs_are_refused(student: Student) -> None:
    assert json.loads(cell(student, TRY.format(attempts=json.dumps(ATTEMPTS)))) == []
    assert json.loads(cell(student, TRY.format(attempts=json.dumps(["os.getpid()"])))) == ["os.getpid()"]


def test_what_answers_need_still_works(student: Student) -> None:
    cell(
        student,
        "import asyncio, concurrent.futures, os, pathlib, subprocess, sys, tempfile, threading\n"
        "pathlib.Path('notes.txt').write_text('x'); os.chmod('notes.txt', 0o600)\n"
        "assert tempfile.TemporaryDirectory().name.startswith(os.getcwd())\n"
        "with concurrent.futures.ThreadPoolExecutor(3) as pool:\n"
        "    assert list(pool.map(abs, [-1, 2])) == [1, 2]\n"
        "assert subprocess.run([sys.executable, '-c', 'print(7)'], capture_output=True, text=True).stdout == '7\\n'\n"
        "import numpy\n"
        "assert numpy.linalg.norm(numpy.ones(4)) == 2\n"
        "import sqlite3, statistics, decimal, csv",
    )


# --- limits ---


def test_processes_are_bounded_also_for_root(box: Sandbox, student: Student) -> None:
    seen = cell(
        student,
        "import os, signal, time\n"
        "children = []\n"
        "try:\n"
        "    while len(children) < 200:\n"
        "        child = os.fork()\n"
        "        if child == 0:\n"
        "            time.sleep(30); os._exit(0)\n"
        "        children.append(child)\n"
        "except BlockingIOError:\n"
        "    pass\n"
        "for child in children:\n"
        "    os.kill(child, signal.SIGKILL); os.waitpid(child, 0)\n"
        "print(len(children))",
    )
    assert 10 <= int(seen) <= LIMITS.processes + 8


def test_a_file_and_all_files_are_bounded(box: Sandbox) -> None:
    student = box.spawn(())
    assert error(student, "open('large', 'wb').write(bytes(5 << 20))") == "OSError"
    answer = ask(
        student,
        op="cell",
        id="cell",
        source="import time\n"
        "for number in range(20):\n"
        "    open(f'file{number}', 'wb').write(bytes(1 << 20)); time.sleep(0.1)\n"
        "time.sleep(5)",
    )
    box.kill(student)
    if answer:  # the file system was full
        assert answer["error"] is not None
        assert "No space left" in answer["error"]["text"]
    else:
        assert box.why == "disk"


def test_one_process_cannot_have_more_memory_and_lives(student: Student) -> None:
    assert error(student, "kept = bytes(2 << 30)") == "MemoryError"
    assert cell(student, "print(7)") == "7"


def test_many_processes_together_cannot_have_more_memory(box: Sandbox) -> None:
    student = box.spawn(())
    before = _available()
    least = [before]
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.02):
            least.append(_available())

    looking = threading.Thread(target=look)
    looking.start()
    try:
        answer = ask(
            student,
            op="cell",
            id="cell",
            source="import os, time\n"
            "for _ in range(8):\n"
            "    if os.fork() == 0:\n"
            "        kept = bytearray(300 << 20)\n"
            "        for at in range(0, len(kept), 4096):\n"
            "            kept[at] = 1\n"
            "        time.sleep(30); os._exit(0)\n"
            "time.sleep(30)",
        )
    finally:
        done.set()
        looking.join()
        box.kill(student)
    assert answer == {}, "nothing ended them"
    assert box.why == "memory"
    assert before - min(least) < 1.5 * (1 << 30)


def _available() -> int:
    line = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable"))
    return int(line.split()[1]) * 1024


def test_memory_that_forks_share_counts_once(box: Sandbox) -> None:
    student = box.spawn(())
    cell(
        student,
        "import os, time\n"
        "kept = bytearray(200 << 20)\n"
        "for at in range(0, len(kept), 4096):\n"
        "    kept[at] = 1\n"
        "for _ in range(8):\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(30); os._exit(0)\n"
        "time.sleep(0.5)",
    )
    box.kill(student)
    assert box.why == ""


def test_what_ends_while_it_is_looked_at_holds_nothing() -> None:
    """A group that is killed goes between two readings: its sizes are known, and its shares can no longer be read."""
    with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and still listed
        assert not watch.memory({process.pid: 1 << 40}, 1 << 30)
        process.wait()
        assert not watch.memory({process.pid: 1 << 40}, 1 << 30), "not even listed"
    assert watch.memory({os.getpid(): 1 << 40}, 1 << 10), "what lives does count"


@pytest.mark.parametrize("problem", [PermissionError(), FileNotFoundError()], ids=["hidden", "not counted"])
def test_what_lives_and_shows_no_share_counts_in_full(problem: OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may hide, and some kernels have no such file; then the sum that is too high must do."""

    def unread(path: str) -> bytes:
        raise problem

    monkeypatch.setattr(watch, "_read", unread)
    assert watch.memory({os.getpid(): 3 << 30}, 2 << 30)
    assert not watch.memory({os.getpid(): 1 << 30}, 2 << 30)


def test_memory_counts_where_the_first_thread_has_ended(box: Sandbox) -> None:
    """The kernel says that such a process holds nothing; its other threads do."""
    student = box.spawn(())
    answer = ask(
        student,
        op="cell",
        id="cell",
        source="import ctypes, os, threading, time\n"
        "exit_thread = 93 if os.uname().machine == 'aarch64' else 60\n"
        "def hold():\n"
        "    time.sleep(1)  # by then the first thread is gone\n"
        "    kept = bytearray(300 << 20)\n"
        "    for at in range(0, len(kept), 4096):\n"
        "        kept[at] = 1\n"
        "    time.sleep(30)\n"
        "for _ in range(6):\n"
        "    if os.fork() == 0:\n"
        "        threading.Thread(target=hold).start()\n"
        "        ctypes.CDLL(None).syscall(exit_thread, 0)\n"
        "time.sleep(30)",
    )
    box.kill(student)
    assert answer == {}, "nothing ended them"
    assert box.why == "memory"


# --- ends ---


def test_killing_ends_all_that_was_started_and_removes_the_folder(box: Sandbox) -> None:
    student = box.spawn(())
    cell(
        student,
        "import os, signal, time\n"
        "open('left', 'w').write('x')\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        for number in range(1, 65):\n"
        "            try: signal.signal(number, signal.SIG_IGN)\n"
        "            except (OSError, ValueError): pass\n"
        "        os.fork()\n"
        "        time.sleep(60); os._exit(0)\n"
        "time.sleep(0.5)",
    )
    zygote = zygote_of(box)
    started = descendants(zygote)
    assert len(started) >= 7
    watched = [os.pidfd_open(pid) for pid in started]
    box.kill(student)
    for descriptor in watched:
        with pytest.raises(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, 0)
        os.close(descriptor)
    assert not descendants(zygote)
    assert not box.place or not os.listdir(box.place)
    after = box.spawn(())
    assert cell(after, "import os; print(os.listdir('.'))") == "[]"
    box.kill(after)


def test_the_descriptor_says_when_the_process_has_ended(box: Sandbox) -> None:
    student = box.spawn(())
    assert Path(f"/proc/{student.process}").exists()
    assert ask(student, op="cell", id="cell", source="import os; os._exit(3)") == {}
    box.kill(student)
    assert not Path(f"/proc/{student.process}").exists()


@pytest.mark.parametrize(
    "attack",
    [
        "import os, signal; os.kill(-1, signal.SIGKILL)",
        "import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
        "import os, signal; os.killpg(0, signal.SIGKILL)",
        "import os, signal\nfor pid in range(1, 40):\n    try: os.kill(pid, signal.SIGKILL)\n    except OSError: pass",
        "import ctypes; ctypes.string_at(0)",
        "import os; os.abort()",
        "import os, shutil\nfor _ in range(30):\n    os.fork()",
        "import os\nfor number in range(1024):\n    try: os.close(number)\n    except OSError: pass",
        "import sys; sys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
    ],
)
def test_the_next_student_is_served_whatever_the_one_before_did(box: Sandbox, attack: str) -> None:
    if box.level == "landlock" and "range(1, 40)" in attack:
        pytest.skip("these would be other processes' numbers")
    student = box.spawn(())
    before = zygote_of(box)
    with contextlib.suppress(TimeoutError):
        ask(student, 5, op="cell", id="cell", source=attack)
    box.kill(student)
    after = box.spawn(())
    assert cell(after, "print(7)") == "7"
    if box.nested:
        assert zygote_of(box) == before, "the zygote itself is out of reach"
    box.kill(after)


def test_a_zygote_that_died_is_replaced(box: Sandbox) -> None:
    lost = box.spawn(())
    os.kill(zygote_of(box), signal.SIGKILL)
    until = time.monotonic() + 20
    while _runs(lost.process) and time.monotonic() < until:
        time.sleep(0.02)
    assert ask(lost, op="cell", id="cell", source="x = 1") == {}
    box.kill(lost)
    student = box.spawn(())
    assert cell(student, "print(7)") == "7"
    box.kill(student)


def test_what_one_process_asked_for_another_can_end(box: Sandbox) -> None:
    """The judge of a submission is a fork of the grader, and may die with its student alive."""
    child = os.fork()
    if child == 0:
        try:
            cell(box.spawn(()), "import os, time\nif os.fork() == 0:\n    time.sleep(60)")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    box.clear()
    student = box.spawn(())
    assert cell(student, "print(7)") == "7"
    box.kill(student)


def test_nothing_is_left_when_the_grader_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom grading.running.plan import Limits\nfrom grading.sandbox import Sandbox\n"
        "box = Sandbox((), Limits()); student = box.spawn(())\n"
        "print(student.process, box.zygote.process.pid, flush=True)\n"
        "time.sleep(60)"
    )
    environment = {**os.environ, "PYTHONPATH": str(layout.PACKAGE.parent)}
    grader = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    assert grader.stdout is not None
    left = [int(word) for word in grader.stdout.readline().split()]
    grader.kill()
    grader.wait()
    until = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in left) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in left if _runs(pid)]


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_folders_that_resist_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "answer"
    folder.mkdir()
    here = os.getcwd()
    try:
        os.chdir(folder)
        for _ in range(1_200):
            os.mkdir("d")
            Path("file").touch()
            os.chdir("d")
    finally:
        os.chdir(here)
    (folder / "closed").mkdir()
    (folder / "closed" / "file").touch()
    (folder / "link").symlink_to(tmp_path)
    (folder / "closed").chmod(0)
    remove(str(folder))
    assert not folder.exists()
    assert tmp_path.exists()


# --- files of the instructor's ---


def test_files_are_copied_and_shadow_nothing(box: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit")
    (tmp_path / "helper.py").write_text("answer = 42")
    (tmp_path / "data 1.bin").write_bytes(b"\0" * 300_000)
    student = box.spawn([str(path) for path in sorted(tmp_path.iterdir())])
    assert cell(student, "import helper, numpy; print(helper.answer, numpy.ones(2).sum())") == "42 2.0"
    assert cell(student, "import os; print(sorted(os.listdir('.')))") == "['data 1.bin', 'helper.py', 'numpy.py']"
    assert cell(student, "open('helper.py', 'w').write(''); print(len(open('data 1.bin', 'rb').read()))") == "300000"
    box.kill(student)
    assert (tmp_path / "helper.py").read_text() == "answer = 42"


@pytest.mark.parametrize("name", ["folder", "absent", "pipe"])
def test_what_is_no_file_is_refused(box: Sandbox, tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="files: "):
        box.spawn([str(tmp_path / name)])


# --- levels ---


def test_without_a_level_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "find", lambda: None)
    with pytest.raises(SandboxError, match="install bubblewrap"):
        Sandbox((), LIMITS, level="bubblewrap")


def test_no_sandbox_has_to_be_allowed() -> None:
    with pytest.raises(SandboxError, match="--allow-unsandboxed"):
        Sandbox((), LIMITS, level="none")


def test_the_environment_can_ask_for_a_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORCE, "none")
    with Sandbox((), LIMITS, allow_unsandboxed=True) as box:
        assert box.level == "none"
    monkeypatch.setenv(FORCE, "wishful")
    with pytest.raises(ValueError, match="level: there is no 'wishful'"):
        Sandbox((), LIMITS)


def test_the_best_level_is_taken() -> None:
    if bubblewrap.find() is None:
        pytest.skip("bwrap is not installed")
    with Sandbox((), LIMITS) as box:
        assert box.level == "bubblewrap"


# --- the worker ---


@pytest.fixture(scope="module")
def plain() -> Iterator[Sandbox]:
    """One sandbox, of the best level there is."""
    with Sandbox(("numpy",), replace(LIMITS, processes=64)) as made:
        yield made


@pytest.fixture
def worker(plain: Sandbox) -> Iterator[Student]:
    """A student's process in it."""
    made = plain.spawn(())
    yield made
    plain.kill(made)


def test_cells_may_wait_at_the_top(worker: Student) -> None:
    cell(worker, "import asyncio\nqueue = asyncio.Queue()\nawait queue.put(7)\ntask = asyncio.create_task(queue.get())")
    assert cell(worker, "print(await task)") == "7"
    assert cell(worker, "print(asyncio.run(asyncio.sleep(0, 8)))") == "8"


def test_magics_do_no_harm_and_timed_code_runs(worker: Student) -> None:
    cell(worker, "shell = get_ipython()\nshell.run_line_magic('matplotlib', 'inline')\nshell.system('ls')")
    cell(
        worker,
        "files = get_ipython().getoutput('ls')\nget_ipython().run_cell_magic('bash', '', 'exit 1')\nassert files == []",
    )
    cell(
        worker,
        "get_ipython().run_cell_magic('time', '', 'a = 1\\n')\nget_ipython().run_line_magic('timeit', '-n 3 b = 2')",
    )
    cell(worker, "get_ipython().run_cell_magic('capture', 'out --no-stderr', 'c = 3\\n')\nout.show()")
    assert cell(worker, "print(a, b, c)") == "1 2 3"
    answer = ask(worker, op="cell", id="slow", source="get_ipython().run_cell_magic('time', '', 'x = 1\\n1 / 0\\n')")
    assert answer["error"]["lines"][-1] == {"cell": "slow", "line": 3, "column": 0}


def test_another_system_is_told_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxError, match="on Linux alone"):
        Sandbox((), LIMITS, allow_unsandboxed=True)


def test_nobody_is_asked_and_nothing_is_drawn(worker: Student) -> None:
    answer = ask(worker, op="cell", id="cell", source="name = input('name? ')")
    assert answer["error"]["type"] == "EOFError"
    assert "nobody to ask" in answer["error"]["text"]
    assert cell(worker, "display(1, 2)\nimport os\nprint(os.environ['MPLBACKEND'])") == "1 2\nAgg"


def test_the_same_work_draws_the_same_numbers(plain: Sandbox) -> None:
    drawn = []
    for _ in range(2):
        student = plain.spawn(())
        drawn.append(cell(student, "import random, numpy as np\nprint(random.random(), np.random.rand())"))
        plain.kill(student)
    assert drawn[0] == drawn[1]


def test_answers_bear_the_numbers_of_their_requests(worker: Student) -> None:
    assert ask(worker, n=5, op="cell", id="a", source="def f(x): return x + 1")["n"] == 5
    begun = ask(worker, n=6, op="test", names=["f"], numpy=False)
    assert begun["n"] == 6
    target = {"own": begun["names"]["f"]["h"]["number"]}
    asked = {"op": "call", "target": target, "args": [1], "kwargs": {}, "objects": [], "drop": []}
    assert ask(worker, n=7, **asked)["value"] == 2
    assert ask(worker, n=8, **asked)["n"] == 8
    assert ask(worker, n=9, op="end") == {"n": 6, "ended": 0}


LEFTOVER = """
import ctypes, os, time
def f(x):
    if ctypes.CDLL(None).fork() == 0:
        ctypes.CDLL(None).fork()
        os.setsid()
        while True:
            for number in range(3, 64):
                try:
                    data = os.read(number, 1 << 16)
                    os.write(number, data)
                except OSError:
                    pass
    return x
def g(x):
    return x + 1
"""


def test_what_a_test_leaves_behind_does_not_answer_in_the_next(worker: Student) -> None:
    cell(worker, LEFTOVER)

    def run_test(name: str) -> list[dict[str, Any]]:
        begun = ask(worker, n=10, op="test", names=[name], numpy=False)
        target = {"own": begun["names"][name]["h"]["number"]}
        asked = {"op": "call", "target": target, "args": [1], "kwargs": {}, "objects": [], "drop": []}
        return [begun, ask(worker, n=11, **asked)]

    run_test("f")
    os.kill(worker.process, 0)
    # the leftovers compete for this test's messages; its fork is ended from outside of it, as a judge would
    worker.connection.sendall(b"")
    for pid in list(descendants(worker.process))[:1]:
        os.kill(pid, signal.SIGKILL)
    assert receive(worker) == {"n": 10, "ended": -signal.SIGKILL}
    assert not descendants(worker.process)
    for _ in range(5):
        assert run_test("g")[1]["value"] == 2
        assert ask(worker, n=12, op="end") == {"n": 10, "ended": 0}
    worker.connection.settimeout(0.2)
    with pytest.raises(TimeoutError):
        worker.connection.recv(1)


def test_orphans_are_reaped_and_no_fork_of_a_cell_answers(worker: Student) -> None:
    cell(worker, "import os\nfor _ in range(5):\n    if os.fork() == 0:\n        os.fork(); os._exit(0)")
    until = time.monotonic() + 20
    while descendants(worker.process) and time.monotonic() < until:  # a busy machine lets them end late
        ask(worker, op="test", names=[], numpy=False)
        assert ask(worker, op="end")["ended"] == 0
    assert not descendants(worker.process)
    answer = ask(worker, op="cell", id="cell", source="import os\nchild = os.fork()\nprint(child > 0)")
    assert answer["printed"] == "True\n"
    worker.connection.settimeout(0.3)
    with pytest.raises(TimeoutError):
        worker.connection.recv(1)


def test_a_large_message_passes(worker: Student) -> None:
    assert cell(worker, f"text = {'x' * (5 << 20)!r}\nprint(len(text))") == str(5 << 20)


def test_a_test_cannot_end_the_process_it_was_forked_from(worker: Student) -> None:
    cell(
        worker,
        "import os, signal\ndef f():\n    os.kill(os.getppid(), signal.SIGKILL)\n    os.kill(-1, signal.SIGKILL)",
    )
    begun = ask(worker, op="test", names=["f"], numpy=False)
    target = {"own": begun["names"]["f"]["h"]["number"]}
    ask(worker, op="call", target=target, args=[], kwargs={}, objects=[], drop=[])
    assert ask(worker, op="end")["ended"] == 0
    assert cell(worker, "print(7)") == "7"


def test_a_spawn_is_cheap(plain: Sandbox) -> None:
    """Processor time, which a busy machine does not stretch as it does wall time."""

    def used() -> float:
        fields = Path(f"/proc/{zygote_of(plain)}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    before = used()
    for _ in range(20):
        student = plain.spawn(())
        cell(student, "x = 1")
        plain.kill(student)
    assert (used() - before) / 20 < 0.08


@pytest.mark.parametrize("level", ["bubblewrap", "namespaces"])
def test_python_may_stand_below_tmp(level: str) -> None:
    below = Path(tempfile.mkdtemp(dir="/tmp", prefix="environment-"))
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[1])!r})
from grading.running.plan import Limits
from grading.sandbox import Sandbox, SandboxError, self_test
try:
    with Sandbox((), Limits(), level={level!r}) as box:
        print(self_test(box), len(box.spawn().connection.getsockname()))
except SandboxError as problem:
    print("none:", problem)
"""
    try:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", below / "venv"], check=True)
        python = below / "venv" / "bin" / "python"
        done = subprocess.run([python, "-c", script], capture_output=True, text=True, check=False)
        usual = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert done.stdout.startswith("()" if usual.stdout.startswith("()") else "none:"), done.stdout + done.stderr
    finally:
        shutil.rmtree(below)
