"""From a folder to cells of plain Python: which file is meant, how it is opened and read, whose answer is whose, and
what a notebook's cell may hold besides Python."""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grading.course import Course, Exercise
from grading.handins import hand_ins
from grading.magics import plain
from grading.submission import Pick, StudentCell, Submission, files_of, pick, pick_all, read, rebuild
from grading.submission.matching import match_answers
from grading.submission.naming import COPY, OTHER, SAME_LETTERS, best_named, likeness_of_name
from grading.submission.opening import MAX_BYTES
from grading.syntax import parse, plain_python
from tests.grading_tiny import BOX_ONLY, RIGHT, cell, grade_cells, make_course, notebook, solved, write_notebook

TOTAL_ONLY, BOX = RIGHT.split("\n\n")
WORK = json.dumps(notebook(solved())).encode()


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    return make_course(tmp_path_factory.mktemp("course")).exercise("tiny")


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return make_course(tmp_path / "course")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tiny").mkdir()
    return tmp_path / "tiny"


def fill(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def picked(folder: Path, exercise: Exercise, files: dict[str, bytes]) -> tuple[str, str]:
    """The file that is picked, as a path in the folder, and its notes as one text."""
    fill(folder, files)
    found = pick(folder, exercise)
    return ("" if found.path is None else found.path.relative_to(folder).as_posix()), "\n".join(found.notes)


# Which file is meant


@pytest.mark.parametrize(
    "name",
    [
        "Tiny.ipynb",
        "TINY.IPYNB",
        "ｔｉｎｙ.ipynb",
        "tiny (1).ipynb",
        "tiny(12).ipynb",
        "tiny-Copy1.ipynb",
        "tiny - Copy.ipynb",
        "Copy of tiny.ipynb",
        "tiny_final.ipynb",
        "tiny-final-2.ipynb",
        "leeann_4711_tiny.ipynb",
        "tiny.ipynb.txt",
        "tiny.json",
        "tiny/tiny.ipynb",
        "a folder/tiny (2).ipynb",
        "homework.ipynb",
        "tiny2.ipynb",
        "Tiny.py",
        "tiny (1).py",
    ],
)
def test_file_under_another_name_is_taken_with_a_note(name: str, folder: Path, exercise: Exercise):
    work = RIGHT.encode() if name.endswith(".py") else WORK
    assert picked(folder, exercise, {name: work}) == (name, f"“{name}” was taken for tiny.ipynb.")
    assert rebuild(exercise, read(folder / name)).cells


@pytest.mark.parametrize("name", ["tiny.ipynb", "tiny.py"])
def test_exact_name_needs_no_note(name: str, folder: Path, exercise: Exercise):
    assert picked(folder, exercise, {name: WORK, "scratch.ipynb": WORK, "data.csv": b"1"}) == (name, "")


def test_exact_name_counts_beside_copies_and_says_so(folder: Path, exercise: Exercise):
    name, notes = picked(folder, exercise, {"tiny.ipynb": b"{}", "tiny (1).ipynb": WORK, "tiny.py": b"x = 1"})
    assert name == "tiny.ipynb"
    assert "“tiny (1).ipynb”, “tiny.py” in the same folder counted for nothing" in notes


def test_accents_may_be_written_either_way(folder: Path, tmp_path: Path):
    write_notebook(tmp_path / "c" / "source" / "übung" / "übung.ipynb", notebook(solved()))
    exercise = make_course(tmp_path / "c").exercise("übung")
    assert picked(folder, exercise, {"u\u0308bung.ipynb": WORK})[0] == "u\u0308bung.ipynb"


@pytest.mark.parametrize(
    "name",
    [".tiny.ipynb", ".ipynb_checkpoints/tiny-checkpoint.ipynb", "__MACOSX/tiny.ipynb", "a/b/tiny.ipynb", "tiny.csv"],
)
def test_what_is_never_taken(name: str, folder: Path, exercise: Exercise):
    assert picked(folder, exercise, {name: WORK}) == ("", "")


@pytest.mark.parametrize("name", ["test_tiny.py", "tiny_utils.py", "tiny-data.json", "helper.py"])
def test_helper_is_not_taken_for_the_work(name: str, folder: Path, exercise: Exercise):
    assert picked(folder, exercise, {name: b"x = 1", "work.ipynb": WORK})[0] == "work.ipynb"
    (folder / "work.ipynb").unlink()
    assert picked(folder, exercise, {})[0] == ""


def test_python_file_of_any_name_is_taken_for_what_it_defines(folder: Path, exercise: Exercise):
    files = {"helper.py": b"x = 1", "answers.py": RIGHT.encode()}
    assert picked(folder, exercise, files)[0] == "answers.py"


def test_of_several_copies_the_one_with_most_in_it_counts(folder: Path, exercise: Exercise):
    empty = json.dumps(notebook(solved({}))).encode()
    name, notes = picked(folder, exercise, {"tiny (1).ipynb": WORK, "tiny (2).ipynb": empty})
    assert name == "tiny (1).ipynb"
    assert "“tiny (2).ipynb”" in notes
    assert picked(folder, exercise, {"tiny (2).ipynb": WORK, "tiny (10).ipynb": WORK})[0] == "tiny (10).ipynb"


def test_of_several_notebooks_the_one_that_fits_counts(folder: Path, exercise: Exercise):
    other = json.dumps(notebook([cell("y = 1"), cell("def mean(): pass")])).encode()
    stripped = json.dumps(notebook([{**c, "metadata": {}} for c in solved()])).encode()
    assert picked(folder, exercise, {"a.ipynb": other, "b.ipynb": stripped, "c.ipynb": b"no JSON"})[0] == "b.ipynb"


def test_where_nothing_fits_it_says_so(folder: Path, exercise: Exercise):
    name, notes = picked(folder, exercise, {"a.ipynb": b"{}", "b.ipynb": b""})
    assert (name, notes) == ("", "None of the 2 notebooks in the folder looks like tiny.ipynb.")


def test_folder_of_the_exact_name_gives_way_to_what_is_in_it(folder: Path, exercise: Exercise):
    assert picked(folder, exercise, {"tiny.ipynb/tiny.ipynb": WORK})[0] == "tiny.ipynb/tiny.ipynb"
    (folder / "tiny.ipynb" / "tiny.ipynb").unlink()
    assert picked(folder, exercise, {})[0] == "tiny.ipynb"
    assert "a folder" in read(folder / "tiny.ipynb").problem


def test_file_goes_to_one_of_several_exercises(tmp_path: Path, folder: Path):
    boxes = [c for c in solved() if c["metadata"].get("nbgrader", {}).get("grade_id") in ("Box", "test-box")]
    totals = [c for c in solved() if c not in boxes]
    course = make_course(tmp_path / "c")
    for name, cells in (("tiny", totals), ("tiny-box", boxes), ("third", [])):
        write_notebook(tmp_path / "c" / "source" / "tiny" / f"{name}.ipynb", notebook(cells))
    exercises = [course.exercise("tiny", name) for name in ("tiny", "tiny-box", "third")]
    written = [json.dumps(notebook(cells)).encode() for cells in (totals, boxes)]
    fill(folder, {"tiny-box (1).ipynb": written[1], "homework.ipynb": written[0]})
    picks = pick_all(folder, exercises)
    assert [one.path and one.path.name for one in picks] == ["homework.ipynb", "tiny-box (1).ipynb", None]
    (folder / "tiny-box (1).ipynb").rename(folder / "untitled.ipynb")
    picks = pick_all(folder, exercises)
    assert [one.path and one.path.name for one in picks] == ["homework.ipynb", "untitled.ipynb", None]
    assert pick(folder, exercises[1], [exercises[0], exercises[2]]) == picks[1]
    (folder / "homework.ipynb").unlink()
    assert [one.path and one.path.name for one in pick_all(folder, exercises)] == [None, "untitled.ipynb", None]


def test_names_of_exercises_do_not_swallow_each_other():
    assert likeness_of_name("problem10.ipynb", "problem1") == OTHER
    assert likeness_of_name("Problem1.ipynb", "problem1") == SAME_LETTERS
    assert best_named("sets-two (1).ipynb", ["sets", "sets-two"]) == (COPY, 1)


def test_very_many_entries_are_not_all_looked_at(folder: Path, exercise: Exercise):
    fill(folder, {f"note {number}.txt": b"" for number in range(600)})
    name, notes = picked(folder, exercise, {"tiny.ipynb": WORK})
    assert name == "tiny.ipynb"
    assert "very many files" in notes


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=30), st.text(min_size=1, max_size=10))
@example("(" * 40 + ".ipynb", "(")
def test_no_name_troubles_the_picker(file: str, name: str):
    assert likeness_of_name(file, name) in (SAME_LETTERS, COPY, OTHER)
    best_named(file + ".ipynb", [name, "other"])


def test_note_about_a_strange_name_is_one_line(folder: Path, exercise: Exercise):
    strange = os.fsdecode(b"a\n\x1b[31m\xff \xe2\x80\xae" + b"n" * 120 + b".ipynb")
    fill(folder, {strange: WORK})
    (note,) = pick(folder, exercise).notes
    assert note.isprintable()
    assert len(note) < 140
    note.encode()


# How it is opened


def no_links(path: Path) -> Submission:
    """Read with the folder of all submissions as root: tmp/submitted/student/assignment/file."""
    return read(path, root=path.parents[2])


def test_no_step_below_the_root_may_be_a_link(tmp_path: Path):
    home = tmp_path / "submitted"
    fill(home, {"ann/tiny/tiny.ipynb": WORK, "bob/x": b"", "eve/tiny/x": b""})
    assert no_links(home / "ann" / "tiny" / "tiny.ipynb").cells
    (home / "bob" / "tiny").symlink_to(home / "ann" / "tiny")
    (home / "cyd").symlink_to(home / "ann")
    (home / "eve" / "tiny" / "tiny.ipynb").symlink_to(home / "ann" / "tiny" / "tiny.ipynb")
    (home / "fay").write_text("a file")
    said = {name: no_links(home / name / "tiny" / "tiny.ipynb").problem for name in ("bob", "cyd", "eve", "fay", "gus")}
    assert said == {
        "bob": "“tiny” is a symbolic link where a folder should be.",
        "cyd": "“cyd” is a symbolic link where a folder should be.",
        "eve": "The file is a symbolic link; hand in the notebook itself.",
        "fay": "“fay” is a file where a folder should be.",
        "gus": "There is no file here.",
    }
    assert read(home / "bob" / "tiny" / "tiny.ipynb").cells  # without a root the folder is the reader's own affair
    assert "outside" in read(home / "ann" / ".." / "ann" / "x", root=home / "ann").problem


def test_what_is_no_regular_file_is_named_and_never_opened(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
    (tmp_path / "folder").mkdir()
    said = {name: read(tmp_path / name).problem for name in ("pipe", "socket", "folder")}
    assert said["pipe"].startswith("The file is a named pipe")
    assert said["socket"].startswith("The file is a socket")
    assert said["folder"].startswith("The file is a folder")
    assert read(Path("/dev/zero")).problem.startswith("The file is a device")
    assert read(tmp_path / "zero\0byte").problem
    assert read(tmp_path / ("n" * 300)).problem


def test_file_is_read_once_and_its_hash_is_of_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fill(tmp_path, {"tiny.ipynb": WORK})
    opened: list[object] = []
    opening = os.open
    monkeypatch.setattr(os, "open", lambda path, *rest, **more: opened.append(path) or opening(path, *rest, **more))
    found = read(tmp_path / "tiny.ipynb")
    assert opened.count("tiny.ipynb") == 1
    assert found.sha256 == hashlib.sha256(WORK).hexdigest()
    fill(tmp_path, {"bad.ipynb": b"{"})
    assert read(tmp_path / "bad.ipynb").sha256 == hashlib.sha256(b"{").hexdigest()


def test_large_file_is_refused(tmp_path: Path):
    fill(tmp_path, {"tiny.ipynb": WORK + b" " * MAX_BYTES})
    assert "larger than 20 MB" in read(tmp_path / "tiny.ipynb").problem


# Whether it is the instructor's own


def test_second_name_of_a_source_file_is_set_aside(course: Course, tmp_path: Path):
    own = tmp_path / "tiny.ipynb"
    os.link(course.source / "tiny" / "tiny.ipynb", own)
    found = read(own, instructors=files_of(course.source))
    assert "set aside for a person" in found.suspicion
    assert (found.cells, found.problem) == ((), "")
    fill(tmp_path, {"other.ipynb": WORK})
    assert not read(tmp_path / "other.ipynb", instructors=files_of(course.source)).suspicion


def test_hidden_part_of_a_test_in_a_cell_is_set_aside(course: Course, tmp_path: Path):
    exercise = course.exercise("tiny")
    whole = read(course.source / "tiny" / "tiny.ipynb", exercise)
    assert "set aside for a person" in whole.suspicion
    assert not any(word in whole.suspicion for word in ("secret_numbers", "7349", "cheat", "copied"))
    hidden = exercise.cells[4].source.split("\n")[2:5]
    spaced = cell("# " + "\n\n    ".join(hidden).replace(" ", "   "), "markdown")
    assert read(write_notebook(tmp_path / "a.ipynb", notebook([*solved(), spaced])), exercise).suspicion
    one_line = cell(hidden[1])
    assert not read(write_notebook(tmp_path / "b.ipynb", notebook([*solved(), one_line])), exercise).suspicion
    assert not read(write_notebook(tmp_path / "c.ipynb", notebook(solved())), exercise).suspicion


def test_short_or_published_hidden_part_is_no_sign(tmp_path: Path):
    cells = solved()
    long_line = "assert total([1, 2, 3, 4, 5, 6, 7, 8]) == 36, 'all of them count'"
    cells[3]["source"] = f"{long_line}\n### BEGIN HIDDEN TESTS\nassert total([]) == 0\n### END HIDDEN TESTS"
    cells[4]["source"] = f"assert total\n### BEGIN HIDDEN TESTS\n{long_line}\n### END HIDDEN TESTS"
    exercise = make_course(tmp_path, cells).exercise("tiny")
    assert not read(tmp_path / "source" / "tiny" / "tiny.ipynb", exercise).suspicion


# How it is read


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_other_encodings_are_read_with_a_note(codec: str, tmp_path: Path, exercise: Exercise):
    text = json.dumps(notebook([*solved(), cell("# é 中 😀")]), ensure_ascii=False)
    for end in (b"", b"\0" * 512, b"\0" * 511):
        fill(tmp_path, {"tiny.ipynb": text.encode(codec) + end})
        found = read(tmp_path / "tiny.ipynb")
        assert found.cells[-1].source == "# é 中 😀"
        assert len(found.notes) == (2 if end else 1)
        assert set(found.notes) <= set(rebuild(exercise, found).notes)


def test_zero_bytes_at_the_end_are_left_out_with_a_note(tmp_path: Path):
    fill(tmp_path, {"tiny.ipynb": WORK + b"\n" + b"\0" * 512, "empty.ipynb": b"\0" * 512})
    found = read(tmp_path / "tiny.ipynb")
    assert found.cells
    assert "Zero bytes" in found.notes[0]
    assert read(tmp_path / "empty.ipynb").problem == "The file holds nothing but zero bytes."


def test_nbformat_3_is_read_with_a_note(tmp_path: Path, exercise: Exercise):
    book = nbformat.reads(json.dumps({**notebook(solved()), "nbformat_minor": 4}), 4)
    (tmp_path / "tiny.ipynb").write_text(nbformat.writes(nbformat.convert(book, 3), 3))
    found = read(tmp_path / "tiny.ipynb")
    assert "old format" in found.notes[0]
    assert rebuild(exercise, found).cells == rebuild(exercise, read_cells(solved())).cells


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The file is empty."),
        (b"%PDF-1.4\n", "a PDF"),
        (b"PK\x03\x04rest", "archive (ZIP)"),
        (b"\x1f\x8brest", "archive (gzip)"),
        (b"<!DOCTYPE html>\n<html>", "a web page"),
        (b'{"cells": [\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> theirs\n]}', "merge conflict (“<<<<<<<” in line 2)"),
        (WORK[: len(WORK) // 2], "breaks off in line 1"),
        (WORK[:-1], "breaks off in line 1"),
        (b"\xff\xfe\xff", "no text"),
        (b"\xe9t\xe9", "no text"),
        (b"x = 1", "The name of a Python file ends in .py"),
        (b"[1, 2]", "no cells"),
        (b'{"nbformat": 4' + b"0" * 1_000_000 + b"}", "a number of 1000001 digits"),
        (b'{"a": 0.' + b"1" * 1_000_000 + b"}", "digits"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b"[" + b"[]," * 2_000_000 + b"[]]", "too many parts"),
        (b'{"cells": [' + b"{}," * 300_000 + b"{}]}", "more than 2000 cells"),
        (b'{"cells": "' + b"a" * 10_000_000 + b'"}', "no cells"),
        (b'"' + b"\\u0000" * 3_000_000, "not a notebook"),
        (b'{"cells": [{"source": [' + b'"",' * 3_000_000 + b'""]}]}', ""),
    ],
)
def test_broken_file_is_explained_in_bounded_time(data: bytes, words: str, tmp_path: Path):
    path = tmp_path / "tiny.ipynb"
    path.write_bytes(data)
    began = time.process_time()
    problem = read(path).problem
    assert time.process_time() - began < 5
    assert (words in problem) if words else not problem


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["cells", "worksheets", "metadata", "source", "input", "cell_type", "nbgrader", "grade_id", "total"]
            ),
            inner | st.sampled_from(["total", "code", "raw", "Box", "test-total"]),
        )
    ),
    max_leaves=25,
)


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=300) | JSON.map(lambda value: json.dumps(value).encode()))
@example(b"\xff\xfe\0")
@example(b"\0\0\0{")
@example(b'{"cells": [{"cell_type": "code", "metadata": {"nbgrader": {"grade_id": "\\ud800"}}, "source": "\\ud800"}]}')
def test_nothing_makes_reader_or_rebuilder_raise(exercise: Exercise, data: bytes):
    with tempfile.TemporaryDirectory() as name:
        for file in ("x.ipynb", "x.py"):
            path = Path(name) / file
            path.write_bytes(data)
            found = read(path, exercise, Path(name))
            assert bool(found.problem) or isinstance(found.cells, tuple)
            if not found.problem:
                paper = rebuild(exercise, found)
                assert {one.id for one in paper.cells if one.kind == "test"} == {one.id for one in exercise.tests}
                json.dumps(paper.notes).encode()
        assert isinstance(pick(Path(name), exercise), Pick)


# Whose answer is whose


def read_cells(cells: list[dict]) -> Submission:
    return Submission(
        tuple(
            StudentCell(
                one["metadata"].get("nbgrader", {}).get("grade_id", ""),
                one["source"],
                one["cell_type"] == "code",
                one["cell_type"] == "raw",
            )
            for one in cells
        ),
        "",
    )


def relabelled(cells: list[dict], name: str) -> list[dict]:
    for one in cells:
        one["metadata"] = {"nbgrader": {"grade_id": name}}
    return cells


def merged(cells: list[dict]) -> list[dict]:
    """The cells from the first answer to the second as one, as Jupyter merges them: the first one's label stays."""
    whole = "\n\n".join(one["source"] for one in cells[2:6])
    return [*cells[:2], {**cells[2], "source": whole}, *cells[6:]]


def merged_below(cells: list[dict]) -> list[dict]:
    both = {**cells[5], "source": f"{cells[2]['source']}\n\n{cells[5]['source']}"}
    return [*cells[:2], *cells[3:5], both, *cells[6:]]


def copied_and_used(cells: list[dict]) -> list[dict]:
    """A copy of the answer's cell that was then used to try something out."""
    return [*cells[:3], {**cells[2], "source": "total([1, 2])"}, *cells[3:]]


def helper_in_a_copy(cells: list[dict]) -> list[dict]:
    uses = {**cells[2], "source": "def total(numbers):\n    return add(numbers)"}
    return [*cells[:2], {**cells[2], "source": "def add(numbers):\n    return sum(numbers)"}, uses, *cells[3:]]


def retyped(kind: str) -> Callable[[list[dict]], list[dict]]:
    return lambda cells: [{**one, "cell_type": kind} for one in cells]


def stripped(cells: list[dict]) -> list[dict]:
    return [{**one, "metadata": {}} for one in cells]


REPAIRED = {
    "merged": (merged, "its answer was found in the cell “total”"),
    "merged below": (merged_below, "its answer was found in the cell “Box”"),
    "copied and used": (copied_and_used, "2 times"),
    "helper in a copy": (helper_in_a_copy, "2 times"),
    "one label for all": (lambda cells: relabelled(cells, "total"), "times"),
    "a test's label for all": (lambda cells: relabelled(cells, "test-total"), "lost its label"),
    "all raw": (retyped("raw"), "had become a raw cell"),
    "all text": (retyped("markdown"), "had become a text cell"),
    "all text without labels": (lambda cells: stripped(retyped("markdown")(cells)), "text cell 3 was taken for it"),
    "stripped": (stripped, "cell 3 was taken for it"),
    "stripped and an empty copy": (
        lambda cells: stripped([*cells[:3], solved({})[2], *cells[3:]]),
        "cell 3 was taken for it",
    ),
    "indented": (lambda cells: [{**c, "source": "  " + c["source"].replace("\n", "\n  ")} for c in cells], ""),
}


@pytest.mark.parametrize("damage", REPAIRED)
def test_right_work_keeps_its_marks_and_wrong_work_gains_none(damage: str, exercise: Exercise, tmp_path: Path):
    edit, words = REPAIRED[damage]
    right = grade_cells(exercise, tmp_path, edit(copy.deepcopy(solved())))
    assert right.score == 10, (right.notes, right.tests)
    assert words in "\n".join(right.notes)
    wrong = {"total": "def total(numbers):\n    return 0", "Box": BOX}
    if damage != "helper in a copy":
        assert grade_cells(exercise, tmp_path, edit(copy.deepcopy(solved(wrong)))).score == 5


def test_label_on_the_answer_to_another_question_earns_nothing_twice(exercise: Exercise, tmp_path: Path):
    verdict = grade_cells(exercise, tmp_path, solved({"total": BOX_ONLY, "Box": "Box = None"}))
    assert verdict.score == 0


def test_place_tells_what_a_broken_cell_was_meant_for(exercise: Exercise):
    cells = solved({"total": "def total(numbers:\n    return 1", "Box": "class Box(:"})
    cells[2]["metadata"] = cells[5]["metadata"] = {}
    found = match_answers(exercise, read_cells(cells).cells)
    assert found.chosen == {"total": 2, "Box": 5}
    cells.insert(3, cell("total([1])"))
    assert match_answers(exercise, read_cells(cells).cells).chosen.get("Box") == 6


def test_likeness_tells_the_rest(exercise: Exercise):
    cells = [cell("x = 1"), cell("def totals(numbers):\n    # YOUR CODE HERE\n    raise NotImplementedError()")]
    assert match_answers(exercise, read_cells(cells).cells).chosen == {"total": 1}


def test_cell_of_a_test_is_nobodys_answer(exercise: Exercise):
    cells = stripped([one for index, one in enumerate(solved()) if index != 2])
    found = match_answers(exercise, read_cells(cells).cells)
    assert "total" not in found.chosen
    assert any("missing" in note for note in found.notes)


def test_many_cells_and_answers_are_matched_in_bounded_time(tmp_path: Path):
    answers = [cell(f"def f{n}(): ### BEGIN SOLUTION", grade_id=f"f{n}", solution=True) for n in range(40)]
    exercise = make_course(tmp_path, [*answers, cell("assert 1", grade_id="t", grade=True, points=1)]).exercise("tiny")
    cells = tuple(StudentCell("", f"x{n} = 'def g(): # YOUR CODE HERE'", True) for n in range(2_000))
    began = time.process_time()
    match_answers(exercise, cells)
    assert time.process_time() - began < 5


# What a cell may hold besides Python


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("files = !ls *.py\nx = len(files)", "files = []\nx = len(files)"),
        ("out = %env HOME", "out = None"),
        ("!pip install \\\n    numpy\nx = 1", "pass\n\nx = 1"),
        ("total?\nnp.sum??\n?total\nx = 1", "pass\npass\npass\nx = 1"),
        ("def f():\n    %time y = g(1)\n    return y", "def f():\n    y = g(1)\n    return y"),
        ("y = %time g(1)", "y = g(1)"),
        ("%timeit g(1)", "pass"),
        ("%%time\nx = 1", "\nx = 1"),
        ("%%timeit -n 3\n%%capture\nx = !ls", "\n\nx = []"),
        ("\n\n%%bash\nfor i in 1 2; do echo $i; done", ""),
        ("%%writefile a.py\nx = 1", ""),
        ("!echo \"it's\"\nx = '''\n%no magic\n'''", "pass\nx = '''\n%no magic\n'''"),
        ("%load_ext autoreload\nfrom __future__ import annotations", "\nfrom __future__ import annotations"),
        ("  x = 1\n  y = 2\n", "x = 1\ny = 2\n"),
        (">>> x = 1\n>>> x\n", "x = 1\nx\n"),
        ("x = 7 % 3\ny = '%d' % x\nz = (1\n  % 2)", "x = 7 % 3\ny = '%d' % x\nz = (1\n  % 2)"),
        ("await f()\nasync with g() as h:\n    %ls", "await f()\nasync with g() as h:\n    pass"),
        ("def f(:\n    pass", "def f(:\n    pass"),
        ("%ls\ndef f(:\n    pass", "pass\ndef f(:\n    pass"),
        (",f a b", 'f("a", "b")'),
        ("/get_ipython().system x", "pass"),
    ],
)
def test_notebooks_text_becomes_plain_python_with_the_same_lines(source: str, text: str):
    assert plain(source).text == text
    if not plain(source).whole:
        assert plain_python(source) == text


def test_caught_output_has_a_name_afterwards():
    space: dict[str, object] = {}
    text = plain("%%capture --no-stderr printed\nx = 1").text
    exec(text + "\nshown = printed.stdout\nprinted.show()", space)
    assert (space["x"], space["shown"]) == (1, "")


def test_what_is_left_out_is_a_note(exercise: Exercise, tmp_path: Path):
    cells = solved({"total": "%ls\n!ls\n" + TOTAL_ONLY, "Box": "%%time\n" + BOX})
    cells.append(cell("%%html\n<b>hello</b>"))
    verdict = grade_cells(exercise, tmp_path, cells)
    assert verdict.score == 10
    said = "\n".join(verdict.notes)
    assert "left out: “total” (line 1, line 2); “Box” (the first line)." in said
    assert "Cells that are no Python were left out: your cell 8 (%%html)." in said


def test_notes_are_not_more_than_anybody_reads(exercise: Exercise):
    cells = [*solved(), *(cell(f"%ls {n}\n" * 50) for n in range(300))]
    notes = rebuild(exercise, read_cells(cells)).notes
    assert len(notes) == 1
    assert len(notes[0]) < 2_000


def test_instructors_magic_lines_are_left_out_and_are_no_note(tmp_path: Path):
    cells = solved()
    cells[1]["source"] = "%matplotlib inline\n" + cells[1]["source"]
    cells[3]["source"] = "%precision 3\n" + cells[3]["source"]
    exercise = make_course(tmp_path, cells).exercise("tiny")
    verdict = grade_cells(exercise, tmp_path, cells)
    assert verdict.score == 10
    assert verdict.notes == ()


def test_line_numbers_are_those_of_ipython():
    """Where IPython's own transformer keeps the lines, ours leaves the same statements on them."""
    from IPython.core.inputtransformer2 import TransformerManager

    source = "x = 1\n%ls\nif x:\n    !ls\n    files = !ls\ny = %env\nx?\nz = (x\n     % 2)\n"
    ours = ast.parse(plain(source).text).body
    theirs = ast.parse(TransformerManager().transform_cell(source)).body
    assert [(type(a), a.lineno) for a in ours if not isinstance(a, ast.Pass)] == [
        (type(b), b.lineno) for b in theirs if not isinstance(b, ast.Expr)
    ]
    assert [a.lineno for a in ours] == [b.lineno for b in theirs]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(["%", "%%", "!", "?", "x", " = ", "time ", "\n", "    ", "'''", '"', "(", "\\", ";f", "/", "é"])
    )
)
def test_no_text_troubles_the_reader_of_magic_lines(parts: list[str]):
    source = "".join(parts)
    made = plain(source)
    if not made.whole:
        assert made.text.count("\n") >= source.count("\n")
    plain_python(source)
    parse(source)


@pytest.mark.parametrize("line", ["%ls\n", "'''\n%ls\n", "!'''\n", "%time f(\n"])
def test_very_many_magic_lines_take_bounded_time(line: str):
    began = time.process_time()
    plain(line * (100_000 // len(line)))
    assert time.process_time() - began < 10


def test_ordinary_code_and_the_students_process_need_no_ipython():
    code = (
        "import sys\nimport grading.syntax as s, grading.running.worker\n"
        "s.plain_python('x = 1'); s.plain_python('def f(:'); s.parse('await f()')\n"
        "sys.exit('IPython' in sys.modules or 'rapidfuzz' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_where_ipython_is_missing_the_text_stays(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "grading.magics", None)
    assert plain_python("%ls") == "%ls"


# What a class has handed in


ODD = [
    "ann lee",
    " ann ",
    'o\'hara "jo"; --',
    "lee, ann,\nmarie",
    "田中 葵 Zoë",
    "=ann",
    "--help",
    "[ab]*?{x}",
    "000123",
    "\\x",
    "n" * 255,
]


def test_odd_names_of_students_are_all_found(course: Course):
    for name in ODD:
        fill(course.submitted, {f"{name}/tiny/tiny.ipynb": WORK})
    for name in (b"z\xff", b"z\xfe"):
        path = os.fsencode(course.submitted) + b"/" + name + b"/tiny"
        os.makedirs(path)
        with open(path + b"/tiny (1).ipynb", "wb") as file:
            file.write(WORK)
    students, found = hand_ins(course, course.exercises())
    assert sorted(students) == sorted([*ODD, r"z\xff", r"z\xfe"])
    assert [item.student for item in found] == students
    assert all(item.read().cells for item in found)
    assert sum(bool(item.notes) for item in found) == 2
    assert all(item.notes == item.read().notes for item in found)


def test_folder_without_work_and_what_is_no_folder(course: Course):
    fill(course.submitted, {"ann/other/x": b"", "bob/tiny/x.txt": b"", ".hidden/tiny/tiny.ipynb": WORK, "file": b""})
    fill(course.submitted, {"cyd/tiny/a.ipynb": b"{}", "cyd/tiny/b.ipynb": b"{}"})
    (course.submitted / "broken").symlink_to("nowhere")
    students, found = hand_ins(course, course.exercises())
    assert students == ["ann", "bob", "cyd"]
    assert [(item.student, item.read().problem) for item in found] == [("cyd", "There is no file here.")]
    assert "None of the 2" in found[0].notes[0]


def test_linked_folders_of_student_and_assignment_are_unreadable(course: Course):
    fill(course.submitted, {"ann/tiny/tiny.ipynb": WORK, "bob/x": b""})
    (course.submitted / "bob" / "tiny").symlink_to("../ann/tiny")
    (course.submitted / "cyd").symlink_to("ann")
    students, found = hand_ins(course, course.exercises())
    assert students == ["ann", "bob", "cyd"]
    assert [bool(item.read().problem) for item in found] == [False, True, True]
    assert all("symbolic link" in item.read().problem for item in found[1:])


def test_source_handed_in_under_a_second_name_is_set_aside(course: Course):
    (course.submitted / "ann" / "tiny").mkdir(parents=True)
    os.link(course.source / "tiny" / "tiny.ipynb", course.submitted / "ann" / "tiny" / "tiny.ipynb")
    fill(course.submitted, {"bob/tiny/tiny.ipynb": (course.source / "tiny" / "tiny.ipynb").read_bytes()})
    _, found = hand_ins(course, course.exercises())
    assert [bool(item.read().suspicion) for item in found] == [True, True]
    assert found[0].sha256 == found[1].sha256


def test_no_submissions_are_no_trouble(course: Course):
    assert hand_ins(course, course.exercises()) == ([], [])


def test_time_grows_with_the_class_and_no_faster(course: Course):
    def seconds() -> float:
        began = time.process_time()
        _, found = hand_ins(course, exercises)
        assert len(found) == len(list(course.submitted.iterdir()))
        return time.process_time() - began

    exercises = course.exercises()
    for number in range(150):
        fill(course.submitted, {f"s{number}/tiny/tiny.ipynb": b"{}"})
    few = min(seconds() for _ in range(3))
    for number in range(150, 1_500):
        fill(course.submitted, {f"s{number}/tiny/tiny.ipynb": b"{}"})
    assert seconds() < 30 * few + 0.2
