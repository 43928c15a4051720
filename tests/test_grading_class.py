"""A whole class through records, gradebook, feedback and tables; and the command line."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import gc
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from grading import entering, sample, worker
from grading.__main__ import main
from grading.classroom import Outcome, grade_class
from grading.course import Course, open_course
from grading.export import differences, marks_csv, marks_table, neutral
from grading.feedback import feedback_page
from grading.jobs import Answer, Job, read_record_line, record_line
from grading.judge import judge
from grading.record import from_json, grader_sha256, read_record, record_path, write_record
from grading.running.plan import Limits
from grading.submission import Submission
from grading.verdict import Verdict, number
from grading.worker import Grader
from tests.grading_tiny import BOX_ONLY, FAST, RIGHT, cell, make_course, notebook, solved, source_cells, write_notebook

ROOT = Path(__file__).resolve().parent.parent
QUIET = Console(file=io.StringIO(), force_terminal=True, width=120)


def hand_in(course: Course, student: str, cells: list[dict], name: str = "tiny") -> Path:
    return write_notebook(course.submitted / student / "tiny" / f"{name}.ipynb", notebook(cells))


class Here:
    """Answers jobs in this process, so that a test can put something else in the place of a part."""

    def __init__(self, course: Course, limits: Limits) -> None:
        self.grader = Grader(course, limits)

    def __enter__(self) -> Here:
        self.grader.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.grader.__exit__(*error)

    def dismiss(self) -> None:
        """There is nobody to go."""

    def run(self, jobs: Iterable[Job]) -> Iterator[Answer]:
        for job in jobs:
            yield Answer(job, record_line(self.grader.record(job)))


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
    (tmp_path / "r.json").write_text((tmp_path / "r.json").read_text().replace('"version": 3', '"version": 99'))
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


def late(course: Course) -> tuple[str, float | None, float]:
    """When ann handed in, what being late costs her, and her mark after grading."""
    outcome = grade(course)
    with Gradebook(f"sqlite:///{course.database}") as book:
        submission = book.find_submission("tiny", "ann")
        lost = submission.notebooks[0].late_submission_penalty
        return str(submission.timestamp), lost, outcome.marks["ann", "tiny"]


def set_due(course: Course) -> None:
    with Gradebook(f"sqlite:///{course.database}") as book:
        book.update_or_create_assignment("tiny", duedate="2030-01-01 10:00:00 UTC")


def test_time_of_a_hand_in_and_its_penalty_are_those_of_the_file_that_was_graded(tmp_path: Path):
    course = make_course(tmp_path)
    stamp = hand_in(course, "ann", solved()).with_name("timestamp.txt")
    grade(course)
    set_due(course)
    stamp.write_text("2030-01-01T13:00:00+01:00\n")
    assert late(course) == ("2030-01-01 12:00:00", None, 10)  # nbgrader's default takes nothing off
    config = tmp_path / "nbgrader_config.py"
    config.write_text('c = get_config()\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    assert late(course) == ("2030-01-01 12:00:00", 10, 0)
    assert list(csv.reader((course.build / "marks.csv").open()))[1][2] == "0"
    stamp.write_text("2030-01-01 10:00:00 UTC")  # handed in again
    assert late(course) == ("2030-01-01 10:00:00", None, 10)
    stamp.write_text("2030-01-01 12:00:00 UTC")
    with Gradebook(f"sqlite:///{course.database}") as book:
        book.grant_extension("tiny", "ann", hours=2)
    assert late(course) == ("2030-01-01 12:00:00", None, 10)
    stamp.unlink()
    assert late(course) == ("None", None, 10)


def test_plugin_of_the_course_says_what_being_late_costs(tmp_path: Path):
    course = make_course(tmp_path)
    (tmp_path / "lateness_here.py").write_text(
        """
from nbgrader.plugins import BasePlugin
from traitlets import Float

class ByTheHour(BasePlugin):
    each = Float(0.5).tag(config=True)

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return self.each * total_seconds_late / 3600
"""
    )
    config = tmp_path / "nbgrader_config.py"
    config.write_text('c.AssignLatePenalties.plugin_class = "lateness_here.ByTheHour"\nc.ByTheHour.each = 2.0\n')
    stamp = hand_in(course, "ann", solved()).with_name("timestamp.txt")
    assert open_course(tmp_path).ignored == ()
    grade(course)
    set_due(course)
    stamp.write_text("2030-01-01 12:00:00 UTC")
    assert late(course) == ("2030-01-01 12:00:00", 4, 6)
    stamp.write_text("2030-01-02 12:00:00 UTC")
    assert late(course) == ("2030-01-02 12:00:00", 10, 0)  # never more than there is
    config.write_text('c.AssignLatePenalties.plugin_class = "lateness_here.Missing"\n')
    with pytest.raises(ValueError, match=r"AssignLatePenalties\.plugin_class"):
        grade(course)
    config.write_text("from lateness_here import ByTheHour\nc.AssignLatePenalties.plugin_class = ByTheHour\n")
    assert open_course(tmp_path).ignored == ()
    stamp.write_text("2030-01-01 12:00:00 UTC")
    assert late(course) == ("2030-01-01 12:00:00", 1, 9)


@pytest.mark.parametrize("text", ["", "yesterday, I think", "\udcff", "1" * 10_000, "2030-13-45 99:00:00 UTC"])
def test_time_that_cannot_be_read_is_a_note_and_no_time(text: str, tmp_path: Path):
    course = make_course(tmp_path)
    stamp = hand_in(course, "ann", solved()).with_name("timestamp.txt")
    stamp.write_text("2030-01-01 12:00:00 UTC")
    assert late(course)[0] == "2030-01-01 12:00:00"
    stamp.write_text(text, errors="surrogateescape")
    outcome = grade(course)
    assert [str(stamp) in note for note in outcome.notes] == [True]
    assert late(course) == ("None", None, 10)


def test_time_behind_a_link_or_in_a_pipe_is_a_note(tmp_path: Path):
    course = make_course(tmp_path)
    stamp = hand_in(course, "ann", solved()).with_name("timestamp.txt")
    (tmp_path / "elsewhere.txt").write_text("2030-01-01 12:00:00 UTC")
    stamp.symlink_to(tmp_path / "elsewhere.txt")
    os.mkfifo(hand_in(course, "bob", solved()).with_name("timestamp.txt"))
    assert len(grade(course).notes) == 2


def essay_course(root: Path) -> Course:
    """A course whose exercise has ten points by tests and four by a person."""
    question = cell("YOUR ANSWER HERE", "markdown", grade_id="essay", grade=True, solution=True, points=4)
    return make_course(root, [*source_cells(), question])


def with_essay(prose: str) -> list[dict]:
    return [*solved(), cell(prose, "markdown", grade_id="essay", grade=True, solution=True, points=4)]


def mark_by_hand(course: Course, student: str, points: float, part: str = "essay") -> None:
    """What formgrader does when a person gives a mark."""
    with Gradebook(f"sqlite:///{course.database}") as book:
        grade = book.find_grade(part, "tiny", "tiny", student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()


def waits(course: Course, student: str, part: str) -> bool:
    """Whether the gradebook asks for a person."""
    with Gradebook(f"sqlite:///{course.database}") as book:
        return bool(book.find_grade(part, "tiny", "tiny", student).needs_manual_grade)


def test_maximum_and_mark_both_count_what_a_person_gives(tmp_path: Path):
    course = essay_course(tmp_path)
    hand_in(course, "ann", with_essay("Because."))
    grade(course)
    mark_by_hand(course, "ann", 3)
    outcome = grade(course)
    assert list(csv.reader((course.build / "marks.csv").open()))[1][2:] == ["13", "13", "14"]
    assert "13 / 14" in outcome.index.read_text(encoding="utf-8")
    out = io.StringIO()
    Console(file=out, width=120).print(marks_table(outcome.exercises, outcome.students, outcome.marks))
    assert "/14" in out.getvalue()
    with Gradebook(f"sqlite:///{course.database}") as book:
        assert book.find_assignment("tiny").max_score == 14


def test_prose_that_waits_for_a_mark_is_for_a_person_to_look_at(tmp_path: Path):
    course = essay_course(tmp_path)
    hand_in(course, "ann", with_essay("Because."))
    hand_in(course, "blank", with_essay("YOUR ANSWER HERE"))
    hand_in(course, "cheat", source_cells())

    def looked_at() -> str:
        page = grade(course).index.read_text(encoding="utf-8")
        return page.partition("For a person to look at")[2].partition("<h2>")[0]

    assert "Waits for a person's mark: 1<" in looked_at().replace("&#x27;", "'").replace("&#39;", "'")
    assert "ann: tiny" in looked_at()
    assert "blank: tiny" not in looked_at()
    assert looked_at().count("cheat: tiny") == 1
    mark_by_hand(course, "ann", 3)
    assert "ann: tiny" not in looked_at()
    hand_in(course, "ann", with_essay("Because of something else."))
    assert "ann: tiny" in looked_at()


def mended(old: str = "7349, 11", new: str = "7350, 10") -> list[dict]:
    """The source with another hidden part."""
    cells = source_cells()
    for one in cells:
        one["source"] = one["source"].replace(old, new)
    return cells


def test_mended_hidden_test_clears_nobody_who_holds_the_old_one(tmp_path: Path):
    course = make_course(tmp_path)
    leaked = source_cells()
    hand_in(course, "ann", leaked)
    hand_in(course, "bob", solved())
    assert grade(course).marks == {("ann", "tiny"): 0, ("bob", "tiny"): 10}
    course = make_course(tmp_path, mended())
    hand_in(course, "cy", [*leaked, cell("# another file")])  # handed in when the source had changed
    outcome = grade(course)
    assert outcome.marks == {("ann", "tiny"): 0, ("bob", "tiny"): 10, ("cy", "tiny"): 0}
    assert {r.student: r.verdict.status for r in outcome.records} == {
        "ann": "suspicious",
        "bob": "ok",
        "cy": "suspicious",
    }
    assert outcome.reused == 0
    assert grade(course).reused == 3


def test_hidden_part_that_is_given_out_one_day_is_no_sign(tmp_path: Path):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved())
    grade(course)
    shown = mended("### BEGIN HIDDEN TESTS\n", "")
    for one in shown:
        one["source"] = one["source"].replace("\n### END HIDDEN TESTS", "")
    course = make_course(tmp_path, shown)
    hand_in(course, "ann", [*solved(), shown[4]])
    assert grade(course).marks == {("ann", "tiny"): 10}


def test_what_is_kept_of_earlier_tests_is_named_where_it_is_damaged(tmp_path: Path):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved())
    grade(course)
    kept = course.build / "hidden" / "tiny" / "tiny.json"
    assert len(json.loads(kept.read_text())) == 1
    for text in ("[", "{}", "[1]"):
        kept.write_text(text)
        with pytest.raises(ValueError, match=r"hidden.tiny.tiny\.json"):
            grade(course)


def test_mark_of_a_person_is_left_and_flagged_when_another_file_comes(tmp_path: Path):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved({}))
    grade(course)
    mark_by_hand(course, "ann", 4, "test-box")
    assert grade(course).marks["ann", "tiny"] == 4
    assert not waits(course, "ann", "test-box")  # it was given for the file that is graded
    assert grade(course, again=True).marks["ann", "tiny"] == 4
    assert not waits(course, "ann", "test-box")
    hand_in(course, "ann", [*solved({}), cell("# another file")])
    for _ in range(2):  # the flag stays until a person takes it away
        assert grade(course).marks["ann", "tiny"] == 4
        assert waits(course, "ann", "test-box")
    mark_by_hand(course, "ann", 4, "test-box")
    grade(course)
    assert not waits(course, "ann", "test-box")


def test_mark_of_a_person_on_a_suspicious_hand_in_ends_the_wait(tmp_path: Path):
    course = make_course(tmp_path)
    hand_in(course, "ann", source_cells())
    grade(course)
    assert waits(course, "ann", "test-box")
    grade(course)
    assert waits(course, "ann", "test-box")
    mark_by_hand(course, "ann", 5, "test-box")
    grade(course)
    assert not waits(course, "ann", "test-box")
    assert waits(course, "ann", "test-total")


def test_hash_that_was_not_written_is_one_look_too_many(tmp_path: Path):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved({}))
    grade(course)
    mark_by_hand(course, "ann", 4, "test-box")
    shutil.rmtree(course.build / "entered")
    grade(course)
    assert waits(course, "ann", "test-box")


def test_failure_of_the_grader_costs_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved())
    hand_in(course, "bob", solved())
    real = worker.judge_submission

    def broken(exercise: object, submission: Submission, *rest: object) -> object:
        if submission.sha256 and "ann" in judging:
            raise RuntimeError("a slip of the grader")
        return real(exercise, submission, *rest)

    judging: list[str] = []

    class Watched(Here):
        def run(self, jobs: Iterable[Job]) -> Iterator[Answer]:
            for job in jobs:
                judging[:] = [job.student]
                yield from super().run([job])

    monkeypatch.setattr(worker, "judge_submission", broken)
    outcome = grade(course, engine=Watched)
    assert outcome.marks == {("ann", "tiny"): 0, ("bob", "tiny"): 10}
    assert [record.verdict.status for record in outcome.records] == ["grader_error", "ok"]
    assert "a slip of the grader" in outcome.records[0].verdict.fault  # for the instructor, and not for the student
    assert outcome.faults.keys() == {("ann", "tiny")}
    assert "a slip of the grader" in outcome.faults["ann", "tiny"]
    assert "a slip" not in (course.feedback / "ann" / "tiny" / "tiny.html").read_text(encoding="utf-8")
    monkeypatch.undo()
    again = grade(course, engine=Here)
    assert (again.marks["ann", "tiny"], again.reused) == (10, 1)  # such a record is not reused


def test_worker_that_gives_no_record_or_anothers_costs_only_the_job(tmp_path: Path):
    course = make_course(tmp_path)
    for student in ("ann", "bob", "cyd", "dee"):
        hand_in(course, student, solved())

    class Odd(Here):
        def run(self, jobs: Iterable[Job]) -> Iterator[Answer]:
            good = list(super().run(jobs))
            for answer in good:
                line = {"ann": "", "bob": "{}", "cyd": good[0].line}.get(answer.job.student, answer.line)
                yield Answer(answer.job, line, "it fell over" if not line else "")

    outcome = grade(course, engine=Odd)
    assert [record.verdict.status for record in outcome.records] == ["grader_error"] * 3 + ["ok"]
    assert outcome.marks["dee", "tiny"] == 10
    assert "it fell over" in outcome.faults["ann", "tiny"]
    assert "another job" in outcome.faults["cyd", "tiny"]


def test_nothing_of_a_class_is_held_but_places_and_marks(tmp_path: Path):
    """Of records and verdicts there are never more alive than wait for the gradebook."""
    course, many = make_course(tmp_path), 700
    for place in range(many):
        hand_in(course, f"s{place:03}", solved())
    alive: list[int] = []

    class Copies(Here):
        def run(self, jobs: Iterable[Job]) -> Iterator[Answer]:
            line = ""
            for place, job in enumerate(jobs):
                if not job.path:  # the instructor's own answer
                    yield from super().run([job])
                    continue
                line = line or next(super().run([job])).line
                record = dataclasses.replace(read_record_line(line), student=job.student)
                if place % 100 == 99:
                    alive.append(sum(isinstance(thing, Verdict) for thing in gc.get_objects()))
                yield Answer(job, record_line(record))

    outcome = grade(course, engine=Copies)
    assert len(outcome.records) == many
    assert set(outcome.marks.values()) == {10}
    assert len(alive) == many // 100
    assert max(alive) <= entering.CHUNK + 20 < many


def test_record_that_comes_before_the_instructors_own_waits_for_it(tmp_path: Path):
    cells = source_cells()
    cells[3]["source"] = "assert total([1]) == 2, 'wrong test'"
    course = make_course(tmp_path, cells)
    hand_in(course, "ann", solved())

    class Backwards(Here):
        def run(self, jobs: Iterable[Job]) -> Iterator[Answer]:
            yield from super().run(list(jobs)[::-1])

    outcome = grade(course, engine=Backwards)
    assert outcome.broken == {"tiny": ["test-total"]}
    assert outcome.records[0].verdict.tests[0].status == "grader_error"
    assert outcome.records[0].verdict.score == 8


def test_record_is_kept_where_nobody_ran_the_instructors_own(tmp_path: Path):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved())

    class Forgetful(Here):
        def run(self, jobs: Iterable[Job]) -> Iterator[Answer]:
            yield from super().run([job for job in jobs if job.path])

    assert grade(course, engine=Forgetful).marks == {("ann", "tiny"): 10}


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
    assert grade(course).marks == {("ann", "tiny"): 10, ("bo\\xffb", "tiny"): 10}


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


# What stops a run


def test_locked_gradebook_is_status_three_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved())
    assert main(["grade", "--course", str(tmp_path)]) == 0
    hand_in(course, "bob", solved())
    monkeypatch.setattr(entering, "WAIT", 0.1)
    holder = sqlite3.connect(course.database, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert main(["grade", "--course", str(tmp_path)]) == 3
    assert "gradebook.db is in use" in capsys.readouterr().err
    assert (course.feedback / "bob" / "tiny" / "tiny.html").is_file()
    holder.execute("ROLLBACK")
    holder.close()
    assert main(["grade", "--course", str(tmp_path)]) == 0
    assert "2 submissions of 2 students, with hidden tests, 2 of them from records." in capsys.readouterr().out
    with Gradebook(f"sqlite:///{course.database}") as book:
        assert book.find_submission("tiny", "bob").score == 10


def processes_of(folder: Path) -> set[int]:
    """The processes whose command line names a folder."""
    found = set()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if entry.name.isdigit() and os.fsencode(folder) in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopped_run_leaves_no_worker_and_goes_on_from_its_records(number: signal.Signals, tmp_path: Path):
    course = make_course(tmp_path)
    hand_in(course, "ann", solved())
    for student in ("bea", "cyd"):
        hand_in(course, student, solved({"total": "while True:\n    pass", "Box": BOX_ONLY}))
    command = [sys.executable, "-m", "grading", "grade", "--course", str(tmp_path), "--jobs", "1"]
    run = subprocess.Popen(
        [*command, "--cell-seconds", "60", "--total-seconds", "300"], stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    record = record_path(course.build / "records", "ann", "tiny", "tiny")
    deadline = time.monotonic() + 60
    while not record.is_file() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_of(tmp_path) - {run.pid}, "a worker runs"
    run.send_signal(number)
    said = run.communicate(timeout=20)[1]
    assert run.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}.get(number, -signal.SIGKILL)
    assert ("The records are kept" in said) == (number == signal.SIGINT)
    deadline = time.monotonic() + 10
    while processes_of(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not processes_of(tmp_path)
    for student in ("bea", "cyd"):
        hand_in(course, student, solved({}))
    limits = Limits(cell_seconds=60, total_seconds=300)
    outcome = grade_class(course, limits=limits, console=QUIET, engine=Here)
    assert (outcome.reused, outcome.marks["ann", "tiny"]) == (1, 10)


def test_records_of_a_job_array_are_taken_in(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    """A file of jobs is shared out, each part goes to a worker, and the records are put together."""
    course = make_course(tmp_path / "course")
    for student in ("ann", "bob", "=cmd, eve"):
        hand_in(course, student, solved() if student != "bob" else solved({}))
    cells = source_cells()
    cells[3]["source"] = "assert total([1]) == 2, 'wrong test'"
    write_notebook(course.source / "wrong" / "wrong.ipynb", notebook(cells))
    write_notebook(course.submitted / "ann" / "wrong" / "wrong.ipynb", notebook(solved()))
    where = ["--course", str(course.root)]
    assert main(["jobs", *where]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [json.loads(line)["student"] for line in lines] == ["", "", "=cmd, eve", "ann", "ann", "bob"]
    records = tmp_path / "records"
    with records.open("ab") as out:
        for part in (lines[::2], lines[1::2]):
            command = [sys.executable, "-m", "grading", "worker", *where]
            subprocess.run(command, input="\n".join(part).encode(), stdout=out, check=True, cwd=ROOT)

    class Nobody(Here):
        def run(self, jobs: Iterable[Job]) -> Iterator[Answer]:
            left = list(jobs)
            assert {job.student for job in left} <= {"", "ann"}  # only what the broken test touches is run again
            return super().run(left)

    outcome = grade_class(course, records=records, console=QUIET, engine=Here)
    assert outcome.marks == {
        ("ann", "tiny"): 10,
        ("bob", "tiny"): 0,
        ("=cmd, eve", "tiny"): 10,
        ("ann", "wrong"): 8,
    }
    assert outcome.reused == 3
    assert outcome.broken == {"wrong": ["test-total"]}
    records.write_bytes(b"{}\n")
    with pytest.raises(ValueError, match="records: line 1"):
        grade_class(course, records=records, console=QUIET)


def test_settings_that_are_not_followed_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "nbgrader_config.py").write_text(
        """
c = get_config()
c.CourseDirectory.directory_structure = "{student_id}/{nbgrader_step}/{assignment_id}"
c.CourseDirectory.submitted_directory = "handed_in"
c.CourseDirectory.source_directory = str(HERE / "source")
c.CourseDirectory.db_url = "sqlite:///marks.db"
c.ClearHiddenTests.begin_test_delimeter = "HIDE FROM HERE"
c.ClearSolutions.begin_solution_delimeter = "BEGIN SOLUTION"
c.ClearSolutions.text_stub = "*Your answer.*"
"""
    )
    make_course(tmp_path)
    course = open_course(tmp_path)
    assert course.database == tmp_path / "marks.db"
    assert course.submitted == tmp_path / "handed_in"
    hand_in(course, "ann", solved())
    assert main(["grade", "--course", str(tmp_path)]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "is not followed" in line]
    assert [line.split(" is ")[0].split(".")[-1] for line in said] == [
        "directory_structure",
        "source_directory",
        "begin_test_delimeter",
    ]
    assert "handed_in/STUDENT/ASSIGNMENT/NOTEBOOK.ipynb" in said[0]
    assert "so source is used" in said[1]
    assert (tmp_path / "marks.db").is_file()


def test_root_of_another_group_is_no_matter(tmp_path: Path):
    config = tmp_path / "nbgrader_config.py"
    config.write_text('c = get_config()\nc.Exchange.root = "/srv/exchange"\n')
    assert open_course(tmp_path).ignored == ()
    config.write_text('c = get_config()\nc.CourseDirectory.root = "/srv/course"\n')
    assert len(open_course(tmp_path).ignored) == 1


def test_configuration_that_is_no_python_is_named(tmp_path: Path):
    (tmp_path / "nbgrader_config.py").write_text("c = (")
    with pytest.raises(ValueError, match=r"nbgrader_config\.py: cannot be read"):
        open_course(tmp_path)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (
            cell("Say why.", "markdown", grade_id="essay", grade=True, points=4),
            "Markdown grade cell 'essay' is not marked",
        ),
        (
            cell("### BEGIN SOLUTION\nBecause.\n### END SOLUTION", "markdown"),
            "Solution region detected in a non-solution",
        ),
    ],
)
def test_generate_says_why_nbgrader_refuses(bad: dict, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    make_course(tmp_path, [*source_cells(), bad])
    assert main(["generate", "--course", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "nbgrader did not make the exercises: tiny: " in said
    assert why in said
    assert "File " not in said
    assert not (tmp_path / "release").exists()


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
