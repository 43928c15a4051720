"""Workers on this machine: every job gets one answer, whatever happens to a worker; and the worker command."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grading import pool, worker
from grading.__main__ import main
from grading.course import open_course
from grading.engines import pool_of
from grading.jobs import Job, answers, job_line, read_job, read_record_line, record_line, without_timings
from grading.pool import OPEN_JOBS, Pool, limit_options, patience, worker_command
from grading.running.plan import Limits
from grading.worker import Grader, answer_lines, failing
from tests.grading_tiny import BOX_ONLY, FAST, cell, make_course, notebook, solved, source_cells, write_notebook

ROOT = Path(__file__).resolve().parent.parent

# A worker that does what the student's name says, and says which process it is.
ACTOR = """
import json, os, signal, sys, time
for line in sys.stdin:
    name = json.loads(line)["student"].partition(" ")[0]
    print("about to", name, file=sys.stderr, flush=True)
    if name == "die": os.kill(os.getpid(), signal.SIGKILL)
    if name == "half": sys.stdout.write("half a rec"); sys.stdout.flush(); os._exit(7)
    if name == "hang": time.sleep(60)
    if name == "stay": signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)
    if name == "once" and not os.path.exists(sys.argv[1]): open(sys.argv[1], "w").close(); os._exit(9)
    if name == "slow": time.sleep(0.05)
    if name == "long": sys.stdout.write("x" * 300_000)
    print(os.getpid(), flush=True)
"""


def acting(workers: int = 2, patience: float = 30.0, *more: str) -> Pool:
    return Pool([sys.executable, "-S", "-c", ACTOR, *more], workers, patience)


def jobs(*names: str) -> list[Job]:
    """Jobs that differ, by what is to be done."""
    return [Job(f"{name} {place}", "tiny", "tiny", f"/x/{place}") for place, name in enumerate(names)]


def gone(process: int) -> bool:
    """Whether a process has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().split(")")[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


# The pool


def test_every_job_is_answered_once_by_as_many_workers_as_asked_for() -> None:
    wanted = jobs(*["slow"] * 12)
    with acting(3) as workers:
        found = list(workers.run(wanted))
    assert sorted(answer.job.path for answer in found) == sorted(job.path for job in wanted)
    assert len({answer.line for answer in found}) == 3
    assert all(answer.line and not answer.fault for answer in found)


def test_workers_are_kept_from_one_run_to_the_next_and_not_started_for_nothing() -> None:
    with acting(8) as workers:
        first = {answer.line for answer in workers.run(jobs("ok"))}
        second = {answer.line for answer in workers.run(jobs("ok"))}
    assert first == second
    assert len(first) == 1


def test_jobs_are_taken_as_they_are_needed() -> None:
    taken: list[Job] = []

    def source() -> Iterator[Job]:
        for job in jobs(*["ok"] * 40):
            taken.append(job)
            yield job

    with acting(2) as workers:
        for answered, _ in enumerate(workers.run(source()), 1):
            assert len(taken) <= answered + 2 * OPEN_JOBS
    assert len(taken) == 40


@pytest.mark.parametrize(("deadly", "said"), [("die", "signal 9"), ("half", "status 7")])
def test_job_that_ends_two_workers_is_given_back_and_the_others_are_answered(deadly: str, said: str) -> None:
    wanted = jobs("ok", deadly, *["slow"] * 8)
    with acting(2) as workers:
        found = {answer.job.student: answer for answer in workers.run(wanted)}
    bad = found.pop(f"{deadly} 1")
    assert (bad.line, said in bad.fault, f"about to {deadly}" in bad.fault) == ("", True, True)
    assert len(found) == 9
    assert all(answer.line and not answer.fault for answer in found.values())


def test_job_whose_worker_died_once_gets_another_chance(tmp_path: Path) -> None:
    with acting(1, 30.0, str(tmp_path / "mark")) as workers:
        found = list(workers.run(jobs("ok", "once", "ok")))
    assert len({answer.line for answer in found}) == 2, "one worker, and the one in its place"
    assert all(answer.line for answer in found)


def test_job_behind_a_deadly_one_is_not_to_blame() -> None:
    """Both are open at the same worker when it dies, twice."""
    with acting(1) as workers:
        found = {answer.job.student: answer.line for answer in workers.run(jobs("ok", "die", "ok", "die", "ok"))}
    assert [name for name, line in found.items() if not line] == ["die 1", "die 3"]


def test_worker_that_hangs_is_ended_and_the_rest_goes_on() -> None:
    start = time.monotonic()
    with acting(2, 0.5) as workers:
        found = {answer.job.student: answer for answer in workers.run(jobs("ok", "hang", "ok", "ok"))}
    assert time.monotonic() - start < 20
    assert "took more than 0.5 seconds" in found["hang 1"].fault
    assert all(found[name].line for name in ("ok 0", "ok 2", "ok 3"))


def test_long_lines_arrive_whole() -> None:
    with acting(1) as workers:
        found = list(workers.run(jobs("long", "long")))
    assert [len(answer.line.lstrip("x")) < 10 < len(answer.line) for answer in found] == [True, True]


def test_worker_that_refuses_is_quoted() -> None:
    text = "import sys; print('python -m grading: no sandbox', file=sys.stderr); sys.exit(2)"
    with Pool([sys.executable, "-c", text], 2, 5) as workers, pytest.raises(ValueError, match=r"^no sandbox$"):
        list(workers.run(jobs("ok")))


def test_workers_that_never_answer_are_given_up() -> None:
    broken = [sys.executable, "-c", "import no_such_module"]
    with Pool(broken, 1, 5) as workers, pytest.raises(ValueError, match="no_such_module"):
        list(workers.run(jobs(*["ok"] * 100)))


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_close_ends_all_at_once_also_one_that_does_not_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "GRACE_SECONDS", 0.5)
    with acting(3) as workers:
        run = workers.run(jobs("ok", "ok", "ok", "stay", "stay", "hang"))
        running = {int(next(run).line) for _ in range(3)}
        assert len(running) == 3
        time.sleep(0.3)  # so that those who will not listen do not
        start = time.monotonic()
    assert time.monotonic() - start < 5, "one deadline for all"
    assert all(map(gone, running))


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_workers_end_with_a_pool_that_is_killed(tmp_path: Path) -> None:
    course = make_course(tmp_path)
    path = write_notebook(tmp_path / "a.ipynb", notebook(solved()))
    text = f"""
import json, sys
from grading.course import open_course
from grading.jobs import Job
from grading.pool import Pool, worker_command
from grading.running.plan import Limits
from pathlib import Path
workers = Pool(worker_command(open_course(Path({str(course.root)!r})), Limits()), 1, 60)
for answer in workers.run([Job("", "tiny", "tiny", "")] * 2):
    print(workers._workers[0].process.pid, flush=True)
    sys.stdin.read()
"""
    assert path.is_file()
    holder = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    assert holder.stdout is not None
    running = int(holder.stdout.readline())
    assert not gone(running)
    holder.kill()
    holder.communicate()
    deadline = time.monotonic() + 10
    while not gone(running) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert gone(running)


@pytest.mark.parametrize("workers", [0, -1])
def test_pool_without_workers_is_a_value_error(workers: int) -> None:
    with pytest.raises(ValueError, match="workers"):
        Pool(["true"], workers, 1)


def test_jobs_below_zero_are_a_value_error() -> None:
    with pytest.raises(ValueError, match="jobs"):
        pool_of(-1)


# The lines


def test_a_job_survives_its_line_whatever_its_names_are() -> None:
    job = Job('zoë, "o"\n', "a b", "ü", "/x/bo\udcff.ipynb", ("The file was renamed.",))
    line = job_line(job)
    assert line.isascii()
    assert "\n" not in line
    assert read_job(line) == job
    assert job.exercise == "a b/ü"


@pytest.mark.parametrize("line", ["", "[]", "1", "{}", '{"student": 1}', '{"student": "a", "assignment": "b"}'])
def test_a_line_that_is_no_job_is_a_value_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_job(line)
    with pytest.raises(ValueError, match="notes"):
        read_job('{"student": "a", "assignment": "b", "notebook": "c", "path": "d", "notes": "e"}')


def test_limits_reach_the_worker(tmp_path: Path) -> None:
    from grading.options import limits_of, parser

    limits = Limits(cell_seconds=1, test_seconds=2.5, total_seconds=3, memory=4 << 20, processes=7, open_files=99)
    command = worker_command(make_course(tmp_path), limits, allow_unsandboxed=True)
    options = parser().parse_args(command[command.index("worker") :])
    assert limits_of(options) == limits
    assert options.allow_unsandboxed
    assert options.submitted == tmp_path / "submitted"
    assert len(limit_options(limits)) == 2 * len(vars(limits))
    assert patience(limits) > 4 * limits.total_seconds


# The worker


def answered(course_root: Path, lines: list[str], *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "grading", "worker", "--course", str(course_root), *more]
    return subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False, cwd=ROOT)


def test_worker_writes_a_record_a_line_and_nothing_else(tmp_path: Path) -> None:
    course = make_course(tmp_path)
    paths = {
        "ann": write_notebook(course.submitted / "ann" / "tiny" / "tiny.ipynb", notebook(solved())),
        "bob": write_notebook(
            course.submitted / "bob" / "tiny" / "tiny.ipynb",
            notebook(solved({"total": "print('a record')", "Box": BOX_ONLY})),
        ),
        "cyd": course.submitted / "cyd" / "tiny" / "tiny.ipynb",
    }
    wanted = [Job(who, "tiny", "tiny", str(path), ("Found late.",)) for who, path in paths.items()]
    wanted += [Job("eve", "no", "such", "x"), Job("", "tiny", "tiny", "")]
    done = answered(tmp_path, [*map(job_line, wanted), "", "no job"])
    records = [read_record_line(line) for line in done.stdout.splitlines()]
    assert all(answers(job, record) for job, record in zip(wanted, records, strict=True))
    assert [record.verdict.score for record in records] == [10, 5, 0, 0, 0]
    assert [record.verdict.status for record in records[2:]] == ["unreadable", "grader_error", "ok"]
    assert records[0].verdict.notes == ("Found late.",)
    assert "no 'such' in this course" in records[3].verdict.fault
    assert failing(records[4]) == []
    assert done.returncode == 1
    assert "line 7: " in done.stderr


def test_what_prints_in_a_worker_is_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that prints, or a C function that writes to the descriptor, reaches the error output."""
    text = """
import os, sys
from grading import worker
real = worker.judge_submission
def noisy(*given):
    print("noise")
    os.write(1, b"more noise\\n")
    return real(*given)
worker.judge_submission = noisy
from grading.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
    course = make_course(tmp_path)
    path = write_notebook(course.submitted / "ann" / "tiny" / "tiny.ipynb", notebook(solved()))
    done = subprocess.run(
        [sys.executable, "-c", text, "worker", "--course", str(tmp_path)],
        input=job_line(Job("ann", "tiny", "tiny", str(path))),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert len(done.stdout.splitlines()) == 1
    assert read_record_line(done.stdout).verdict.score == 10
    assert "noise" in done.stderr
    assert "more noise" in done.stderr


def test_own_answer_of_an_instructor_names_the_tests_it_fails(tmp_path: Path) -> None:
    cells = source_cells()
    cells[3]["source"] = "assert total([1]) == 2, 'wrong test'"
    course = make_course(tmp_path, cells)
    with Grader(course, FAST) as grader:
        record = grader.record(Job("", "tiny", "tiny", ""))
    assert failing(record) == ["test-total"]
    assert (record.student, record.verdict.status, record.verdict.score) == ("", "grader_error", 0)


def test_an_exercise_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = make_course(tmp_path)
    path = write_notebook(course.submitted / "ann" / "tiny" / "tiny.ipynb", notebook(solved({})))
    out = io.BytesIO()
    with Grader(course, FAST) as grader:
        line = job_line(Job("ann", "tiny", "tiny", str(path))).encode()
        assert answer_lines(grader, [line], out) == 0
        cells = [*source_cells(), cell("assert False", grade_id="more", grade=True, points=1)]
        make_course(tmp_path, cells)
        assert answer_lines(grader, [line], out) == 0
    first, second = (without_timings(json.loads(line)) for line in out.getvalue().splitlines())
    assert first == second
    assert open_course(tmp_path).exercise("tiny").max_score == 11


def test_timings_are_all_that_differs_between_two_runs(tmp_path: Path) -> None:
    course = make_course(tmp_path)
    path = write_notebook(course.submitted / "ann" / "tiny" / "tiny.ipynb", notebook(solved()))
    with Grader(course, FAST) as grader:
        lines = [record_line(grader.record(Job("ann", "tiny", "tiny", str(path)))) for _ in range(2)]
    first, second = map(json.loads, lines)
    assert without_timings(first) == without_timings(second)
    assert "sum" in first
    assert "sum" not in without_timings(first)
    assert without_timings(first)["verdict"]["tests"][0]["points"] == 2
    assert "seconds" not in without_timings(first)["verdict"]["tests"][0]


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_worker_ends_on_a_signal_while_it_waits(tmp_path: Path) -> None:
    make_course(tmp_path)
    command = [sys.executable, "-m", "grading", "worker", "--course", str(tmp_path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{job_line(Job('x', 'no', 'such', ''))}\n".encode())
    process.stdin.flush()
    assert process.stdout.readline()  # it is up and waits for the next
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 143
    assert os.read(process.stdout.fileno(), 10) == b""


# The sandbox


def test_sandbox_that_does_not_hold_stops_the_worker_and_names_every_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course = make_course(tmp_path)
    closed: list[bool] = []
    close = worker.Runner.close

    def self_test(sandbox: object, others: list[Path]) -> tuple[str, ...]:
        assert others == [course.source / "tiny" / "tiny.ipynb"]
        return "the network", "reading files outside"

    monkeypatch.setattr(worker, "self_test", self_test)
    monkeypatch.setattr(worker.Runner, "close", lambda runner: (closed.append(True), close(runner)))
    with pytest.raises(ValueError, match="does not prevent: the network, reading files outside"):
        Grader(course, FAST)
    assert closed == [True]
    with Grader(course, FAST, allow_unsandboxed=True):
        assert "Not prevented: the network, reading files outside." in capsys.readouterr().err


def test_no_sandbox_is_status_two_unless_allowed_and_then_stamped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The environment variable asks for no sandbox, which only the instructor can allow."""
    course = make_course(tmp_path)
    write_notebook(course.submitted / "ann" / "tiny" / "tiny.ipynb", notebook(solved()))
    monkeypatch.setenv("GRADING_SANDBOX", "none")
    assert main(["grade", "--course", str(tmp_path)]) == 2
    assert "has to be allowed (--allow-unsandboxed)" in capsys.readouterr().err
    assert not (course.build / "records").exists()
    assert main(["grade", "--course", str(tmp_path), "--allow-unsandboxed"]) == 0
    record = course.build / "records" / "ann" / "tiny" / "tiny.json"
    assert json.loads(record.read_bytes())["verdict"]["sandbox"] == "none"
    assert "Run without a sandbox" in (course.feedback / "index.html").read_text(encoding="utf-8")
    monkeypatch.delenv("GRADING_SANDBOX")
    capsys.readouterr()
    assert main(["grade", "--course", str(tmp_path)]) == 0
    assert "from records" not in capsys.readouterr().out, "what ran in the open is run again"
    assert json.loads(record.read_bytes())["verdict"]["sandbox"] != "none"


def test_modules_of_all_exercises_are_loaded_and_one_runner_serves_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = make_course(tmp_path)
    cells = [cell("import string"), *source_cells()]
    write_notebook(course.source / "other" / "other.ipynb", notebook(cells))
    path = write_notebook(course.submitted / "ann" / "tiny" / "tiny.ipynb", notebook(solved()))
    made: list[list[str]] = []
    real = worker.Runner

    def runner(preload: list[str], *given: object) -> object:
        made.append(preload)
        return real(preload, *given)

    monkeypatch.setattr(worker, "Runner", runner)
    with Grader(course, FAST) as grader:
        records = [grader.record(Job("ann", name, name, str(path))) for name in ("tiny", "other", "tiny")]
    assert made == [["math", "string"]]
    assert [record.verdict.score for record in records] == [10, 10, 10]
    assert {record.verdict.sandbox for record in records} != {"none"}
