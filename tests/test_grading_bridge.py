"""nbgrader's own commands with this grader inside: the marks of `grading grade`, no hidden test in anything a student
gets, and nobody stops the rest."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import determine_grade
from rich.console import Console
from traitlets.config import Config

from grading import sample
from grading.bridge import install
from grading.bridge.judging import plain, summary, test_outputs
from grading.bridge.reaching import course_of, database_of, not_to_be_copied, who_and_what
from grading.bridge.rebuilt import harmless, rebuilt
from grading.bridge.records import judge_all
from grading.bridge.tidy import tidy
from grading.classroom import grade_class
from grading.course import Course, open_course
from grading.handins import hand_ins
from grading.jobs import Answer, Job, record_line
from grading.judge import without_run
from grading.running.plan import Line
from grading.sample.damage import BYTES, DAMAGE
from grading.submission import read
from grading.verdict import TestVerdict
from grading.worker import known, record_of
from tests.grading_tiny import BOX_ONLY, FAST, RIGHT, cell, make_course, notebook, solved, source_cells, write_notebook

ROOT = Path(__file__).resolve().parent.parent
QUIET = Console(file=io.StringIO())
SECRETS = ("7349", "secret_numbers", "HIDDEN", "Full marks go to")
ESSAY = "Say why.\n\n### BEGIN MARK SCHEME\nFull marks go to those who say so.\n### END MARK SCHEME"
WRONG = {"total": "def total(numbers):\n    print('seen', numbers)\n    return 0", "Box": BOX_ONLY}


def cells(answers: dict[str, str] | None = None, essay: str = "") -> list[dict[str, Any]]:
    """A student's notebook: the exercise `tiny`, and a question that a person grades."""
    return [
        *solved(answers),
        cell(essay or "YOUR ANSWER HERE", "markdown", grade_id="essay", grade=True, solution=True, points=4),
    ]


def source() -> list[dict[str, Any]]:
    return [*source_cells(), cell(ESSAY, "markdown", grade_id="essay", grade=True, solution=True, points=4)]


def damaged(*names: str) -> bytes:
    book = notebook(cells())
    for name in names:
        if name in DAMAGE:
            DAMAGE[name](book)
    data = json.dumps(book).encode()
    for name in names:
        if name in BYTES:
            data = BYTES[name](data)
    return data


def hand_in_class(course: Course) -> None:
    """Right, wrong, partial, crashed, damaged: one student each."""
    for student, handed in {
        "ann": cells(essay="Because.<script>alert(1)</script> [x](javascript:alert(1))"),
        "blank": cells({}),
        "exit": cells({"total": "import os\nos._exit(0)", "Box": BOX_ONLY}),
        "wrong": cells(WRONG, essay="=cmd"),
        "loud": [cell("print('<b>7</b>', 'hello')"), *cells()],
        "broken": cells({"total": "def total(:", "Box": BOX_ONLY}),
    }.items():
        write_notebook(course.submitted / student / "tiny" / "tiny.ipynb", notebook(handed))
    for names in (
        ("bom",),
        ("utf16",),
        ("old_format",),
        ("cut_off",),
        ("empty",),
        ("retag",),
        ("delete_test", "edit_tests"),
    ):
        path = course.submitted / names[0] / "tiny" / "tiny.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(damaged(*names))
    (course.submitted / "folder" / "tiny" / "tiny.ipynb").mkdir(parents=True)
    (course.submitted / "link" / "tiny").mkdir(parents=True)
    (course.submitted / "link" / "tiny" / "tiny.ipynb").symlink_to(course.submitted / "ann" / "tiny" / "tiny.ipynb")


def config(root: Path, assignment: str = "", student: str = "*") -> Config:
    """What a course's nbgrader_config.py sets with `install`, for a run in this process."""
    made = Config()
    install(made)
    made.CourseDirectory.update(
        {
            "root": str(root),
            "db_url": f"sqlite:///{root}/gradebook.db",
            "assignment_id": assignment,
            "student_id": student,
        }
    )
    made.RebuildingExporter.update({"allow_unsandboxed": True, "jobs": 2, "limits": dataclasses.asdict(FAST)})
    return made


def folders(root: Path, assignment: str = "tiny", student: str = "*") -> CourseDirectory:
    return CourseDirectory(config=config(root, assignment, student))


def autograde(root: Path, assignment: str = "tiny", student: str = "*") -> None:
    Autograde(coursedir=folders(root, assignment, student), config=config(root)).start()


def grades(database: Path) -> dict[tuple[str, str], tuple[float | None, bool]]:
    """What the gradebook has for every graded cell: the machine's score, and whether a person is asked."""
    with Gradebook(f"sqlite:///{database}") as book:
        return {
            (submission.student.id, grade.name): (grade.auto_score, grade.needs_manual_grade)
            for assignment in book.assignments
            for submission in book.assignment_submissions(assignment.name)
            for one in submission.notebooks
            for grade in one.grades
        }


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One class, graded by `nbgrader autograde` and by `grading grade`: the two courses."""
    theirs, ours = (tmp_path_factory.mktemp(name) for name in ("theirs", "ours"))
    for root in (theirs, ours):
        hand_in_class(make_course(root, source()))
    grade_class(open_course(ours), limits=FAST, console=QUIET, jobs=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(theirs)
        autograde(theirs)
        GenerateFeedback(coursedir=folders(theirs), config=config(theirs)).start()
    return theirs, ours


def test_nbgrader_autograde_gives_the_marks_of_grading_grade(both: tuple[Path, Path]):
    theirs, ours = both
    found = grades(theirs / "gradebook.db")
    assert found == grades(ours / "gradebook.db")
    assert found["ann", "test-total"] == (2, False)
    assert found["ann", "essay"] == (None, True)
    assert found["blank", "essay"] == (0, False)
    assert found["exit", "test-box"][0] == 5
    for student in ("bom", "utf16", "old_format", "retag", "delete_test", "loud"):
        assert sum(score or 0 for (who, _), (score, _) in found.items() if who == student) == 10
    assert {score for (who, _), (score, _) in found.items() if who in ("cut_off", "empty", "folder", "link")} == {0}


def test_outputs_say_to_nbgrader_what_the_gradebook_says(both: tuple[Path, Path]):
    theirs, _ = both
    found, seen = grades(theirs / "gradebook.db"), 0
    for path in theirs.glob("autograded/*/tiny/tiny.ipynb"):
        for one in nbformat.read(path, as_version=4).cells:
            mark = one.metadata.get("nbgrader", {})
            if mark.get("grade"):
                assert determine_grade(one)[0] == found[path.parts[-3], mark["grade_id"]][0], (path, mark)
                seen += 1
    assert seen == 4 * 15


def test_neither_notebook_nor_feedback_holds_a_hidden_test_or_a_script(both: tuple[Path, Path]):
    theirs, _ = both
    pages = [*theirs.glob("autograded/*/tiny/tiny.ipynb"), *theirs.glob("feedback/*/tiny/tiny.html")]
    assert len(pages) == 30
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert not [secret for secret in SECRETS if secret in text], path
    page = (theirs / "feedback" / "ann" / "tiny" / "tiny.html").read_text(encoding="utf-8")
    assert "alert(1)" in page
    assert "<script>alert(1)" not in page
    assert 'href="javascript' not in page
    wrong = (theirs / "feedback" / "wrong" / "tiny" / "tiny.html").read_text(encoding="utf-8")
    assert "numbers are added up" in wrong


def test_button_grades_one_student_anew_and_leaves_the_others(both: tuple[Path, Path], tmp_path: Path):
    root = tmp_path / "course"
    shutil.copytree(both[0], root, symlinks=True)
    before = grades(root / "gradebook.db")
    write_notebook(root / "submitted" / "blank" / "tiny" / "tiny.ipynb", notebook(cells()))
    result = NbGraderAPI(coursedir=folders(root), config=config(root)).autograde("tiny", "blank")
    assert result["success"], result
    after = grades(root / "gradebook.db")
    assert sum(score or 0 for (who, _), (score, _) in after.items() if who == "blank") == 10
    assert {key: row for key, row in after.items() if key[0] != "blank"} == {
        key: row for key, row in before.items() if key[0] != "blank"
    }


def test_changed_source_is_no_matter_and_neither_is_a_missing_gradebook(tmp_path: Path):
    course = make_course(tmp_path)
    write_notebook(course.submitted / "ann" / "tiny" / "tiny.ipynb", notebook(solved()))
    write_notebook(course.submitted / "ann" / "tiny" / "other.ipynb", notebook(solved()))  # of no exercise
    autograde(tmp_path)
    assert sum(score or 0 for score, _ in grades(course.database).values()) == 10
    make_course(tmp_path, [*source_cells(), cell("assert total([4]) == 4", grade_id="test-new", grade=True, points=7)])
    result = NbGraderAPI(coursedir=folders(tmp_path), config=config(tmp_path)).autograde("tiny", "ann")
    assert result["success"], result
    assert grades(course.database)["ann", "test-new"] == (7, False)


def test_links_and_devices_are_not_copied_and_one_students_trouble_is_their_own(tmp_path: Path):
    course = make_course(tmp_path)
    (tmp_path / "private.txt").write_text("private")
    for student in ("ann", "bad", "bob"):
        write_notebook(course.submitted / student / "tiny" / "tiny.ipynb", notebook(solved()))
    home = course.submitted / "ann" / "tiny"
    (home / "mine.txt").write_text("mine")
    (home / "linked.txt").symlink_to(tmp_path / "private.txt")
    (home / "endless").symlink_to("/dev/zero")
    (home / "odd [x]").mkdir()
    (home / "odd [x]" / "linked.txt").symlink_to(tmp_path / "private.txt")
    os.mkfifo(home / "pipe")
    os.mkfifo(course.submitted / "bad" / "tiny" / "timestamp.txt")
    with pytest.raises(NbGraderException):  # after the others are done
        autograde(tmp_path)
    beside = {path.name for path in (tmp_path / "autograded" / "ann" / "tiny").rglob("*")}
    assert beside == {"tiny.ipynb", "mine.txt"}
    found = grades(course.database)
    assert {who for who, _ in found if found[who, "test-box"][0] == 5} == {"ann", "bob"}


def test_time_of_an_earlier_hand_in_does_not_stay_and_one_that_cannot_be_read_stops_nobody(tmp_path: Path):
    course = make_course(tmp_path)
    path = write_notebook(course.submitted / "ann" / "tiny" / "tiny.ipynb", notebook(solved()))
    stamp = path.with_name("timestamp.txt")
    for text, want in (("2030-01-01 12:00:00 UTC", "2030-01-01 12:00:00"), ("some day", "None"), (None, "None")):
        stamp.write_text(text) if text else stamp.unlink()
        autograde(tmp_path)
        with Gradebook(f"sqlite:///{course.database}") as book:
            assert str(book.find_submission("tiny", "ann").timestamp) == want
        shutil.rmtree(tmp_path / "autograded")


def test_what_must_not_be_copied_is_everything_beneath_a_link(tmp_path: Path):
    (tmp_path / "real" / "tiny").mkdir(parents=True)
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    assert not_to_be_copied(tmp_path / "real" / "tiny", tmp_path) == []
    assert not_to_be_copied(tmp_path / "linked" / "tiny", tmp_path) == ["*"]


class Unsandboxed:
    """Answers jobs with records of runs without a sandbox, and counts them."""

    def __init__(self, course: Course) -> None:
        self.course, self.jobs = course, 0

    def __enter__(self) -> Unsandboxed:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def dismiss(self) -> None:
        """There is nobody to go."""

    def run(self, jobs: Iterable[Job]) -> Iterator[Answer]:
        for job in jobs:
            about = known(self.course.exercise("tiny"), FAST)
            sha256 = read(Path(job.path), about.exercise).sha256 if job.path else ""
            verdict = without_run(about.exercise, "ok", "", sha256)
            self.jobs += 1
            yield Answer(job, record_line(record_of(job, about, verdict)))


@pytest.mark.parametrize(("allowed", "jobs"), [(True, 2), (False, 4)])
def test_record_of_a_run_without_a_sandbox_holds_where_that_is_allowed(allowed: bool, jobs: int, tmp_path: Path):
    course = make_course(tmp_path)
    write_notebook(course.submitted / "ann" / "tiny" / "tiny.ipynb", notebook(solved()))
    _, files = hand_ins(course, course.exercises())
    workers = Unsandboxed(course)
    for _ in range(2):
        judge_all(course, files, FAST, lambda *_: workers, allow_unsandboxed=allowed)
    assert workers.jobs == jobs  # of each round the instructor's own answer and the student's


# Outputs


@pytest.mark.parametrize(
    ("points", "most", "status", "message"),
    [
        (2, 2, "ok", ""),
        (2, 2, "ok", "well done"),
        (0, 2, "student_error", "no"),
        (0, 2, "suspicious", "a\nb"),
        (0.5, 2, "student_error", "half"),
        (1 / 3, 2, "student_error", ""),
        (2, 2, "student_error", "kept"),
        (0, 0, "ok", ""),
        (0, 0, "student_error", "no"),
        (0, 2, "timeout", ""),
    ],
)
def test_outputs_give_the_points_that_the_verdict_gives(points: float, most: float, status: str, message: str):
    test = TestVerdict("t", points, most, status, message, (Line("a", 1, "f", "x"),))
    made = nbformat.v4.new_code_cell("assert True", outputs=test_outputs(test, most))
    made.metadata["nbgrader"] = {"grade": True, "solution": False, "points": most, "grade_id": "t"}
    assert determine_grade(made) == (points, most)
    failed = [output for output in made.outputs if output.output_type == "error"]
    assert bool(failed) == (points == 0 and status != "ok")


def test_lost_test_is_worth_nothing():
    made = nbformat.v4.new_code_cell("", outputs=test_outputs(None, 3))
    made.metadata["nbgrader"] = {"grade": True, "solution": False, "points": 3, "grade_id": "t"}
    assert determine_grade(made) == (0, 3)


def test_notes_are_shown_letter_by_letter():
    assert plain("*a* <b> [x](y)\n# h") == r"\*a\* \<b\> \[x\]\(y\) \# h"


# The rebuilt notebook


@pytest.mark.parametrize(
    ("prose", "gone"),
    [
        ("<img src=x onerror=alert(1)>", "<img"),
        ("<a href='javascript:alert(1)'>x</a>", "href='javascript"),
        ("[x](javascript:alert(1))", "](javascript"),
        ("![x](http://example.org/a.png)", "](http"),
        ("[x]: javascript:alert(1)", "]: javascript"),
        ("<script>alert(1)</script>", "<script"),
    ],
)
def test_prose_for_the_instructors_browser_is_inert(prose: str, gone: str):
    assert gone not in harmless(prose)


def test_prose_stays_readable():
    assert (
        harmless("# Title\n\nIf $a_1 \\to b$ then **so**.\n\n* one")
        == "# Title\n\nIf $a_1 \\to b$ then **so**.\n\n* one"
    )


def test_rebuilt_notebook_has_the_instructors_cells_with_the_students_answers(tmp_path: Path):
    course = make_course(tmp_path, source())
    handed = [cell("# mine\nx = 1"), *cells(WRONG)]
    path = write_notebook(tmp_path / "handed.ipynb", notebook(handed))
    exercise = course.exercise("tiny")
    where = course.source / "tiny" / "tiny.ipynb", course.release / "tiny" / "tiny.ipynb"
    made = rebuilt(exercise, read(path, exercise), *where)
    nbformat.validate(made)
    texts = {one.metadata.get("nbgrader", {}).get("grade_id", ""): one.source for one in made.cells}
    assert list(texts)[-7:] == ["tiny-contract", "total", "test-total", "test-hidden", "Box", "test-box", "essay"]
    assert texts["total"] == WRONG["total"]
    assert "# mine" in made.cells[0].source
    assert not [secret for secret in SECRETS if secret in nbformat.writes(made)]
    assert texts["test-hidden"].startswith("assert total([5]) == 5")
    lost = rebuilt(exercise, read(tmp_path / "absent.ipynb", exercise), *where)
    assert [one.metadata for one in lost.cells] == [one.metadata for one in made.cells[1:]]


# The configuration


def test_course_is_the_one_that_nbgrader_goes_by(tmp_path: Path):
    course = make_course(tmp_path)
    found = folders(tmp_path)
    assert course_of(found) == course
    assert database_of(found) == tmp_path / "gradebook.db"
    assert who_and_what(found, str(tmp_path / "submitted" / "zoë, [o'hara]" / "tiny")) == ("zoë, [o'hara]", "tiny")
    with pytest.raises(ValueError, match="path"):
        who_and_what(found, str(tmp_path / "elsewhere"))
    found.db_url = "postgresql://host/book"
    assert database_of(found) is None
    found.source_directory = "solutions"
    with pytest.raises(ValueError, match=r"source_directory: nbgrader goes by .*solutions"):
        course_of(found)


def test_summary_says_what_a_feedback_page_says(both: tuple[Path, Path]):
    from grading.record import read_record, record_path

    records = both[0] / "_build" / "course" / "records"
    record = read_record(record_path(records, "delete_test", "tiny", "tiny"))
    assert record is not None
    said = summary(record.verdict)
    assert "**10 of 10 points**" in said
    assert "had been changed; the original was used" in said.replace("\\", "")


# Files that nbgrader would not see


def test_tidy_renames_what_is_meant_and_nothing_else(tmp_path: Path):
    course = make_course(tmp_path)
    right = course.submitted / "ann" / "tiny" / "tiny.ipynb"
    write_notebook(right, notebook(solved()))
    write_notebook(right.with_name("tiny (1).ipynb"), notebook(solved({})))
    copied = write_notebook(course.submitted / "bob" / "tiny" / "tiny (1).ipynb", notebook(solved()))
    deep = write_notebook(course.submitted / "cy" / "tiny" / "more" / "tiny.ipynb", notebook(solved()))
    (course.submitted / "dan" / "tiny").mkdir(parents=True)
    (course.submitted / "dan" / "tiny" / "tiny.py").write_text(RIGHT)
    (course.submitted / "eve").symlink_to(course.submitted / "bob")
    planned = tidy(course)
    assert {(one.student, one.exercise, one.old, one.new.name) for one in planned} == {
        ("bob", "tiny", copied, "tiny.ipynb"),
        ("cy", "tiny", deep, "tiny.ipynb"),
    }
    assert copied.is_file()
    assert tidy(course, write=True) == planned
    assert not copied.exists()
    assert (course.submitted / "cy" / "tiny" / "tiny.ipynb").is_file()
    assert tidy(course) == []


# The sample class


@pytest.mark.slow
def test_sample_class_gets_its_expected_marks_by_nbgrader(tmp_path: Path):
    shutil.copytree(ROOT / "solutions", tmp_path / "source")
    shutil.copytree(ROOT / "exercises", tmp_path / "release")
    shutil.copytree(ROOT / "tests" / "submissions", tmp_path / "tests" / "submissions")
    course = open_course(tmp_path)
    pupils = sample.read_class()
    sample.make_class(course, pupils)
    for exercise in course.exercises():
        autograde(tmp_path, exercise.assignment)
    found: dict[tuple[str, str], float] = {}
    with Gradebook(f"sqlite:///{course.database}") as book:
        for assignment in book.assignments:
            for row in book.submission_dicts(assignment.name):
                found[row["student"], assignment.name] = row["score"]
    assert found == sample.expected_marks(pupils)
