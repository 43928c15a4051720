"""The gradebook: the rows that nbgrader's API would write, in bulk, and nothing lost when it is locked or killed."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import warnings
import weakref
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import BaseCell, Comment, Grade, Gradebook, MissingEntry, SubmittedNotebook, TaskCell
from sqlalchemy import event, insert, text
from sqlalchemy.exc import SAWarning

from grading.course import Exercise, SourceCell
from grading.gradebook import Book, GradebookLocked
from grading.gradebook import tables as nbgrader_tables
from grading.gradebook.rows import GRADES
from grading.judge import without_run
from grading.verdict import ManualPart, TestVerdict, Verdict

ROOT = Path(__file__).resolve().parent.parent
Pair = tuple[str, Verdict]


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gradebook that nbgrader made. It starts `alembic` for that, by its bare name, which takes seconds."""
    database = tmp_path_factory.mktemp("empty") / "g.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}")
        Gradebook(f"sqlite:///{database}").close()
    return database


# Generated classes


def exercise(assignment: str, name: str, tests: int, seed: int = 0, manual: int = 0) -> Exercise:
    """An exercise of so many tests, an answer before every second one, and parts for a person."""
    rng = random.Random(seed)
    cells = [SourceCell("text", f"{name}-contract", "# Title", locked=True, code=False)]
    cells.append(SourceCell("setup", "cell-1", "import math"))
    for index in range(tests):
        if index % 2 == 0:
            cells.append(SourceCell("answer", f"answer-{index}", "raise NotImplementedError", solution="x = 1"))
        points = float(rng.choice([1, 2, 0.5]))
        cells.append(SourceCell("test", f"test-{index}", f"assert x == {index}", points, locked=True))
    for index in range(manual):
        cells.append(
            SourceCell("manual", f"essay-{index}", "YOUR ANSWER HERE", 3.0, code=bool(index % 2), solution="A text.")
        )
    return Exercise(assignment, name, name, tuple(cells), (), True, kernel={"name": "python3"})


def judged(exercise: Exercise, rng: random.Random) -> Verdict:
    """A verdict such as submissions get: some tests right, some wrong, some of the grader's fault or missing."""
    tests = []
    for cell in exercise.tests:
        if rng.random() < 0.05:
            continue
        status = rng.choice(["ok", "ok", "student_error", "timeout", "crash", "suspicious", "grader_error"])
        points = cell.points if status == "ok" else rng.choice([0.0, cell.points / 2])
        said = "" if status == "ok" else rng.choice(["wrong", "wrong: ½ of 'it'", "an error\nin two lines", ""])
        tests.append(TestVerdict(cell.id, points, cell.points, status, said))
    texts = ["", "YOUR ANSWER HERE", "An essay."]
    manual = tuple(ManualPart(cell.id, cell.points, rng.choice(texts)) for cell in exercise.manual)
    score = sum(test.points for test in tests)
    return Verdict(
        exercise.key, "ok", "", score, exercise.max_score, tuple(tests), (), (), manual, "all", str(rng.random())
    )


# What nbgrader's API writes: the slow way, kept here to compare with


def api_describe(book: Gradebook, exercise: Exercise) -> None:
    where = exercise.name, exercise.assignment
    book.update_or_create_assignment(exercise.assignment)
    notebook = book.update_or_create_notebook(*where, kernelspec=json.dumps(exercise.kernel))
    graded = {cell.id: cell for cell in exercise.cells if cell.kind in ("test", "manual")}
    answers = {c.id for c in exercise.cells if c.kind == "answer" or (c.kind == "manual" and c.solution)}
    sources = {cell.id for cell in exercise.cells}
    for kind, names in (("grade_cells", graded.keys()), ("solution_cells", answers), ("source_cells", sources)):
        for old in list(getattr(notebook, kind)):
            if old.name not in names:
                if isinstance(old, BaseCell):
                    book.db.query(Grade).filter(Grade.cell_id == old.id).delete()
                    book.db.query(Comment).filter(Comment.cell_id == old.id).delete()
                book.db.delete(old)
    book.db.commit()
    for name, cell in graded.items():
        kind = "code" if cell.code else "markdown"
        book.update_or_create_grade_cell(name, *where, max_score=cell.points, cell_type=kind)
    for name in answers:
        book.update_or_create_solution_cell(name, *where)
    for cell in exercise.cells:
        if not cell.id.startswith("cell-"):
            kind = "code" if cell.code else "markdown"
            book.update_or_create_source_cell(cell.id, *where, cell_type=kind, locked=cell.locked, source=cell.source)


def api_write(book: Gradebook, exercise: Exercise, student: str, verdict: Verdict, name: str = "") -> None:
    last, _, first = name.partition(", ")
    book.update_or_create_student(student, **({"last_name": last, "first_name": first} if name else {}))
    book.update_or_create_submission(exercise.assignment, student)
    try:
        notebook = book.find_submission_notebook(exercise.name, exercise.assignment, student)
    except MissingEntry:  # a notebook that came to the assignment later: nbgrader makes none, and fails
        notebook = SubmittedNotebook(
            notebook=book.find_notebook(exercise.name, exercise.assignment),
            assignment=book.find_submission(exercise.assignment, student),
        )
        book.db.add(notebook)
        book.db.commit()
    scores = {test.id: test for test in verdict.tests}
    parts = {part.id: part.answer for part in verdict.manual}
    grades = {grade.name: grade for grade in notebook.grades}
    for cell in exercise.cells:
        if cell.kind not in ("test", "manual"):
            continue
        grade = grades.get(cell.id)
        if grade is None:
            base = book.find_graded_cell(cell.id, exercise.name, exercise.assignment)
            grade = Grade(cell_id=base.id, notebook=notebook)
            book.db.add(grade)
        if cell.kind == "test":
            test = scores.get(cell.id)
            grade.auto_score = test.points if test else 0.0
            doubtful = test is not None and test.status in ("grader_error", "suspicious")
            grade.needs_manual_grade = grade.manual_score is not None or doubtful
        else:
            blank = parts.get(cell.id, "").strip() in ("", cell.source.strip())
            grade.auto_score = 0.0 if blank and cell.solution else None
            grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
    book.db.flush()
    there = {comment.cell_id for comment in notebook.comments}
    for cell in book.find_notebook(exercise.name, exercise.assignment).solution_cells:
        if cell.id not in there:  # an answer that came to the notebook later
            book.db.add(Comment(cell_id=cell.id, notebook=notebook))
    book.db.commit()
    said: dict[str, list[str]] = {}
    answer = exercise.answers[0].id if exercise.answers else ""
    for cell in exercise.cells:
        if cell.kind == "answer":
            answer = cell.id
        elif cell.kind == "test" and cell.id in scores and scores[cell.id].message:
            said.setdefault(answer, []).append(f"{cell.id}: {scores[cell.id].message}")
    for comment in notebook.comments:
        comment.auto_comment = "\n".join(said.get(comment.name, [])) or None
    book.db.commit()


class ByApi:
    """A gradebook written through nbgrader's API, with the same methods."""

    def __init__(self, database: Path, exercises: list[Exercise]) -> None:
        self.exercises = {one.key: one for one in exercises}
        self.book = Gradebook(f"sqlite:///{database}")
        self.book.db.execute(text("PRAGMA synchronous = OFF"))  # it commits hundreds of times
        for one in exercises:
            api_describe(self.book, one)

    def write_many(self, pairs: list[Pair], names: dict[str, str]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)
            submitted = self.book.db.query(SubmittedNotebook).all()
            before = {(one.student.id, one.assignment.name, one.name) for one in submitted}
            for student, verdict in pairs:
                api_write(self.book, self.exercises[verdict.exercise], student, verdict, names.get(student, ""))
            touched = {(student, self.exercises[verdict.exercise].assignment) for student, verdict in pairs}
            for student, assignment in sorted(touched):
                for one in self.exercises.values():
                    if one.assignment == assignment:
                        self.fill(one, student, (student, assignment, one.name) not in before)

    def fill(self, exercise: Exercise, student: str, new: bool) -> None:
        """A notebook that was not handed in with the others of its assignment: no test stays without a score."""
        tests = {cell.id for cell in exercise.tests}
        notebook = None
        with contextlib.suppress(MissingEntry):
            notebook = self.book.find_submission_notebook(exercise.name, exercise.assignment, student)
        if notebook is None or (new and not any(g.auto_score is not None for g in notebook.grades if g.name in tests)):
            verdict = without_run(exercise, "not_attempted", "This notebook was not handed in.")
            return api_write(self.book, exercise, student, verdict)
        if not self.complete(exercise, student):
            empty = without_run(exercise, "not_attempted", "")
            kept = {grade.name: (grade.auto_score, grade.needs_manual_grade) for grade in notebook.grades}
            comments = {comment.name: comment.auto_comment for comment in notebook.comments}
            api_write(self.book, exercise, student, empty)
            for grade in notebook.grades:
                if grade.name in kept and not (grade.name in tests and kept[grade.name][0] is None):
                    grade.auto_score, grade.needs_manual_grade = kept[grade.name]
            for comment in notebook.comments:
                comment.auto_comment = comments.get(comment.name)
            self.book.db.commit()
        return None

    def complete(self, exercise: Exercise, student: str) -> bool:
        notebook = self.book.find_submission_notebook(exercise.name, exercise.assignment, student)
        scores = {grade.name: grade.auto_score for grade in notebook.grades}
        graded = {cell.id for cell in (*exercise.tests, *exercise.manual)}
        said = {comment.name for comment in notebook.comments}
        answers = {cell.id for cell in (*exercise.answers, *exercise.manual)}
        return graded <= scores.keys() and answers <= said and None not in [scores[c.id] for c in exercise.tests]

    def remove_many(self, entries: list[tuple[str, str]]) -> None:
        for student, assignment in entries:
            if any(one.student_id == student for one in self.book.find_assignment(assignment).submissions):
                self.book.remove_submission(assignment, student)


# Every row of every table, with names in the place of ids


def dump(database: Path) -> dict[str, list[Any]]:
    """The rows of all tables; ids are what they stand for, timestamps are left out."""
    with closing(sqlite3.connect(database)) as db:
        db.row_factory = sqlite3.Row
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        raw = {name: [dict(row) for row in db.execute(f'SELECT * FROM "{name}"')] for name in names}
    known: dict[Any, Any] = {}
    for row in raw["assignment"]:
        known[row["id"]] = ("assignment", row["name"])
    for row in raw["notebook"]:
        known[row["id"]] = ("notebook", known[row["assignment_id"]], row["name"])
    for row in raw["base_cell"]:
        known[row["id"]] = ("cell", known[row["notebook_id"]], row["name"], row["type"])
    for row in raw["source_cell"]:
        known[row["id"]] = ("source", known[row["notebook_id"]], row["name"])
    for row in raw["submitted_assignment"]:
        known[row["id"]] = ("submission", known[row["assignment_id"]], row["student_id"])
    for row in raw["submitted_notebook"]:
        known[row["id"]] = ("submitted", known[row["assignment_id"]], known[row["notebook_id"]])
    for table in ("grade", "comment"):
        for row in raw[table]:
            known[row["id"]] = (table, known[row["notebook_id"]], known[row["cell_id"]])
    found = {}
    for name, rows in raw.items():
        kept = [{k: known.get(v, v) for k, v in row.items() if k not in ("timestamp", "extension")} for row in rows]
        found[name] = sorted((sorted(row.items(), key=str) for row in kept), key=str)
        assert all(row.get(k) in known for row in rows for k in row if k.endswith("_id") and k not in FREE), name
    return found


FREE = ("student_id", "course_id", "lms_user_id")  # columns that look like a key of ours and are none


def schema(database: Path) -> set[str]:
    with closing(sqlite3.connect(database)) as db:
        return {str(row[0]) for row in db.execute("SELECT sql FROM sqlite_master")}


def by_hand(database: Path, rng: random.Random) -> None:
    """What a person does in formgrader: marks, extra credit, a comment, a penalty; the same in both gradebooks."""
    chosen = rng.random()
    with Gradebook(f"sqlite:///{database}") as book:
        grades = book.db.query(Grade).all()
        for grade in sorted(grades, key=lambda grade: (grade.student.id, grade.notebook.name, grade.name)):
            word = random.Random(f"{chosen} {grade.student.id} {grade.notebook.name} {grade.name}")
            if word.random() < 0.15:
                grade.manual_score = word.choice([0.0, 1.0, 2.5])
                grade.needs_manual_grade = False
            if word.random() < 0.1:
                grade.extra_credit = word.choice([0.5, 1.0])
        for comment in book.db.query(Comment).all():
            word = random.Random(f"{chosen} {comment.student.id} {comment.notebook.name} {comment.name}")
            if word.random() < 0.15:
                comment.manual_comment = "Well done."
        book.db.commit()


@pytest.mark.parametrize("seed", range(4))
def test_every_row_is_the_one_that_nbgraders_api_writes(seed: int, tmp_path: Path, empty: Path):
    """A class over three runs: work handed in again, tests added, removed and worth more, a notebook that joins an
    assignment, parts graded by a person, entries withdrawn."""
    rng = random.Random(seed)
    ours, theirs = tmp_path / "ours.db", tmp_path / "theirs.db"
    shutil.copy(empty, theirs)
    students = [f"student {index}" for index in range(rng.randint(1, 2))] + ["zoë, o'hara", "=1+1"]
    names = {student: rng.choice(["", "Lee, Ann", "Only"]) for student in students}
    for round_ in range(3):
        exercises = [
            exercise("ps1", "ps1", rng.randint(1, 5), rng.randint(0, 9), manual=rng.randint(0, 2)),
            exercise("ps2", "one", rng.randint(1, 4), rng.randint(0, 9)),
            exercise("ps2", "two", rng.randint(1, 4), rng.randint(0, 9), manual=1),
        ]
        if round_ > 0:
            exercises.append(exercise("ps2", "three", 2, round_))
        pairs = [(who, judged(one, rng)) for who in students for one in exercises if rng.random() < 0.7]
        rng.shuffle(pairs)
        gone = [(rng.choice(students), rng.choice(["ps1", "ps2"])) for _ in range(2)]
        with Book(ours, exercises, chunk=rng.choice([1, 3, 1_000])) as book:
            assert book.write_many(iter(pairs), names) == len(pairs)
            book.remove_many(gone)
            entries, marks = book.entries(), book.marks()
        api = ByApi(theirs, exercises)
        api.write_many(pairs, names)
        api.remove_many(gone)
        expected = {
            (row["student"], one.key): row["score"]
            for one in exercises
            for row in api.book.notebook_submission_dicts(one.name, one.assignment)
        }
        assert marks == pytest.approx(expected)
        assert entries == {
            (one.student_id, name) for name in ("ps1", "ps2") for one in api.book.find_assignment(name).submissions
        }
        api.book.close()
        assert dump(ours) == dump(theirs)
        hand = rng.randint(0, 999)
        by_hand(ours, random.Random(hand))
        by_hand(theirs, random.Random(hand))
    assert schema(ours) == schema(theirs)
    assert len(dump(ours)["grade"]) > 10


# Semantics, one by one

TINY = exercise("tiny", "tiny", 3)
SECOND = exercise("tiny", "second", 2, manual=1)


def full(one: Exercise, points: float | None = None) -> Verdict:
    tests = tuple(
        TestVerdict(cell.id, cell.points if points is None else points, cell.points, "ok", "") for cell in one.tests
    )
    return Verdict(one.key, "ok", "", 0.0, one.max_score, tests, (), (), (), "all", "")


def scores(database: Path, student: str, name: str = "tiny") -> dict[str, float | None]:
    with Gradebook(f"sqlite:///{database}") as book:
        return {grade.name: grade.auto_score for grade in book.find_submission_notebook(name, "tiny", student).grades}


def test_stale_score_does_not_survive_and_a_lost_test_is_zero(tmp_path: Path):
    database = tmp_path / "g.db"
    with Book(database, [TINY]) as book:
        book.write("ann", full(TINY))
        worse = full(TINY, 0.0)
        book.write("ann", dataclasses.replace(worse, tests=worse.tests[:1]))
        assert book.marks() == {("ann", "tiny"): 0.0}
    assert scores(database, "ann") == {"test-0": 0.0, "test-1": 0.0, "test-2": 0.0}


def test_notebook_not_handed_in_is_explicit_zeros_until_it_comes(tmp_path: Path):
    database = tmp_path / "g.db"
    with Book(database, [TINY, SECOND], chunk=1) as book:
        book.write("ann", full(TINY))
        assert scores(database, "ann", "second") == {"test-0": 0.0, "test-1": 0.0, "essay-0": 0.0}
        book.write_many([("ann", full(SECOND)), ("bob", full(SECOND)), ("bob", full(TINY))])
        most = {TINY.key: TINY.max_score, SECOND.key: SECOND.max_score}
        assert book.marks() == {(who, key): most[key] for who in ("ann", "bob") for key in most}
        book.write("ann", full(TINY, 0.0))
        assert book.marks()["ann", SECOND.key] == SECOND.max_score  # what was judged before stays
    with Gradebook(f"sqlite:///{database}") as api:
        assert not api.find_submission("tiny", "ann").notebooks[0].flagged


def test_later_of_two_verdicts_counts(tmp_path: Path):
    with Book(tmp_path / "g.db", [TINY]) as book:
        book.write_many([("ann", full(TINY)), ("ann", full(TINY, 0.0))])
        assert book.marks() == {("ann", "tiny"): 0.0}


@pytest.mark.parametrize("status", ["suspicious", "grader_error"])
def test_what_the_machine_is_unsure_of_waits_for_a_person(status: Any, tmp_path: Path):
    database = tmp_path / "g.db"
    with Book(database, [TINY]) as book:
        book.write("ann", without_run(TINY, status, "Somebody should look."))
    with Gradebook(f"sqlite:///{database}") as api:
        assert api.find_submission("tiny", "ann").needs_manual_grade
        assert api.find_submission("tiny", "ann").score == 0


def test_task_that_nbgrader_has_entered_is_not_entered_twice(tmp_path: Path):
    database = tmp_path / "g.db"
    with Book(database, [TINY, SECOND]):
        pass
    with Gradebook(f"sqlite:///{database}") as api:  # as `nbgrader generate_assignment` enters a task
        for cell in [cell for cell in api.find_notebook("second", "tiny")._base_cells if cell.name == "essay-0"]:
            api.db.delete(cell)
        api.db.commit()
        api.add_task_cell("essay-0", "second", "tiny", max_score=1, cell_type="markdown")
    essay = dataclasses.replace(full(SECOND), manual=(ManualPart("essay-0", 3.0, "An essay."),))
    with Book(database, [TINY, SECOND]) as book:
        book.write("ann", essay)
    with Gradebook(f"sqlite:///{database}") as api:
        assert api.find_notebook("second", "tiny").max_score == SECOND.max_score + 3
        grade = api.find_grade("essay-0", "second", "tiny", "ann")
        assert (grade.auto_score, grade.needs_manual_grade) == (None, True)
        assert isinstance(grade.cell, TaskCell)
        grade.manual_score = 2
        api.db.commit()
    with Book(database, [TINY, SECOND]) as book:
        assert book.marks()["ann", SECOND.key] == SECOND.max_score + 2
        full_marks = {row["exercise"]: row["max_score"] for row in book.rows()}
        assert full_marks == {SECOND.key: SECOND.max_score + 3, TINY.key: TINY.max_score}


@pytest.mark.parametrize("text", ["a\ud800b", "a\0b", "'; DROP TABLE grade; --", "x" * 100_000, "=1+1\t"])
def test_text_of_a_student_is_only_text(text: str, tmp_path: Path):
    worse = full(TINY, 0.0)
    tests = tuple(dataclasses.replace(test, status="student_error", message=text) for test in worse.tests)
    with Book(tmp_path / "g.db", [TINY]) as book:
        book.write_many([(text, dataclasses.replace(worse, tests=tests)), ("ann", full(TINY))], {text: text})
        assert book.marks()["ann", "tiny"] == TINY.max_score
        assert len(book.marks()) == 2
        book.remove_many([(text, "tiny")])
        assert book.entries() == {("ann", "tiny")}


def test_students_without_work_are_entered_and_keep_their_names(tmp_path: Path):
    database = tmp_path / "g.db"
    with Book(database, [TINY], chunk=2) as book:
        book.add_students([(f"s{index}", "Lee, Ann" if index else "") for index in range(5)])
        book.add_student("s1")
        book.add_student("s2", "Other")
        book.write_many([("s3", full(TINY))], {"s3": "New, Name"})
    with Gradebook(f"sqlite:///{database}") as api:
        known = {one.id: (one.last_name, one.first_name) for one in api.students}
    lee = ("Lee", "Ann")
    assert known == {"s0": (None, None), "s1": lee, "s2": ("Other", ""), "s3": ("New", "Name"), "s4": lee}


def test_removing_leaves_nothing_of_an_entry_and_all_of_the_others(tmp_path: Path):
    database = tmp_path / "g.db"
    with Book(database, [TINY, SECOND], chunk=3) as book:
        book.write_many([(f"s{index}", full(TINY)) for index in range(10)])
        before = dump(database)
        book.write_many([("more", full(TINY)), ("again", full(SECOND))])
        book.remove_many([("more", "tiny"), ("nobody", "tiny"), ("again", "tiny"), ("s1", "no such assignment")])
        book.remove("more", TINY)
    after = dump(database)
    assert {name: rows for name, rows in after.items() if name != "student"} == {
        name: rows for name, rows in before.items() if name != "student"
    }


def test_unchanged_verdicts_change_nothing_in_the_file(tmp_path: Path):
    database = tmp_path / "g.db"
    rng = random.Random(1)
    pairs = [(f"s{index}", judged(one, rng)) for index in range(20) for one in (TINY, SECOND)]
    with Book(database, [TINY, SECOND]) as book:
        book.write_many(pairs)
    before = database.read_bytes()
    with Book(database, [TINY, SECOND]) as book:
        book.write_many(pairs)
    assert database.read_bytes() == before


def test_verdict_on_another_courses_exercise_is_a_value_error(tmp_path: Path):
    with Book(tmp_path / "g.db", [TINY]) as book:
        with pytest.raises(ValueError, match="exercise: 'tiny/second'"):
            book.write("ann", full(SECOND))
        assert book.marks() == {}
    with pytest.raises(ValueError, match="chunk"):
        Book(tmp_path / "g.db", [TINY], chunk=0)


# In bulk


def test_statements_do_not_grow_with_the_class(tmp_path: Path):
    def statements(count: int, name: str) -> int:
        seen = []
        with Book(tmp_path / name, [TINY, SECOND]) as book:
            event.listen(book.engine, "before_cursor_execute", lambda *call: seen.append(call[2]))
            book.write_many([(f"s{index}", full(TINY)) for index in range(count)])
            assert len(book.marks()) == 2 * count
        return len(seen)

    assert statements(200, "b.db") == statements(10, "a.db") < 40


def test_searches_go_through_indexes(tmp_path: Path):
    """No table that grows with the class is read as a whole for a chunk."""
    asked: list[tuple[str, Any]] = []
    with Book(tmp_path / "g.db", [TINY, SECOND]) as book:
        book.write_many([(f"s{index}", full(TINY)) for index in range(10)])
        event.listen(book.engine, "before_cursor_execute", lambda *call: asked.append((call[2], call[3])))
        book.write_many([("s1", full(TINY, 0.0)), ("s2", full(SECOND, 0.0))])
    plans = []
    with closing(sqlite3.connect(tmp_path / "g.db")) as db:
        for statement, values in asked:
            if statement.startswith(("SELECT", "UPDATE")):
                values = values[0] if isinstance(values, list) else values
                plans += [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
    assert any("SEARCH grade" in plan for plan in plans)
    for table in ("student", "submitted_assignment", "submitted_notebook", "grade", "comment"):
        assert not [plan for plan in plans if plan.split()[:2] == ["SCAN", table]]


def test_verdicts_are_taken_as_they_come_and_not_kept(tmp_path: Path):
    alive: list[weakref.ref[Verdict]] = []
    most = 0

    def stream() -> Iterator[Pair]:
        nonlocal most
        for index in range(300):
            verdict = full(TINY)
            alive.append(weakref.ref(verdict))
            if index % 50 == 0:
                gc.collect()
                most = max(most, sum(one() is not None for one in alive))
            yield f"s{index}", verdict
            del verdict

    with Book(tmp_path / "g.db", [TINY], chunk=10) as book:
        assert book.write_many(stream()) == 300
    assert most <= 3


# Locked, killed, foreign


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_locked_gradebook_is_one_sentence_that_names_the_file(lock: str, tmp_path: Path):
    database = tmp_path / "g.db"
    with Book(database, [TINY]) as book:
        book.write("ann", full(TINY))
    before = dump(database)
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute(lock)
        with pytest.raises(
            GradebookLocked, match=r"^gradebook: .*g\.db is in use by another program .*again is quick$"
        ):
            Book(database, [TINY], wait=0.05)
        other.execute("ROLLBACK")
        with Book(database, [TINY], wait=0.05) as book:
            other.execute(lock)
            with pytest.raises(GradebookLocked, match=r"g\.db"):
                book.write("ann", full(TINY, 0.0))
            with pytest.raises(GradebookLocked, match=r"g\.db"):
                book.remove("ann", TINY)
            with pytest.raises(GradebookLocked, match=r"g\.db"):
                book.add_student("bob")
            if lock == "BEGIN EXCLUSIVE":
                for read in (book.marks, book.entries):
                    with pytest.raises(GradebookLocked, match=r"g\.db"):
                        read()
            other.execute("ROLLBACK")
            assert dump(database) == before
            book.write("ann", full(TINY, 0.0))  # the same book goes on
            assert book.marks() == {("ann", "tiny"): 0.0}


def test_reader_at_the_moment_of_writing_is_waited_for_and_nothing_is_half_written(tmp_path: Path):
    """Somebody who reads keeps SQLite from writing at the very end of a transaction."""
    database = tmp_path / "g.db"
    with Book(database, [TINY], wait=0.05) as book, closing(sqlite3.connect(database, isolation_level=None)) as other:
        book.write("ann", full(TINY))
        before = dump(database)
        other.execute("BEGIN")
        other.execute("SELECT * FROM grade").fetchone()
        with pytest.raises(GradebookLocked, match=r"g\.db"):
            book.write("bob", full(TINY))
        other.execute("ROLLBACK")
        assert dump(database) == before
        book.write("bob", full(TINY))
        assert book.marks().keys() == {("ann", "tiny"), ("bob", "tiny")}


def test_lock_in_the_middle_keeps_whole_chunks_and_the_next_run_completes(tmp_path: Path):
    database = tmp_path / "g.db"
    pairs = [(f"s{index:02}", full(TINY)) for index in range(25)]
    other = sqlite3.connect(database, isolation_level=None)

    def stream() -> Iterator[Pair]:
        for index, pair in enumerate(pairs):
            if index == 15:
                other.execute("BEGIN IMMEDIATE")
            yield pair

    with Book(database, [TINY], wait=0.05, chunk=10) as book:
        with pytest.raises(GradebookLocked):
            book.write_many(stream())
        assert len(book.marks()) == 10
    other.execute("ROLLBACK")
    other.close()
    with Book(database, [TINY], chunk=10) as book:
        book.write_many(pairs)
        assert book.marks() == {(student, "tiny"): TINY.max_score for student, _ in pairs}


KILLED = """
import os, signal, sys
from pathlib import Path
from sqlalchemy import event
from grading.gradebook import Book, book as module
from tests.test_grading_gradebook import TINY, SECOND, full

def die(*call):
    global left
    left -= call[2].lstrip().startswith(sys.argv[3])
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

left = int(sys.argv[2])
connect = module.connect

def watched(*arguments):
    engine = connect(*arguments)
    event.listen(engine, "after_cursor_execute", die)
    return engine

module.connect = watched
with Book(Path(sys.argv[1]), [TINY, SECOND], chunk=10) as book:
    book.write_many((f"s{index:02}", full(TINY)) for index in range(25))
"""


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("CREATE TABLE", 3),
        ("INSERT INTO alembic_version", 0),
        ("INSERT INTO grade ", 0),
        ("INSERT INTO grade ", 3),
        ("INSERT INTO comment", 4),
        ("INSERT INTO submitted_assignment", 2),
    ],
)
def test_killed_while_writing_leaves_whole_chunks_and_the_next_run_completes(statement: str, left: int, tmp_path: Path):
    database = tmp_path / "g.db"
    command = [sys.executable, "-c", KILLED, str(database), str(left), statement]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with closing(sqlite3.connect(database)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        there = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
        if "submitted_assignment" in there:
            (submissions,) = db.execute("SELECT count(*) FROM submitted_assignment").fetchone()
            (grades,) = db.execute("SELECT count(*) FROM grade").fetchone()
            assert submissions in (0, 10, 20)
            assert grades == submissions * 6
        else:
            assert there == set()
    pairs = [(f"s{index:02}", full(TINY)) for index in range(25)]
    for path in (database, tmp_path / "fresh.db"):
        with Book(path, [TINY, SECOND], chunk=10) as book:
            book.write_many(pairs)
    assert dump(database) == dump(tmp_path / "fresh.db")
    assert {path.name for path in tmp_path.iterdir()} == {"g.db", "fresh.db"}


@pytest.mark.parametrize("content", [b"no database" * 100, b"SQLite format 3\0" + b"\xff" * 4_000])
def test_file_that_is_no_database_is_named_and_untouched(content: bytes, tmp_path: Path):
    database = tmp_path / "g.db"
    database.write_bytes(content)
    with pytest.raises(ValueError, match=r"^gradebook: .*g\.db cannot be written") as told:
        Book(database, [TINY])
    assert not isinstance(told.value, GradebookLocked)
    assert database.read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["g.db"]


def test_folder_in_the_place_of_the_file_is_named(tmp_path: Path):
    (tmp_path / "g.db").mkdir()
    with pytest.raises(ValueError, match=r"^gradebook: .*g\.db cannot be written"):
        Book(tmp_path / "g.db", [TINY])


def test_database_of_another_program_is_refused_and_untouched(tmp_path: Path):
    database = tmp_path / "g.db"
    with closing(sqlite3.connect(database)) as db:
        db.execute("CREATE TABLE grade (mark REAL)")
        db.commit()
    before = database.read_bytes()
    with pytest.raises(ValueError, match=r"g\.db is a database of another program"):
        Book(database, [TINY])
    assert database.read_bytes() == before


@pytest.mark.parametrize(
    "change", ["UPDATE alembic_version SET version_num = 'b6d005d67074'", "DROP TABLE alembic_version"]
)
def test_gradebook_of_another_nbgrader_is_refused_and_untouched(change: str, tmp_path: Path):
    database = tmp_path / "g.db"
    with Book(database, [TINY]) as book:
        book.write("ann", full(TINY))
    with closing(sqlite3.connect(database)) as db:
        db.execute(change)
        db.commit()
    before = database.read_bytes()
    with pytest.raises(ValueError, match=r"g\.db was made by another version of nbgrader .*nbgrader db upgrade"):
        Book(database, [TINY])
    assert database.read_bytes() == before


def test_empty_file_becomes_a_gradebook_that_nbgrader_opens(tmp_path: Path):
    database = tmp_path / "odd ?&#% name" / "g.db"
    database.parent.mkdir()
    database.touch()
    with Book(database, [TINY]) as book:
        book.write("ann", full(TINY))
    assert [path.name for path in database.parent.iterdir()] == ["g.db"]
    assert dump(database)["course"] == [[("id", "default_course")]]


def test_tables_come_without_the_grammar_and_leave_no_trace():
    script = textwrap.dedent(
        """
        import sys
        import grading.gradebook
        assert "rfc3987_syntax.syntax_helpers" not in sys.modules
        assert "rfc3987_syntax" not in sys.modules
        """
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
    assert nbgrader_tables.Grade is Grade
    assert insert(GRADES).table is Grade.__table__


def test_nbgrader_and_nbformat_can_be_imported_whole_afterwards():
    code = """
import sys
import grading.gradebook
assert not {"nbgrader", "nbformat", "nbgrader.server_extensions"} & sys.modules.keys()
import nbformat, nbgrader
import nbgrader.apps
from nbgrader import api, utils
from nbgrader.api import Gradebook
assert Gradebook is api.Gradebook and api.Grade is grading.gradebook.tables.Grade
assert nbformat.reads(nbformat.writes(nbformat.v4.new_notebook()), 4).nbformat == 4
assert nbgrader.__version__ and utils.get_username
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
