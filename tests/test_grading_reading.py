"""Reading the instructor's notebook, reading what was handed in, and setting one into the other."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.course import Course, Exercise, open_course, read_exercise
from grading.course.notebook import clear_solution, hidden_ranges
from grading.judge import check_source
from grading.submission import StudentCell, Submission, decode, forbidden_imports, read, rebuild
from grading.syntax import top_level_names
from tests.grading_tiny import (
    FAST,
    RIGHT,
    cell,
    grade_cells,
    make_course,
    notebook,
    solved,
    source_cells,
    write_notebook,
)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def exercise(course: Course) -> Exercise:
    return course.exercise("tiny")


# The instructor's side


def test_exercise_is_read_from_the_source(exercise: Exercise):
    assert [(c.kind, c.id, c.points) for c in exercise.cells] == [
        ("text", "tiny-contract", 0),
        ("setup", "cell-1", 0),
        ("answer", "total", 0),
        ("test", "test-total", 2),
        ("test", "test-hidden", 3),
        ("answer", "Box", 0),
        ("test", "test-box", 5),
    ]
    assert exercise.max_score == 10
    assert exercise.names == ("total", "Box")
    assert exercise.forbidden == ("reference.totals.total",)
    assert exercise.from_source
    assert exercise.cells[2].source == "def total(numbers):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    assert exercise.cells[4].hidden_lines == ((2, 6),)
    assert check_source(exercise, FAST) == []


def test_broken_test_is_found_on_the_instructors_answer(tmp_path: Path):
    cells = source_cells()
    cells[3]["source"] = "assert total([1]) == 2, 'wrong test'"
    assert check_source(make_course(tmp_path, cells).exercise("tiny"), FAST) == ["test-total"]


def test_released_notebook_is_used_where_there_is_no_source(tmp_path: Path):
    write_notebook(tmp_path / "release" / "tiny" / "tiny.ipynb", notebook(solved({})))
    exercise = open_course(tmp_path).exercise("tiny")
    assert not exercise.from_source
    assert exercise.cells[4].hidden_lines == ()
    assert exercise.max_score == 10


def test_names_of_folders_come_from_the_configuration(tmp_path: Path):
    (tmp_path / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.source_directory = "solutions"\n')
    assert open_course(tmp_path).source == tmp_path / "solutions"
    assert open_course(tmp_path).submitted == tmp_path / "submitted"


@pytest.mark.parametrize("name", ["other", "../tiny", "", "a/b"])
def test_unknown_exercise_is_a_value_error(name: str, course: Course):
    with pytest.raises(ValueError, match="exercise"):
        course.exercise(name)


def test_duplicate_grade_ids_in_a_source_are_a_value_error(tmp_path: Path):
    path = write_notebook(tmp_path / "tiny" / "tiny.ipynb", notebook([*source_cells(), source_cells()[2]]))
    with pytest.raises(ValueError, match="two cells"):
        read_exercise(path)


def test_hash_changes_with_what_matters(tmp_path: Path, exercise: Exercise):
    cells = source_cells()
    cells[4]["source"] = cells[4]["source"].replace("7360", "7361")
    assert make_course(tmp_path, cells).exercise("tiny").sha256 != exercise.sha256


def test_helpers_of_the_course_reader():
    assert clear_solution("x = 1") == "# YOUR CODE HERE\nraise NotImplementedError()"
    assert clear_solution("a\n  ### BEGIN SOLUTION\n  b\n  ### END SOLUTION\nc").split("\n")[1] == "  # YOUR CODE HERE"
    assert hidden_ranges("a\n# BEGIN HIDDEN TESTS\nb\n# END HIDDEN TESTS\nc") == ((2, 4),)
    assert top_level_names("import os\nx, y = 1, 2\ndef f():\n    z = 1\nclass C: pass") == ("x", "y", "f", "C")
    assert top_level_names("def f(:") == ()


# What is handed in


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings(codec: str):
    assert decode('{"é": "中"}'.encode(codec)) == '{"é": "中"}'


def test_nbformat_3_and_lists_of_lines(tmp_path: Path, exercise: Exercise):
    cells = solved()
    for one in cells:
        if one["cell_type"] == "code":
            one["input"] = one.pop("source").splitlines(keepends=True)
    path = tmp_path / "tiny.ipynb"
    path.write_text(json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}))
    assert rebuild(exercise, read(path)).cells == rebuild(exercise, Submission(student(solved()), "")).cells


def student(cells: list[dict]) -> tuple[StudentCell, ...]:
    return tuple(
        StudentCell(c["metadata"].get("nbgrader", {}).get("grade_id", ""), c["source"], c["cell_type"] == "code")
        for c in cells
    )


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_make_the_reader_raise(data: bytes):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.ipynb"
        path.write_bytes(data)
        assert read(path).problem or read(path).cells == ()


@settings(max_examples=50, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["cells", "metadata", "source", "cell_type", "nbgrader", "grade_id"]), inner
            )
        ),
        max_leaves=20,
    )
)
def test_no_json_makes_the_reader_raise(value: object):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.ipynb"
        path.write_text(json.dumps({"cells": value}))
        read(path)


# Set into the instructor's cells


def test_untouched_notebook_gives_the_source_and_no_note(exercise: Exercise):
    paper = rebuild(exercise, Submission(student(solved()), ""))
    assert paper.notes == ()
    assert [c.id for c in paper.cells] == ["cell-1", "total", "test-total", "test-hidden", "Box", "test-box"]
    assert [c.source for c in paper.cells if c.kind == "test"] == [c.source for c in exercise.tests]


def graded(cells: list[dict]) -> list[dict]:
    return [c for c in cells if c["metadata"].get("nbgrader", {}).get("grade")]


def edited(cells: list[dict]) -> list[dict]:
    for test in graded(cells):
        test["source"] = "assert True"
        test["metadata"]["nbgrader"]["points"] = 1000
        test["metadata"]["tags"] = ["skip-execution", "raises-exception"]
    return cells


def retagged(cells: list[dict]) -> list[dict]:
    graded(cells)[0]["metadata"]["nbgrader"] = {"grade_id": "mine", "grade": True, "points": 50}
    return cells


DAMAGE = {
    "deleted tests": lambda cells: [c for c in cells if c not in graded(cells)],
    "edited tests": edited,
    "retagged test": retagged,
    "test made markdown": lambda cells: [{**c, "cell_type": "markdown"} if c in graded(cells) else c for c in cells],
    "duplicated tests": lambda cells: [*cells, *copy.deepcopy(graded(cells))],
    "shuffled": lambda cells: cells[::-1],
    "no metadata": lambda cells: [{**c, "metadata": {}} for c in cells],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_to_tests_changes_no_mark(damage: str, exercise: Exercise, tmp_path: Path):
    right = grade_cells(exercise, tmp_path, DAMAGE[damage](solved()))
    assert (right.score, right.max_score) == (10, 10)
    wrong = {"total": "def total(numbers):\n    return 0", "Box": RIGHT.split("\n\n")[1]}
    assert grade_cells(exercise, tmp_path, DAMAGE[damage](solved(wrong))).score == 5
    if damage != "shuffled":
        assert right.notes


def test_duplicated_answer_takes_the_last_that_is_no_stub(exercise: Exercise, tmp_path: Path):
    cells = solved()
    stub = solved({})[2]
    cells.insert(3, stub)
    verdict = grade_cells(exercise, tmp_path, cells)
    assert verdict.score == 10
    assert any("2 times" in note for note in verdict.notes)


def test_missing_answer_is_said_and_costs_its_tests(exercise: Exercise, tmp_path: Path):
    verdict = grade_cells(exercise, tmp_path, [c for i, c in enumerate(solved()) if i != 2])
    assert verdict.score == 5
    assert any("missing" in note for note in verdict.notes)
    assert verdict.tests[0].status == "not_attempted"


def test_answer_in_a_cell_of_its_own_counts(exercise: Exercise, tmp_path: Path):
    cells = solved({"Box": RIGHT.split("\n\n")[1]})
    cells.insert(3, cell("def helper(numbers):\n    return sum(numbers)"))
    cells.insert(4, cell("total = helper"))
    assert grade_cells(exercise, tmp_path, cells).score == 10


def test_magic_lines_are_left_out(exercise: Exercise, tmp_path: Path):
    cells = solved()
    cells[2]["source"] = "%matplotlib inline\n!ls\n" + cells[2]["source"]
    assert grade_cells(exercise, tmp_path, cells).score == 10


def test_partial_credit_is_the_value_of_the_last_expression(tmp_path: Path):
    cells = source_cells()
    cells[3]["source"] = "1.5 if total([1, 2]) == 3 else 0.5"
    exercise = make_course(tmp_path, cells).exercise("tiny")
    assert grade_cells(exercise, tmp_path, solved()).tests[0].points == 1.5


def test_parts_for_a_person_are_kept_apart(tmp_path: Path):
    cells = [*source_cells(), cell("Because.", "markdown", grade_id="why", grade=True, solution=True, points=4)]
    exercise = make_course(tmp_path, cells).exercise("tiny")
    verdict = grade_cells(exercise, tmp_path, [*solved(), cell("My reason", "markdown", grade_id="why")])
    assert verdict.max_score == 10
    assert [(part.id, part.max_points, part.answer) for part in verdict.manual] == [("why", 4, "My reason")]


# Forbidden imports

NAMES = ["ragkit.search.fusion.interleave", "ragkit.search.interleave"]


@pytest.mark.parametrize(
    "source",
    [
        "import ragkit.search.fusion as f",
        "from ragkit.search import interleave",
        "from ragkit.search import interleave as mine",
        "from ragkit.search.fusion import interleave",
        "from ragkit.search import *",
        "import ragkit\nx = ragkit.search.interleave",
        "import ragkit.search as s\nx = s.fusion.interleave",
        "import importlib\nm = importlib.import_module('ragkit.search.fusion')",
        "import importlib\nm = importlib.import_module('ragkit')\nx = m.search.interleave",
        "m = __import__('ragkit.search.fusion', fromlist=['interleave'])",
        "from importlib import import_module as load\nm = load('ragkit.search.fusion')",
        "import ragkit.text as t\nx = getattr(t, 'interleave')",
        "exec('from ragkit.search import interleave')",
        "def f():\n    if True:\n        from ragkit.search import interleave\n        return interleave",
    ],
)
def test_forbidden_import_is_found(source: str):
    assert forbidden_imports([source], NAMES)


@pytest.mark.parametrize(
    "source",
    [
        "def interleave(lists, k):\n    return []",
        "from ragkit.text import tokenize\ndef interleave(lists, k): return []",
        "from itertools import chain\nimport numpy as np\nnp.interleave",
        "# import ragkit.search.fusion\ntext = 'from ragkit.search import interleave'",
        "not python (",
        "",
    ],
)
def test_other_code_is_left_alone(source: str):
    assert forbidden_imports([source], NAMES) == ()
