"""The corpus of hostile and broken submissions: the right score, this course's grader's, and stock nbgrader's.

    python benchmarks/hostile_corpus.py                      every case (an hour on two cores)
    python benchmarks/hostile_corpus.py --group cheating     one group
    python benchmarks/hostile_corpus.py --case leaks/network --controls

Stock nbgrader is `nbgrader autograde` and `nbgrader generate_feedback` without any configuration, over a class of two
honest students and the one of the case. What a program may do to it is real, so each run is locked up: bubblewrap with
a read-only system, a `/tmp` of its own, no network, its own processes, limits on memory and processes, a copy of the
course and the gradebook that is thrown away; it is ended after `--seconds`. What the table says is read from that
gradebook and those pages afterwards:

    full marks, zero, 4 of 10, no mark    what the case's student has
    stopped the class                     an honest student has less than full marks, or none
    leaked                                words of the hidden tests, the file outside or the grader's environment stand
                                          in the case's feedback more often than in an honest student's
    changed ...                           files that grading has no business with

Stock feedback shows the hidden tests to every student, with their full text; the last line counts that.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.hostile.cases import (  # noqa: E402
    CANARIES,
    CONTROLS,
    COURSE,
    GROUPS,
    SECRETS,
    VARIABLE,
    Case,
    Places,
    Variant,
    Work,
    build,
    clear,
    read_cases,
)
from tests.hostile.launching import NoSandboxError, launch  # noqa: E402

NOBODY = 65534
MEMORY, PROCESSES = 6 << 30, 400
FULL = {"basket": 10.0, "words": 6.0, "vectors": 6.0}
STEPS = {"hand in", "hand in second", "hand in for another", "withdraw", "grade", "grade again"}


def locked_up(command: Sequence[str], home: Path, seconds: float) -> int | None:
    """Run a command where it can harm nothing but `home`; its status, None where its time was over."""
    root = os.getuid() == 0  # a limit on processes does not bind root, so the command runs as nobody
    spaces = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"] if root else ["--unshare-all"]
    wall = ["bwrap", *spaces, "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev"]
    wall += ["--proc", "/proc", "--size", str(1 << 30), "--tmpfs", "/tmp", "--tmpfs", "/run", "--tmpfs", "/var/tmp"]
    if Path.home() in Path(sys.base_prefix).parents:  # Python stands in a folder that nobody may enter
        wall += ["--tmpfs", str(Path.home())]
        wall += [*_folders(Path.home(), Path(sys.base_prefix)), "--ro-bind", sys.base_prefix, sys.base_prefix]
    wall += [*_folders(Path("/tmp"), home), "--bind", str(home), str(home), "--chdir", str(home), "--clearenv"]
    for name, value in {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(home / "home"),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        VARIABLE: CANARIES["variable"],
    }.items():
        wall += ["--setenv", name, value]
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"] if root else []
    with subprocess.Popen(
        [*wall, *user, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_limit,
    ) as running:
        try:
            return running.wait(seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            return None


def _folders(top: Path, place: Path) -> list[str]:
    """Arguments that make the folders between two, for everybody to enter: left to itself, bwrap makes them private."""
    between = [folder for folder in reversed(place.parents) if top in folder.parents]
    return [word for folder in between for word in ("--perms", "0755", "--dir", str(folder))]


def _limit() -> None:
    for kind, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_NPROC, PROCESSES), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (most, most))


def own(folder: Path) -> None:
    """Give a folder to the user that a locked-up command runs as."""
    if os.getuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def prepare(home: Path) -> None:
    """A course as nbgrader's own commands make it, with two honest students, none graded yet."""
    (home / "home").mkdir(parents=True)
    shutil.copytree(COURSE, home / "course")
    (home / "canary.txt").write_text(CANARIES["file"] + "\n", encoding="utf-8")
    for student in CONTROLS:
        for exercise in FULL:
            build(Work(), exercise, student, places(home))
    own(home)
    for exercise in FULL:
        done = locked_up(nbgrader("generate_assignment", home, exercise), home, 120)
        if done != 0:
            raise SystemExit(f"nbgrader generate_assignment {exercise} ended with status {done}")


def places(home: Path) -> Places:
    """Where things are in the stock course; it keeps no records, and nobody listens."""
    course = home / "course"
    return Places(course, course / "gradebook.db", course / "records", home / "canary.txt", 9)


def nbgrader(task: str, home: Path, exercise: str) -> list[str]:
    """One of nbgrader's commands on the course."""
    return [sys.executable, "-m", "nbgrader", task, f"--course-dir={home / 'course'}", exercise]


def score(home: Path, student: str, exercise: str) -> float | None:
    """What the gradebook has for one student; None without an entry."""
    query = """
        SELECT sum(coalesce(grade.manual_score, grade.auto_score, 0)) FROM submitted_assignment AS mine
        JOIN assignment ON assignment.id = mine.assignment_id
        JOIN submitted_notebook ON submitted_notebook.assignment_id = mine.id
        JOIN grade ON grade.notebook_id = submitted_notebook.id
        WHERE mine.student_id = ? AND assignment.name = ?"""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{home}/course/gradebook.db?mode=ro", uri=True)) as book:
            found: float | None = book.execute(query, (student, exercise)).fetchone()[0]
    except sqlite3.Error:
        return None
    return found


def told(home: Path, student: str, exercise: str) -> int:
    """How often words that are no student's business stand in the feedback of one."""
    folder = home / "course" / "feedback" / student / exercise
    pages = [path.read_text(encoding="utf-8", errors="replace") for path in folder.glob("*.html")]
    return sum(page.count(word) for page in pages for word in SECRETS)


def contents(home: Path) -> dict[Path, bytes]:
    """The files that grading has no business with: what was handed in, the source, the release, the one outside."""
    folders = [home / "course" / name for name in ("source", "release", "submitted")]
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {path: path.read_bytes() for path in (*paths, home / "canary.txt") if path.is_file()}


def stock(case: Case, variant: Variant, first: Path, home: Path, seconds: float) -> tuple[str, int]:
    """What stock nbgrader makes of a case, in words, and how often it told an honest student of a hidden test."""
    if set(variant.steps) - STEPS:
        return "not run", 0
    shutil.copytree(first, home, symlinks=True)
    student, exercise, words = variant.work.student or f"{case.name.replace('_', '-')}", case.exercise, []
    before: dict[Path, bytes] = {}
    for step in variant.steps:
        if step.startswith("hand in"):
            work = variant.second if step == "hand in second" else variant.work
            assert work is not None
            twin = (
                "" if step != "hand in for another" else f"-twin-{len(list((home / 'course' / 'submitted').iterdir()))}"
            )
            build(work, exercise, student + twin, places(home))
        elif step == "withdraw":
            clear(home / "course" / "submitted" / student)
        else:
            own(home)
            before = contents(home)
            if locked_up(nbgrader("autograde", home, exercise), home, seconds) is None:
                words.append(f"ended after {seconds:g} s")
    locked_up(nbgrader("generate_feedback", home, exercise), home, seconds)
    mark, full = score(home, student, exercise), FULL[exercise]
    known = {None: "no mark", 0.0: "zero", full: "full marks"}
    words.insert(0, known.get(mark, f"{mark:g} of {full:g}" if mark is not None else ""))
    if any(score(home, other, exercise) != full for other in CONTROLS):
        words.append("stopped the class")
    honest = told(home, CONTROLS[0], exercise)
    if told(home, student, exercise) > honest > 0:
        words.append("leaked")
    after = contents(home)
    if changed := sorted(
        {path.parent.name for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    ):
        words.append(f"changed files of {', '.join(changed)}")
    return "; ".join(words), honest


def main() -> int:
    """Print the table; status 2 where this machine cannot lock a program up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", action="append", choices=GROUPS, default=[])
    parser.add_argument("--case", action="append", default=[], metavar="GROUP/NAME")
    parser.add_argument("--controls", action="store_true", help="the innocent control of each as well")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each of nbgrader's commands")
    parser.add_argument("--only", choices=("ours", "stock"), help="leave the other out")
    options = parser.parse_args()
    chosen = [case for case in read_cases() if _wanted(case, options.group, options.case)]
    if unknown := set(options.case) - {case.id for case in chosen}:
        parser.error(f"no case {', '.join(sorted(unknown))}")
    if shutil.which("bwrap") is None:
        print("bubblewrap is not installed: hostile programs are not run", file=sys.stderr)
        return 2
    ours: dict[str, str] = {}
    if options.only != "stock":
        try:
            ours = {result.id: result.ours for result in launch([case.id for case in chosen])}
        except NoSandboxError as problem:
            print(problem, file=sys.stderr)
            return 2
    print(f"Python {platform.python_version()}, nbgrader {version('nbgrader')}, {os.cpu_count()} processors\n")
    print("| case | right | ours | stock nbgrader |\n|---|---|---|---|", flush=True)
    shown = 0
    with tempfile.TemporaryDirectory(prefix="stock-", ignore_cleanup_errors=True) as place:
        os.chmod(place, 0o755)
        first = Path(place) / "first"
        if options.only != "ours":
            prepare(first)
        for case in chosen:
            for side, variant in (("", case.hostile), (" control", case.control))[: 1 + options.controls]:
                made, honest = "", 0
                if options.only != "ours":
                    now = Path(place) / "now"
                    made, honest = stock(case, variant, first, now, options.seconds)
                    shutil.rmtree(now, ignore_errors=True)
                shown += honest > 0
                name = f"{case.id}{side}"
                few = "" if variant.least == variant.score else f"{variant.least:g} to "
                right = f"{few}{variant.score:g} {' or '.join(variant.statuses)}"
                print(f"| {name} | {right} | {ours.get(name, '')} | {made} |", flush=True)
    if shown:
        print(f"\nStock feedback told an honest student words of the hidden tests in {shown} of these runs.")
    return 0


def _wanted(case: Case, groups: Sequence[str], names: Sequence[str]) -> bool:
    return not (groups or names) or case.group in groups or case.id in names


if __name__ == "__main__":
    sys.exit(main())
