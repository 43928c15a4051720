"""A whole class through records, gradebook, feedback and tables; and the command line."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from grading import pool, sample
from grading.__main__ import main
from grading.classroom import Outcome, grade_class
from grading.course import Course, open_course
from grading.export import differences, marks_csv, marks_table, neutral
from grading.feedback import feedback_page
from grading.judge import judge
from grading.record import from_json, grader_sha256, read_record, record_path, write_record
from grading.running.plan import Limits
from grading.verdict import number
from tests.grading_tiny import BOX_ONLY, FAST, RIGHT, cell, make_course, notebook, solved, source_cells, write_notebook

ROOT = Path(__file__).resolve().parent.parent
QUIET = Console(file=io.StringIO(), force_terminal=True, width=120)


def hand_in(course: Course, student: str, cells: list[dict], name: str = "tiny") -> Path:
    return write_notebook(course.submitted / student / "tiny" / f"{name}.ipynb", notebook(cells))


def grade(course: Course, **options: object) -> Outcome:
    return grade_class(course, limits=FAST, console=QUIET, **options)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Course, Outcome]:
    """Good and bad students side by side."""
    course = make_course(tmp_path_factory.mktemp("course"))
    hand_in(course, "ann", solved())
    hand_in(course, "zoë, o'hara", solved())
    hand_in(course, "blank", solved({}))
    hand_in(course, "exit", solved({"total": "import os\nos._exit(0)", "Box": BOX_ONLY}))
    hand_in(course, "vandal", [c for c in solved() if not c["metadata"].get("nbgrader", {}).get("grade")])
    hand_in(
        course, "markup", solved({"total": "print('<script>alert(1)</script>')\ndef total(n):\n    return n['<b>']"})
    )
    (course.submitted / "binary" / "tiny").mkdir(parents=True)
    (course.submitted / "binary" / "tiny" / "tiny.ipynb").write_bytes(b"\x00\xff\xfe" * 50)
    (course.submitted / "folder" / "tiny" / "tiny.ipynb").mkdir(parents=True)
    (course.submitted / "nothing").mkdir()
    (course.submitted / "plain" / "tiny").mkdir(parents=True)
    (course.submitted / "plain" / "tiny" / "tiny.py").write_text(RIGHT)
    return course, grade(course, names={"ann": "Lee, Ann"}, jobs=2)


MARKS = {
    "ann": 10,
    "zoë, o'hara": 10,
    "blank": 0,
    "exit": 5,
    "vandal": 10,
    "markup": 0,
    "binary": 0,
    "folder": 0,
    "plain": 10,
}


def test_each_student_gets_their_own_mark(graded: tuple[Course, Outcome]):
    _, outcome = graded
    assert {student: mark for (student, _), mark in outcome.marks.items()} == MARKS
    assert outcome.broken == {}


def test_gradebook_holds_every_test_and_needs_no_person(graded: tuple[Course, Outcome]):
    course, _ = graded
    with Gradebook(f"sqlite:///{course.database}") as book:
        for student, mark in MARKS.items():
            submission = book.find_submission("tiny", student)
            assert submission.score == mark
            assert submission.max_score == 10
            assert not submission.needs_manual_grade
            grades = {grade.name: grade.auto_score for grade in submission.notebooks[0].grades}
            assert grades.keys() == {"test-total", "test-hidden", "test-box"}
            assert None not in grades.values()
        assert {student.id for student in book.students} == {*MARKS, "nothing"}
        assert book.find_student("ann").last_name == "Lee"


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attributes if name in ("href", "src")]


def test_feedback_has_a_page_each_and_an_index(graded: tuple[Course, Outcome]):
    from urllib.parse import unquote

    course, outcome = graded
    reader = Links()
    reader.feed(outcome.index.read_text(encoding="utf-8"))
    pages = {course.feedback / unquote(link) for link in reader.links}
    assert pages == {course.feedback / student / "tiny" / "tiny.html" for student in MARKS}
    assert all(page.is_file() for page in pages)


def test_feedback_is_escaped_and_loads_nothing(graded: tuple[Course, Outcome]):
    course, _ = graded
    text = (course.feedback / "markup" / "tiny" / "tiny.html").read_text(encoding="utf-8")
    reader = Links()
    reader.feed(text)
    assert "&lt;script&gt;alert(1)" in text
    assert "[&#x27;&lt;b&gt;&#x27;]" in text
    assert not reader.tags & {"script", "b", "img", "link", "iframe"}
    assert reader.links == []


def test_feedback_names_no_other_student(graded: tuple[Course, Outcome]):
    course, _ = graded
    for student in MARKS:
        body = (course.feedback / student / "tiny" / "tiny.html").read_text(encoding="utf-8").split("</style>")[1]
        assert all(other not in body for other in ("zoë", "vandal", "markup") if other not in student)


def test_table_of_marks_is_good_csv(graded: tuple[Course, Outcome]):
    _, outcome = graded
    rows = list(csv.DictReader(io.StringIO(outcome.csv.read_text(encoding="utf-8"))))
    assert {row["student"]: row["total"] for row in rows} == {**{s: str(m) for s, m in MARKS.items()}, "nothing": "0"}
    assert next(row for row in rows if row["student"] == "nothing")["tiny"] == ""
    assert next(row for row in rows if row["student"] == "ann")["name"] == "Lee, Ann"


def test_records_round_trip_and_hold_what_they_came_from(graded: tuple[Course, Outcome], tmp_path: Path):
    course, outcome = graded
    for record in outcome.records:
        path = record_path(course.build / "records", record.student, "tiny", "tiny")
        assert read_record(path) == record
        assert from_json(json.loads(json.dumps(dataclasses.asdict(record)))) == record
        assert record.source_sha256 == course.exercise("tiny").sha256
        assert record.grader_sha256 == grader_sha256(FAST)
    write_record(tmp_path / "r.json", outcome.records[0])
    (tmp_path / "r.json").write_text((tmp_path / "r.json").read_text().replace('"version": 2', '"version": 99'))
    assert read_record(tmp_path / "r.json") is None
    (tmp_path / "r.json").write_text("{")
    assert read_record(tmp_path / "r.json") is None


def test_unchanged_is_read_from_the_record_and_changed_is_graded(tmp_path: Path):
    course = make_course(tmp_path)
    path = hand_in(course, "ann", solved())
    hand_in(course, "bob", solved())
    assert grade(course).reused == 0
    assert grade(course).reused == 2
    assert grade(course, again=True).reused == 0
    hand_in(course, "ann", solved({"Box": BOX_ONLY}))
    outcome = grade(course)
    assert (outcome.reused, outcome.marks["ann", "tiny"]) == (1, 5)  # no stale score is left from ten points
    path.unlink()
    outcome = grade(course)
    assert ("ann", "tiny") not in outcome.marks
    assert not (course.feedback / "ann" / "tiny" / "tiny.html").exists()
    assert outcome.marks["bob", "tiny"] == 10
    shutil.rmtree(course.submitted / "bob")
    assert grade(course).marks == {}


def test_changed_source_is_graded_anew_with_its_new_tests(tmp_path: Path):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved())
    assert grade(course).marks["ann", "tiny"] == 10
    cells = [*source_cells()[:6], cell("assert Box('x').get() == ['x']", grade_id="test-new", grade=True, points=7)]
    make_course(tmp_path, cells)
    outcome = grade(course)
    assert (outcome.reused, outcome.marks["ann", "tiny"]) == (0, 12)
    with Gradebook(f"sqlite:///{course.database}") as book:
        assert book.find_assignment("tiny").max_score == 12
        grades = book.find_submission("tiny", "ann").notebooks[0].grades
        assert {grade.name for grade in grades} == {"test-total", "test-hidden", "test-new"}


def test_mark_of_a_person_is_left_and_flagged(tmp_path: Path):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved({}))
    grade(course)
    with Gradebook(f"sqlite:///{course.database}") as book:
        book.find_grade("test-box", "tiny", "tiny", "ann").manual_score = 4
        book.db.commit()
    assert grade(course).marks["ann", "tiny"] == 4
    with Gradebook(f"sqlite:///{course.database}") as book:
        assert book.find_grade("test-box", "tiny", "tiny", "ann").needs_manual_grade


def test_failure_of_the_grader_costs_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved())
    hand_in(course, "bob", solved())

    def broken(exercise: object, path: Path, limits: Limits) -> object:
        if "ann" in str(path):
            raise RuntimeError("a slip of the grader")
        return judge(exercise, path, limits)

    monkeypatch.setattr(pool, "judge", broken)
    outcome = grade(course)
    assert outcome.marks == {("ann", "tiny"): 0, ("bob", "tiny"): 10}
    assert [record.verdict.status for record in outcome.records] == ["grader_error", "ok"]
    assert "a slip of the grader" in outcome.records[0].verdict.fault  # for the instructor, and not for the student
    assert "a slip" not in (course.feedback / "ann" / "tiny" / "tiny.html").read_text(encoding="utf-8")
    monkeypatch.undo()
    assert grade(course).marks["ann", "tiny"] == 10  # such a record is not reused


def test_broken_test_is_the_graders_fault(tmp_path: Path):
    cells = source_cells()
    cells[3]["source"] = "assert total([1]) == 2, 'wrong test'"
    course = make_course(tmp_path, cells)
    hand_in(course, "ann", solved())
    outcome = grade(course)
    assert outcome.broken == {"tiny": ["test-total"]}
    assert outcome.records[0].verdict.tests[0].status == "grader_error"
    assert outcome.records[0].verdict.score == 8


def test_progress_is_shown(tmp_path: Path):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved())
    out = io.StringIO()
    grade_class(course, limits=FAST, console=Console(file=out, force_terminal=True, width=120))
    assert "Submissions" in out.getvalue()
    assert "1/1" in out.getvalue()
    assert "/s" in out.getvalue()


def test_course_without_tests_is_a_value_error(tmp_path: Path):
    with pytest.raises(ValueError, match="course"):
        grade(open_course(tmp_path))


def test_notebook_withdrawn_from_an_assignment_of_two_leaves_no_mark(tmp_path: Path):
    course = make_course(tmp_path)
    other = write_notebook(course.source / "tiny" / "second.ipynb", notebook(source_cells()))
    hand_in(course, "ann", solved())
    gone = hand_in(course, "ann", solved(), name=other.stem)
    assert grade(course).marks == {("ann", "tiny"): 10, ("ann", "tiny/second"): 10}
    gone.unlink()
    assert grade(course).marks == {("ann", "tiny"): 10, ("ann", "tiny/second"): 0}
    assert not (course.feedback / "ann" / "tiny" / "second.html").exists()


def test_folder_whose_name_is_no_unicode_stops_nobody(tmp_path: Path):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved())
    hand_in(course, "bo\udcffb", solved())
    assert grade(course).marks == {("ann", "tiny"): 10, ("bo?b", "tiny"): 10}


def test_gradebook_that_is_none_is_named_and_the_records_are_kept(tmp_path: Path):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved())
    course.database.write_bytes(b"no database" * 100)
    with pytest.raises(ValueError, match=r"gradebook: .*gradebook\.db"):
        grade(course)
    course.database.unlink()
    assert grade(course).reused == 1


@pytest.mark.parametrize("jobs", [-1])
def test_jobs_below_zero_is_a_value_error(jobs: int, tmp_path: Path):
    with pytest.raises(ValueError, match="jobs"):
        grade(make_course(tmp_path), jobs=jobs)


# Tables


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", " =x"])
def test_formulas_are_neutralised(text: str):
    assert neutral(text) == "'" + text.replace("\r", " ")
    rows = list(csv.reader(io.StringIO(marks_csv([], [(text, text)], {}))))
    assert rows[1][0] == rows[1][1] == neutral(text)


def test_plain_names_are_left_alone():
    for text in ("O'Brien, Siobhán", "田中 葵", 'Jo "J" Lee', "a\nb"):
        assert neutral(text) == text
        assert list(csv.reader(io.StringIO(marks_csv([], [("s", text)], {}))))[1][1] == text


def test_differences_name_what_differs():
    assert differences({("a", "x"): 1.0}, {("a", "x"): 1.0}) == []
    assert differences({("a", "x"): 1.0}, {("a", "x"): 2.0, ("b", "x"): 0.0}) == [
        "a, x: 1, expected 2",
        "b, x: none, expected 0",
    ]


def test_terminal_table_shows_the_expected_mark_beside(graded: tuple[Course, Outcome]):
    _, outcome = graded
    expected = {**outcome.marks, ("ann", "tiny"): 3.0}
    out = io.StringIO()
    Console(file=out, width=120).print(marks_table(outcome.exercises, outcome.students, outcome.marks, expected))
    assert "10 (expected 3)" in out.getvalue()
    assert number(2.50) == "2.5"


def test_page_of_a_verdict_without_hidden_tests_says_so(tmp_path: Path):
    write_notebook(tmp_path / "release" / "tiny" / "tiny.ipynb", notebook(solved({})))
    (tmp_path / "a.py").write_text(RIGHT)
    exercise = open_course(tmp_path).exercise("tiny")
    assert "Only the tests that you can see were run" in feedback_page(
        exercise, "ann", judge(exercise, tmp_path / "a.py", FAST)
    )


# The command line


def run_check(tmp_path: Path, text: str, *more: str) -> int:
    path = tmp_path / "a.py"
    path.write_text(text)
    return main(["check", "tiny", str(path), "--course", str(tmp_path), *more])


def test_check_says_what_each_test_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    make_course(tmp_path)
    assert run_check(tmp_path, RIGHT) == 0
    assert "10 of 10" in capsys.readouterr().out
    assert run_check(tmp_path, BOX_ONLY) == 1
    out = capsys.readouterr().out
    assert "test-total: not attempted" in out
    assert "were run. These found no answer to run: test-total, test-hidden." in out


def test_check_json_has_exactly_its_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    make_course(tmp_path)
    assert run_check(tmp_path, "def total(numbers):\n    return 0\n" + BOX_ONLY, "--json") == 1
    shown = capsys.readouterr()
    result = json.loads(shown.out)
    assert list(result) == ["exercise", "score", "max_score", "tests"]
    assert (result["exercise"], result["score"], result["max_score"]) == ("tiny", 5, 10)
    assert all(list(test) == ["id", "points", "max_points", "status", "message"] for test in result["tests"])
    assert result["tests"][0]["message"] == "numbers are added up"
    assert "The visible and the hidden tests were run." in shown.err


@pytest.mark.parametrize(
    "arguments", [["check", "tiny"], ["check", "other", "a.py"], ["check", "tiny", "missing.py"], [], ["x"]]
)
def test_wrong_commands_give_two(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    make_course(tmp_path)
    course = ["--course", str(tmp_path)] if arguments[:1] == ["check"] else []
    try:
        status = main([*arguments, *course])
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    assert capsys.readouterr().err


def test_grade_takes_any_course(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved())
    assert main(["grade", "--course", str(tmp_path), "--jobs", "1"]) == 0
    out = capsys.readouterr().out
    assert "1 submission of 1 student, with hidden tests." in out
    assert (tmp_path / "gradebook.db").is_file()
    assert (tmp_path / "feedback" / "index.html").is_file()


# The sample class


def test_sample_class_covers_what_it_should():
    pupils = sample.read_class()
    assert len(pupils) >= 12
    names = " ".join(pupil.name for pupil in pupils)
    assert "'" in names
    assert "," in names
    assert not names.isascii()
    used = {damage for pupil in pupils for work in pupil.work for damage in work.damage}
    assert used == {*sample.DAMAGE, *sample.BYTES}
    exercises = {exercise.name for exercise in open_course(ROOT, bundled=True).exercises() if exercise.tests}
    assert {work.exercise for pupil in pupils for work in pupil.work} == exercises


def test_sample_notebooks_are_made_and_a_wrong_expectation_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    course = dataclasses.replace(open_course(ROOT, bundled=True), submitted=tmp_path / "s", build=tmp_path / "b")
    course = dataclasses.replace(course, database=tmp_path / "g.db", feedback=tmp_path / "f")
    pupils = [pupil for pupil in sample.read_class() if pupil.id in ("ravi", "tomas", "kai")]
    sample.make_class(course, pupils)
    outcome = grade_class(course, limits=Limits(test_seconds=20, total_seconds=120), console=QUIET)
    expected = sample.expected_marks(pupils)
    assert differences(outcome.marks, expected) == []
    assert differences(outcome.marks, {**expected, ("tomas", "interleave"): 10.0})


@pytest.mark.parametrize(
    "text", ['[[student]]\nid = "a"\nname = "A"\nwork.x = {answers = "blank", damage = "?", expected = 0}']
)
def test_unknown_damage_is_a_value_error(text: str, tmp_path: Path):
    (tmp_path / "class.toml").write_text(text)
    with pytest.raises(ValueError, match="damage"):
        sample.read_class(tmp_path / "class.toml")


# The notebook's own check


@pytest.mark.parametrize("answer", ["right_pointers", "wrong_loses_turn"])
def test_nbgrader_validate_agrees_on_the_visible_tests(answer: str, tmp_path: Path):
    source = (ROOT / "tests" / "submissions" / "interleave" / f"{answer}.py").read_text(encoding="utf-8")
    book = json.loads((ROOT / "exercises" / "interleave" / "interleave.ipynb").read_text(encoding="utf-8"))
    for one in book["cells"]:
        if one["metadata"].get("nbgrader", {}).get("solution"):
            one["source"] = source
    path = write_notebook(tmp_path / "interleave.ipynb", book)
    command = [sys.executable, "-m", "nbgrader", "validate", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ("Success" in done.stdout) == answer.startswith("right"), done.stdout + done.stderr
    assert ("VALIDATION FAILED" in done.stdout) == answer.startswith("wrong"), done.stdout + done.stderr
