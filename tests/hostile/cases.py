"""Reads hostile and broken submissions, and builds what each hands in. `README.md` explains the format to an author."""

from __future__ import annotations

import os
import socket
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.hostile import making

HERE = Path(__file__).parent
COURSE = HERE / "course"
GROUPS = ("cheating", "leaks", "resources", "broken", "policy")
CONTROLS = ("ann-control", "zoe-control")  # honest students: most cases sort between the two
CANARIES = {"file": "plover9082", "variable": "dunlin3371"}  # a word in each; neither is a student's business
VARIABLE = "COURSE_CANARY"  # the one in the environment of whatever grades
SECRETS = ("quoll4417", "73491", "73516", "hidden_prices", "hidden_rows", "36745.5", "146982", *CANARIES.values())
Kind = Literal["notebook", "text", "folder", "pipe", "socket", "link", "hard link", "link folder"]
KINDS = ("notebook", "text", "folder", "pipe", "socket", "link", "hard link", "link folder")
STEPS = (
    "hand in",  # [work]
    "hand in second",  # [second], over what was there
    "hand in for another",  # [work] once more, by another student; by one more each time
    "withdraw",  # what was handed in is deleted
    "grade",
    "grade again",  # nothing changed: nothing is run
    "grade and kill",  # SIGKILL to the grader once the submission is running
    "kill while the gradebook is written",
    "lock gradebook",  # by another program
    "unlock gradebook",
    "damage record",  # its file is cut off
    "raise record",  # the score in its file is changed by hand
    "change source",  # a test of the instructor's is worth one point more
    "mark by hand",  # a person gives test-total one point
)
STATUSES = (
    "ok",
    "student_error",
    "timeout",
    "crash",
    "unreadable",
    "suspicious",
    "grader_error",
    "forbidden_import",
    "not_attempted",
)


@dataclass(frozen=True)
class Places:
    """Where things are when a case is built; a hostile program is told, as if it had found out.

    `course` holds source/, submitted/ and what grading makes; `canary` is a file outside the course; `port` that of a
    listener on this machine.
    """

    course: Path
    gradebook: Path
    records: Path
    canary: Path
    port: int

    def fill(self, text: str, submitted: Path) -> str:
        """A text with the places in it; `submitted` is the folder of the one who hands it in."""
        exercise = submitted.name
        known = {
            "@COURSE@": self.course,
            "@GRADEBOOK@": self.gradebook,
            "@RECORDS@": self.records,
            "@OTHER@": self.course / "submitted" / CONTROLS[0] / exercise / f"{exercise}.ipynb",
            "@SUBMITTED@": submitted,
            "@CANARY@": self.canary,
            "@PORT@": self.port,
        }
        for word, place in known.items():
            text = text.replace(word, str(place))
        return text


@dataclass(frozen=True)
class Work:
    """What is handed in. Answers that are not given are right ones."""

    answers: Mapping[str, str] = field(default_factory=dict)
    cells: tuple[Mapping[str, str], ...] = ()
    edits: tuple[Mapping[str, Any], ...] = ()
    damage: tuple[str, ...] = ()
    file: str = ""
    kind: Kind = "notebook"
    target: str = ""
    text: str = ""
    beside: Mapping[str, str] = field(default_factory=dict)
    student: str = ""


@dataclass(frozen=True)
class Variant:
    """Work, what is done with it, and what is right then: a score between `least` and `score`, one of `statuses`."""

    does: str
    work: Work
    second: Work | None
    steps: tuple[str, ...]
    score: float
    least: float
    statuses: tuple[str, ...]
    tests: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A hostile or broken submission and its innocent control."""

    name: str
    group: str
    exercise: str
    hostile: Variant
    control: Variant
    absent: tuple[str, ...]
    unescaped: tuple[str, ...]
    seconds: float

    @property
    def id(self) -> str:
        """How a test names it: "cheating/patched_allclose"."""
        return f"{self.group}/{self.name}"


def read_cases(folder: Path = HERE) -> list[Case]:
    """Every case of every group, by name. Raises `ValueError` that names the file of a faulty one."""
    return [read_case(path) for group in GROUPS for path in sorted((folder / group).glob("*.toml"))]


def read_case(path: Path) -> Case:
    """The case in a file. Raises `ValueError` that names the file."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        control = data.pop("control")
        hostile = _variant(data, ("hand in", "grade"))
        case = Case(
            name=path.stem,
            group=path.parent.name,
            exercise=data.pop("exercise", "basket"),
            hostile=hostile,
            control=_variant(control, hostile.steps),
            absent=tuple(data.pop("absent", ())),
            unescaped=tuple(data.pop("unescaped", ())),
            seconds=float(data.pop("seconds", 60)),
        )
        control.pop("exercise", None)  # the same one; said again where a reader might wonder
        _check(case, {*data, *control})
    except (KeyError, TypeError, ValueError) as problem:
        raise ValueError(f"{path}: {type(problem).__name__}: {problem}") from problem
    return case


def _variant(data: dict[str, Any], steps: tuple[str, ...]) -> Variant:
    """Takes what describes one piece of work out of a table; `steps` where that names none."""
    score, status = float(data.pop("score")), data.pop("status")
    return Variant(
        does=data.pop("does"),
        work=_work(data.pop("work", {})),
        second=_work(data.pop("second")) if "second" in data else None,
        steps=tuple(data.pop("steps", steps)),
        score=score,
        least=float(data.pop("least", score)),
        statuses=(status,) if isinstance(status, str) else tuple(status),
        tests=data.pop("tests", {}),
        notes=tuple(data.pop("notes", ())),
    )


def _work(data: Mapping[str, Any]) -> Work:
    lists = {name: tuple(data[name]) for name in ("cells", "edits", "damage") if name in data}
    return Work(**{**data, **lists})


def _check(case: Case, left_over: set[str]) -> None:
    """Raises `ValueError` for what no reader would understand."""
    faults = [f"unknown field {name!r}" for name in sorted(left_over)]
    for one in (case.hostile, case.control):
        faults += [f"unknown step {step!r}" for step in one.steps if step not in STEPS]
        faults += [f"unknown status {name!r}" for name in (*one.statuses, *one.tests.values()) if name not in STATUSES]
        if ("hand in second" in one.steps) != (one.second is not None):
            faults.append("[second] and the step that hands it in go together")
        for work in filter(None, (one.work, one.second)):
            faults += [f"unknown kind {work.kind!r}"] if work.kind not in KINDS else []
            faults += [f"unknown edit {edit['do']!r}" for edit in work.edits if edit["do"] not in making.EDITS]
            faults += [f"unknown damage {name!r}" for name in work.damage if name not in making.DAMAGE]
    if case.hostile.least > case.hostile.score:
        faults.append("least is above score")
    if min(case.control.score, case.control.least) <= 0:
        faults.append("the control earns nothing")
    if (case.hostile.work, case.hostile.second, case.hostile.steps) == (
        case.control.work,
        case.control.second,
        case.control.steps,
    ):
        faults.append("the control is the case itself")
    if faults:
        raise ValueError("; ".join(faults))


def build(work: Work, exercise: str, student: str, places: Places) -> Path:
    """Hand a piece of work in, in nbgrader's layout under the course; gives the path of the file.

    What was handed in before for that exercise is replaced. `student` is the folder's name unless the work has its own.
    """
    folder = places.course / "submitted" / (work.student or student) / exercise
    clear(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    if work.kind == "link folder":
        folder.symlink_to(places.fill(work.target, folder), target_is_directory=True)
        return folder / (work.file or f"{exercise}.ipynb")
    path = folder / (work.file or f"{exercise}.ipynb")
    path.parent.mkdir(parents=True)
    for name, text in work.beside.items():
        beside = folder / name
        beside.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            beside.symlink_to(places.fill(text[3:], folder))
        else:
            beside.write_text(places.fill(text, folder), encoding="utf-8")
    _write(path, work, exercise, places, folder)
    return path


def _write(path: Path, work: Work, exercise: str, places: Places, folder: Path) -> None:
    """Make the file itself, of whatever kind it is."""
    match work.kind:
        case "notebook":
            path.write_bytes(notebook_bytes(work, exercise, lambda text: places.fill(text, folder)))
        case "text":
            path.write_text(places.fill(work.text, folder), encoding="utf-8")
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "socket":
            _make_socket(path)
        case "link":
            path.symlink_to(places.fill(work.target, folder))
        case "hard link":
            path.hardlink_to(places.fill(work.target, folder))


def notebook_bytes(work: Work, exercise: str, fill: Any = str) -> bytes:
    """The file of a notebook: released, filled in, edited, damaged. `fill` puts places into texts."""
    source = COURSE / "source" / exercise / f"{exercise}.ipynb"
    book = making.released(source)
    making.fill_in(book, {**making.solutions(source), **{name: fill(text) for name, text in work.answers.items()}})
    for cell in work.cells:
        kind, label = cell.get("kind", "code"), cell.get("answers_to", "")
        making.add_cell(book, cell["at"], fill(cell["source"]), kind, label)
    for edit in work.edits:
        making.EDITS[edit["do"]](book, **{name: value for name, value in edit.items() if name != "do"})
    data = making.as_bytes(book)
    for name in work.damage:
        data = making.DAMAGE[name](data)
    return data


def clear(folder: Path) -> None:
    """Remove what was handed in, of whatever kind; a link is removed and not followed."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    for inner in folder.iterdir():
        clear(inner)
    folder.rmdir()


def _make_socket(path: Path) -> None:
    """A socket's file, which stays when the socket is closed; made from within, since its path may be too long."""
    here = os.open(".", os.O_RDONLY)
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.fchdir(here)
        os.close(here)
