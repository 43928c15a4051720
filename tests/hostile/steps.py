"""Performs the steps of a case on one world: hands in, grades, kills, locks, and changes what a step changes.

Several cases with the same steps may share a world; then each step is done for all of them before the next.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from grading.classroom import grade_class
from grading.engines import pool_of
from tests.hostile import watching
from tests.hostile.cases import CONTROLS, Case, Variant, build, clear
from tests.hostile.world import LIMITS, World, forget

TWIN = " (twin)"  # the other student who hands in the same
PATIENCE = 120.0
ATTEMPTS = 5
LOCKED = 3  # the command's status when all is recorded and the gradebook could not be written
# Where one of these is a step, everything is graded by the command, in a process that can be killed and has a status.
BY_COMMAND = {"grade and kill", "kill while the gradebook is written", "lock gradebook"}
GRADES = ("grade", "grade again", "grade and kill", "kill while the gradebook is written")
# Steps that touch what all students share: a case that has one is graded alone.
ALONE = {*BY_COMMAND, "change source"}


@dataclass(frozen=True)
class Entry:
    """One piece of work in the class: a case, or its control."""

    case: Case
    side: str  # "hostile" or "control"

    @property
    def variant(self) -> Variant:
        """What is handed in and what is right."""
        return self.case.hostile if self.side == "hostile" else self.case.control

    @property
    def id(self) -> str:
        """How results name it: "cheating/at_exit control"."""
        return f"{self.case.id}{' control' if self.side == 'control' else ''}"

    @property
    def student(self) -> str:
        """The folder it is handed in by."""
        return self.variant.work.student or f"{self.case.name}-{self.side}"

    @property
    def students(self) -> tuple[str, ...]:
        """All who hand it in."""
        more = self.variant.steps.count("hand in for another")
        return (self.student, *(f"{self.student}{TWIN}{number or ''}" for number in range(more)))

    @property
    def text(self) -> str:
        """Everything that the case says, to look for names in."""
        return f"{self.case.name} {self.variant}"


@dataclass
class Stage:
    """A world while steps are performed on it; `faults` are about the run, not about one entry."""

    world: World
    entries: list[Entry]
    jobs: int = 2
    unsandboxed: bool = False
    faults: list[str] = field(default_factory=list)
    lock: sqlite3.Connection | None = None
    table: Path | None = None

    @property
    def by_command(self) -> bool:
        """Whether a step needs the grader in a process of its own."""
        return any(set(entry.variant.steps) & BY_COMMAND for entry in self.entries)

    def record(self, entry: Entry, student: str = "") -> Path:
        """Where the record of an entry should be."""
        return self.world.record(student or entry.student, entry.case.exercise)

    def perform(self, step: str) -> None:
        """One step, for every entry that it is about."""
        for entry in self.entries:
            if (one := ONE.get(step)) is not None:
                one(self, entry)
        if (all_at_once := ALL.get(step)) is not None:
            all_at_once(self)

    def watched(self, step: str) -> None:
        """A step that grades, with everything that it must leave alone compared before and after."""
        own = {student for entry in self.entries for student in entry.students}
        texts = " ".join(entry.text for entry in self.entries)
        database = self.world.course.database
        files, names, running = watching.files(self.world), watching.shared_names(), set(watching.descendants())
        rows = watching.rows(database, own)
        self.perform(step)
        self.faults += [f"left a process: {name}" for name in watching.left_over(running)]
        self.faults += [f"changed {name}" for name in watching.changed(files, watching.files(self.world))]
        self.faults += [f"left {name}" for name in watching.planted(names, watching.shared_names(), texts)]
        if "change source" not in self.entries[0].variant.steps:
            after = watching.rows(database, own)
            self.faults += [
                f"other rows of the gradebook's {table}" for table in rows if after.get(table) != rows[table]
            ]

    def grade(self) -> None:
        """Grade the class; honest students are judged again beside the others."""
        for exercise in {entry.case.exercise for entry in self.entries}:
            forget(self.world, CONTROLS, exercise)
        self.grade_unchanged()

    def grade_unchanged(self) -> None:
        """Grade the class as it is."""
        if self.by_command:
            self._grade_by_command()
            return
        console = Console(file=io.StringIO())
        try:
            engine = pool_of(self.jobs, self.unsandboxed)
            outcome = grade_class(self.world.course, limits=LIMITS, console=console, engine=engine)
        except Exception as problem:  # nothing that is handed in may stop the class
            self.faults.append(f"the class was not graded: {type(problem).__name__}: {problem}")
        else:
            self.table = outcome.csv

    def _grade_by_command(self) -> None:
        order = command(self.world, self.unsandboxed)
        done = subprocess.run(order, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if "Traceback" in done.stderr:
            self.faults.append(f"the command failed: {done.stderr[-500:]}")
        if self.lock is not None and done.returncode != LOCKED:
            self.faults.append(f"the gradebook was locked, and the command's status is {done.returncode}, not {LOCKED}")
        if self.lock is not None and len(done.stderr.strip().splitlines()) > 6:
            self.faults.append(f"the gradebook was locked, and the command says too much of it: {done.stderr}")
        if self.lock is None and done.returncode:
            self.faults.append(f"the command's status is {done.returncode}: {done.stderr[-500:]}")


def command(world: World, unsandboxed: bool) -> list[str]:
    """The command line that grades a world."""
    budgets = [f"--{name.replace('_', '-')}={value}" for name, value in asdict(LIMITS).items()]
    where = ["--course", str(world.course.root), "--jobs", "1", *(["--allow-unsandboxed"] if unsandboxed else [])]
    return [sys.executable, "-m", "grading", "grade", *where, *budgets]


def _hand_in(stage: Stage, entry: Entry) -> None:
    build(entry.variant.work, entry.case.exercise, entry.student, stage.world.places)


def _hand_in_second(stage: Stage, entry: Entry) -> None:
    second = entry.variant.second
    assert second is not None
    build(second, entry.case.exercise, entry.student, stage.world.places)


def _hand_in_for_another(stage: Stage, entry: Entry) -> None:
    """By the next of the others who has handed in nothing yet."""
    another = next(one for one in entry.students if not (stage.world.course.submitted / one).exists())
    build(entry.variant.work, entry.case.exercise, another, stage.world.places)


def _withdraw(stage: Stage, entry: Entry) -> None:
    clear(stage.world.course.submitted / entry.student)


def _damage_record(stage: Stage, entry: Entry) -> None:
    path = stage.record(entry)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _raise_record(stage: Stage, entry: Entry) -> None:
    """Full marks in the record of less, in every field that speaks of marks."""
    path = stage.record(entry)
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    verdict = data["verdict"]
    verdict |= {"score": verdict["max_score"], "status": "ok", "message": ""}
    for test in verdict["tests"]:
        test |= {"points": test["max_points"], "status": "ok", "message": "", "lines": []}
    path.write_text(json.dumps(data), encoding="utf-8")


def _mark_by_hand(stage: Stage, entry: Entry) -> None:
    """What formgrader does when a person types a mark."""
    query = """
        UPDATE grade SET manual_score = 1 WHERE cell_id = (SELECT id FROM base_cell WHERE name = 'test-total')
        AND notebook_id = (SELECT submitted_notebook.id FROM submitted_notebook JOIN submitted_assignment AS mine
                           ON mine.id = submitted_notebook.assignment_id WHERE mine.student_id = ?)"""
    with contextlib.closing(sqlite3.connect(stage.world.course.database)) as book, book:
        if book.execute(query, (entry.student,)).rowcount != 1:
            stage.faults.append(f"no row for a person's mark of {entry.student}")


def _grade_again(stage: Stage) -> None:
    """Nothing is run when nothing has changed: every record stays as it is, byte for byte, its timings included."""
    records = {path: path.read_bytes() for path in sorted(stage.world.records.rglob("*.json"))}
    stage.grade_unchanged()
    stage.faults += [f"{path.name} was made anew" for path, data in records.items() if path.read_bytes() != data]


def _grade_and_kill(stage: Stage) -> None:
    """SIGKILL to the grader while the submission runs: the honest student before it has a record then, it has none."""
    first, mine = stage.record(stage.entries[0], CONTROLS[0]), stage.record(stage.entries[0])
    forget(stage.world, CONTROLS, stage.entries[0].case.exercise)
    if not _kill_when(stage, lambda: first.exists() and not mine.exists(), lambda: False):
        stage.faults.append("the grader ended before it could be killed")
    if mine.exists():
        stage.faults.append("the step came too late: the submission was already graded")


def _kill_while_written(stage: Stage) -> None:
    """SIGKILL to the grader once SQLite's journal is there; the file must be whole, in the old state or the new.

    The journal stays for a moment only, so where it was missed all is done again.
    """
    database = stage.world.course.database
    journals = [database.with_name(f"{database.name}{end}") for end in ("-journal", "-wal")]
    mine, before = stage.record(stage.entries[0]), database.read_bytes()
    for _ in range(ATTEMPTS):
        database.write_bytes(before)
        forget(stage.world, (*CONTROLS, stage.entries[0].student), stage.entries[0].case.exercise)
        if _kill_when(stage, lambda: any(path.exists() for path in journals), mine.exists):
            break
    else:
        stage.faults.append("the grader ended before it could be killed")
    with contextlib.closing(sqlite3.connect(database)) as book:
        if book.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            stage.faults.append("the gradebook is damaged")
    for entry in stage.entries:
        found = watching.score(database, entry.student, entry.case.exercise)
        if found not in (None, entry.variant.score):
            stage.faults.append(f"the gradebook holds half of the marks of a killed run: {found}")


def _kill_when(stage: Stage, ready: Callable[[], bool], soon: Callable[[], bool]) -> bool:
    """Start the command and kill it, it alone, once something is so; whether that was before it ended. `soon`: it may
    be so at any moment from now."""
    order = command(stage.world, stage.unsandboxed)
    with subprocess.Popen(order, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        end = time.monotonic() + PATIENCE
        near = False
        while running.poll() is None and time.monotonic() < end:
            if ready():
                os.kill(running.pid, signal.SIGKILL)
                return True
            near = near or soon()
            time.sleep(0 if near else 0.005)
        running.kill()
    return False


def _lock(stage: Stage) -> None:
    stage.lock = sqlite3.connect(stage.world.course.database, isolation_level=None)
    stage.lock.execute("BEGIN IMMEDIATE")


def _unlock(stage: Stage) -> None:
    assert stage.lock is not None
    stage.lock.execute("ROLLBACK")
    stage.lock.close()
    stage.lock = None
    missing = [entry.id for entry in stage.entries if not stage.record(entry).exists()]
    stage.faults += [f"the gradebook was locked, and the record is lost of {name}" for name in missing]


def _change_source(stage: Stage) -> None:
    """A test is worth one point more."""
    path = stage.world.course.source / "basket" / "basket.ipynb"
    book = json.loads(path.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        mark = cell["metadata"].get("nbgrader", {})
        if mark.get("grade_id") == "test-total":
            mark["points"] += 1
    path.write_text(json.dumps(book), encoding="utf-8")


ONE: dict[str, Callable[[Stage, Entry], None]] = {
    "hand in": _hand_in,
    "hand in second": _hand_in_second,
    "hand in for another": _hand_in_for_another,
    "withdraw": _withdraw,
    "damage record": _damage_record,
    "raise record": _raise_record,
    "mark by hand": _mark_by_hand,
}
ALL: dict[str, Callable[[Stage], None]] = {
    "grade": Stage.grade,
    "grade again": _grade_again,
    "grade and kill": _grade_and_kill,
    "kill while the gradebook is written": _kill_while_written,
    "lock gradebook": _lock,
    "unlock gradebook": _unlock,
    "change source": _change_source,
}
