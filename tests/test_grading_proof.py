"""The proof that exercises have good tests: its parts on small answers, and all of it on this course's exercises."""

from __future__ import annotations

import ast
import datetime
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.course import Exercise, open_course
from grading.proof.__main__ import main
from grading.proof.attempts import Attempt, attempts, draw, graded_answers
from grading.proof.findings import proof
from grading.proof.hardcoded import hard_coded
from grading.proof.judging import Outcome
from grading.proof.mutants import OPERATORS, mutants
from grading.proof.order import reseeded, shuffled
from grading.proof.proving import prove
from grading.proof.recording import Notes, literal, watched
from grading.proof.waivers import read_waivers
from grading.submission import Submission
from tests.grading_tiny import RIGHT, cell, make_course, source_cells

ROOT = Path(__file__).resolve().parent.parent
COURSE = open_course(ROOT, bundled=True)
EXERCISES = [exercise for exercise in COURSE.exercises() if exercise.tests]
SEED = int(os.environ.get("RAGKIT_SAMPLE_SEED") or datetime.date.today().toordinal())

ANSWER = '''
from collections import Counter


def best(scores: dict[str, float], limit: int = 3) -> list[str]:
    """Names of the best scores, ties by name.

    >>> best({"a": 1})
    ['a']
    """
    if not scores or limit <= 0:
        return []
    ranked = sorted(scores, key=lambda name: (-scores[name], name))
    return ranked[:limit]
'''


@pytest.fixture
def tiny(tmp_path: Path) -> Exercise:
    return make_course(tmp_path).exercise("tiny")


# Mutants


def test_mutants_hold_one_slip_each_and_say_which():
    changes = {mutant.change for mutant in mutants(ANSWER)}
    assert {
        "limit <= 0 → limit < 0",
        "not scores or limit <= 0 → not scores and limit <= 0",
        "not scores → scores",
        "ranked[:limit] → ranked",
        "-scores[name] → scores[name]",
        "(-scores[name], name) → (-scores[name],)",
        "sorted(scores, key=lambda name: (-scores[name], name)) → sorted(scores)",
        "return [] → pass",
        "return ranked[:limit] → return scores",
        "3 → 4",
    } <= changes


def test_mutants_are_python_of_other_texts_and_stable_names():
    made = mutants(ANSWER)
    texts, names = [mutant.source for mutant in made], [mutant.name for mutant in made]
    assert ast.unparse(ast.parse(ANSWER)) not in texts
    assert len(set(texts)) == len(texts)
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+-\d+-[0-9a-f]{6}", name) for name in names)
    assert mutants(ANSWER) == made
    for text in texts:
        compile(text, "mutant", "exec")


def test_what_does_nothing_is_not_mutated():
    """Annotations, docstrings and imports stay as they are; comments and layout make no other mutants."""
    for mutant in mutants(ANSWER):
        assert "scores: dict[str, float]" in mutant.source
        assert "Names of the best scores, ties by name." in mutant.source
        assert "from collections import Counter" in mutant.source
    assert mutants(ANSWER.replace("\n\n\n", "\n# a comment\n"))[0].source == mutants(ANSWER)[0].source


def test_every_operator_is_in_the_list_and_says_what_it_makes():
    from grading.proof import operators, shapes, statements

    written = {
        thing
        for module in (operators, shapes, statements)
        for name, thing in vars(module).items()
        if callable(thing) and getattr(thing, "__module__", "") == module.__name__ and not name.startswith("_")
    }
    assert written == set(OPERATORS)
    assert all(">>>" in (operator.__doc__ or "") for operator in OPERATORS)
    assert len({operator.__name__ for operator in OPERATORS}) == len(OPERATORS)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.key)
def test_every_graded_answer_of_the_course_gives_mutants(exercise: Exercise):
    for answer in exercise.answers:
        assert len(mutants(answer.solution)) >= 25


# Answers hard-coded to the visible examples


def run_hard_coded(exercise: Exercise, text: str, answer: str) -> set[str]:
    """The tests that fail with this text in the place of an answer."""
    failed = set()
    for test in exercise.tests:
        space: dict[str, Any] = {}
        for own in exercise.cells:
            if own.kind in ("answer", "setup"):
                exec(text if own.id == answer else own.solution or own.source, space)
        try:
            exec(test.source, space)
        except Exception:
            failed.add(test.id)
    return failed


def test_a_hard_coded_answer_passes_what_is_visible_and_not_what_is_hidden(tiny: Exercise):
    total, box = tiny.answers
    for text in hard_coded(tiny, total).values():
        assert run_hard_coded(tiny, text, "total") == {"test-hidden"}
        assert "7349" not in text, "it was made from a hidden test"
    for text in hard_coded(tiny, box).values():  # no test of the class is hidden: nothing tells the two apart
        assert run_hard_coded(tiny, text, "Box") == set()


def test_a_value_is_no_function_to_hard_code(tmp_path: Path):
    cells = [
        cell("### BEGIN SOLUTION\nlead = 2\n### END SOLUTION", grade_id="lead", solution=True),
        cell("assert lead == 2", grade_id="test-lead", grade=True, points=1),
    ]
    exercise = make_course(tmp_path, cells).exercise("tiny")
    assert hard_coded(exercise, exercise.answers[0]) == {}


def test_calls_are_noted_as_they_were_before_they_changed_anything():
    def drain(items: list[int]) -> int:
        return items.pop() if items else int("none")

    notes = Notes()
    noted = watched(drain, "drain", notes)
    items = [5]
    assert noted(items) == 5
    with pytest.raises(ValueError, match="none"):
        noted(items)
    assert list(notes.seen.values()) == ["5", "fault(ValueError)"]
    assert notes.usual == {"drain": "5"}


def test_methods_are_known_by_all_that_was_called_before():
    class Tally:
        def __init__(self, start: int) -> None:
            self.sum = start

        def add(self, number: int) -> None:
            self.sum += number

        def value(self) -> int:
            return self.sum

    notes = Notes()
    noted: Callable[..., Any] = watched(Tally, "Tally", notes)
    for start, numbers in ((0, [1]), (0, [1, 1]), (4, [])):
        tally = noted(start)
        for number in numbers:
            tally.add(number)
        assert tally.value() == start + sum(numbers)
    assert sorted(outcome for outcome in notes.seen.values() if outcome != "None") == ["1", "2", "4"]
    assert notes.usual == {"add": "None", "value": "1"}


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3) | st.tuples(st.integers()), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=30)
@given(PLAIN)
def test_literals_give_the_value_back(value: Any):
    found = eval(literal(value))
    assert found == value
    assert type(found) is type(value)


def test_literals_of_arrays_and_of_what_is_no_data():
    array = np.array([[1.5, -2.0]], dtype=np.float32)
    found = eval(literal(array))
    assert found.dtype == array.dtype
    assert np.array_equal(found, array)
    with pytest.raises(ValueError, match="object is no plain data"):
        literal([object()])


# Other seeds, another order


def test_other_seeds_change_the_numbers_of_tests_alone(tmp_path: Path):
    cells = [*source_cells(), cell("seed = 12\nassert seed", grade_id="test-seed", grade=True, points=1)]
    exercise = make_course(tmp_path, cells).exercise("tiny")
    other = reseeded(exercise, 99)
    assert other.tests[-1].source == "seed = 99\nassert seed"
    assert other.cells[:-1] == exercise.cells[:-1]
    assert other.max_score == exercise.max_score


def test_another_order_keeps_every_cell_and_puts_tests_after_answers(tiny: Exercise):
    orders = {tuple(own.id for own in shuffled(tiny, seed).tests) for seed in range(20)}
    assert len(orders) == 6
    for seed in range(5):
        kinds = [own.kind for own in shuffled(tiny, seed).cells]
        assert sorted(kinds) == sorted(own.kind for own in tiny.cells)
        assert kinds.index("test") > max(index for index, kind in enumerate(kinds) if kind == "answer")


# What is tried, and what is found


def folder_of(tmp_path: Path, **files: str) -> Path:
    folder = tmp_path / "answers" / "tiny"
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return folder


def test_attempts_are_of_every_kind(tmp_path: Path, tiny: Exercise):
    made = attempts(tiny, folder_of(tmp_path, right_loop__py=RIGHT, wrong_zero__py="total = 0"), orders=2, seed=1)
    kinds = [own.kind for own in made]
    assert kinds.count("right") == 2 * 3, "the reference and one file, as it is and in two orders"
    assert kinds.count("wrong") == 1
    assert kinds.count("hard-coded") == 4
    assert kinds.count("broken") == 10
    assert kinds.count("mutant") == sum(len(mutants(answer.solution)) for answer in tiny.answers)
    assert {own.answer for own in made if own.kind == "mutant"} == {"total", "Box"}
    assert graded_answers(tiny) == {"total": {"test-total", "test-hidden"}, "Box": {"test-box"}}


def test_a_sample_has_some_of_each_kind_for_each_answer_and_is_the_same_for_one_seed(tmp_path: Path, tiny: Exercise):
    made = attempts(tiny, folder_of(tmp_path, right_loop__py=RIGHT), orders=2, seed=1)
    drawn = draw(made, 2, seed=5)
    assert draw(made, 2, seed=5) == drawn
    assert {draw(made, 2, seed=seed)[0].name for seed in range(9)} != {drawn[0].name}
    groups = [(own.kind, own.answer) for own in drawn]
    assert set(groups) == {(own.kind, own.answer) for own in made}
    assert max(map(groups.count, groups)) == 2


def outcome_of(exercise: Exercise, kind: Any, name: str, failed: tuple[str, ...], **more: Any) -> Outcome:
    """What a judge would say of an attempt that fails these tests."""
    points = sum(test.points for test in exercise.tests if test.id in failed)
    attempt = Attempt(kind, name, exercise, Submission((), ""), **more)
    return Outcome(attempt, exercise.max_score - points, exercise.max_score, failed)


@pytest.mark.parametrize(
    ("kind", "failed", "more", "said"),
    [
        ("right", (), {}, None),
        ("right", ("test-box",), {"variant": "order 1"}, "right x (order 1) does not pass test-box"),
        ("wrong", ("test-total",), {}, None),
        ("wrong", (), {}, "wrong x has full marks"),
        ("wrong", ("test-total", "test-box"), {}, "wrong x is wrong in one answer and costs points in total and Box"),
        ("mutant", ("test-total",), {"answer": "total"}, None),
        ("mutant", (), {"answer": "total", "change": "a → b"}, "mutant x of total survives: a → b"),
        ("mutant", (), {"answer": "total", "waived": "why"}, None),
        (
            "mutant",
            ("test-total",),
            {"answer": "total", "waived": "why"},
            "mutant x of total is waived, and loses points all the same",
        ),
        (
            "mutant",
            ("test-total", "test-box"),
            {"answer": "total"},
            "mutant x of total costs points elsewhere: test-box",
        ),
        ("hard-coded", ("test-hidden",), {"answer": "total"}, None),
        ("hard-coded", (), {"answer": "total"}, "hard-coded x of total has full marks"),
        (
            "hard-coded",
            ("test-total", "test-hidden"),
            {"answer": "total"},
            "hard-coded x of total does not pass what it was made from: test-total",
        ),
        ("broken", ("test-box",), {"answer": "Box"}, None),
        ("broken", ("test-box", "test-total"), {"answer": "Box"}, "broken x of Box costs points elsewhere: test-total"),
    ],
)
def test_what_is_amiss_is_said(tiny: Exercise, kind: str, failed: tuple[str, ...], more: Any, said: str | None):
    found = outcome_of(tiny, kind, "x", failed, **more)
    others = [found.attempt, replace(found.attempt, name="not drawn")]
    assert proof(tiny, others, [found], {}).problems == (() if said is None else (f"tiny: {said}",))


def test_a_fault_of_the_grader_is_no_mark_of_the_answer(tiny: Exercise):
    found = replace(outcome_of(tiny, "mutant", "x", ("test-total",), answer="total"), fault="it broke")
    assert proof(tiny, [found.attempt] * 2, [found], {}).problems == ("tiny: mutant x of total: it broke",)


def test_a_waiver_of_no_mutant_is_amiss(tiny: Exercise):
    found = outcome_of(tiny, "mutant", "x", ("test-total",), answer="total")
    problems = proof(tiny, [found.attempt] * 2, [found], {"total": {"y": "why"}, "gone": {"z": "why"}}).problems
    assert problems == (
        "tiny: y of total is waived, and there is no such mutant",
        "tiny: z of gone is waived, and there is no such mutant",
    )


def test_too_little_is_amiss_once_everything_was_tried(tiny: Exercise):
    right = [outcome_of(tiny, "right", name, ()) for name in ("reference", "a", "b")]
    wrong = [outcome_of(tiny, "wrong", f"total {n}", ("test-total",)) for n in range(8)]
    wrong += [outcome_of(tiny, "wrong", f"box {n}", ("test-box",)) for n in range(7)]
    made = [own.attempt for own in right + wrong]
    assert proof(tiny, made, right + wrong, {}).problems == (
        "tiny: there are 7 wrong answers to Box, and 8 are asked for",
        "tiny: no wrong answer fails test-hidden",
    )
    assert proof(tiny, made, right + wrong[1:], {}).problems == (), "a sample says nothing of how many there are"
    fewer = [own.attempt for own in right[:2] + wrong]
    assert (
        "tiny: there are 1 right answers of another style, and 2 are asked for"
        in proof(tiny, fewer, right[:2] + wrong, {}).problems
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [("[total", "cannot be read"), ('total = "why"', "no table"), ('[total]\nx = ""', "no reason")],
)
def test_waivers_are_read_with_care(tmp_path: Path, text: str, said: str):
    folder = folder_of(tmp_path, equivalent__toml=text)
    with pytest.raises(ValueError, match=f"equivalent.toml: .*{said}"):
        read_waivers(folder)
    assert read_waivers(tmp_path) == {}


# All of it


def test_a_weak_test_is_proved_wanting(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """With real judging: one number is its own maximum, and the command says what that lets through."""
    weak = cell("assert total([3]) == 3", grade_id="test-total", grade=True, points=2)
    make_course(tmp_path, [source_cells()[2], weak])
    right = RIGHT.split("class")[0]
    answers = folder_of(tmp_path, right_loop__py=right, wrong_most__py="total = max", wrong_none__py="total = len")
    options = ["--course", str(tmp_path), "--answers", str(answers.parent), "--jobs", "2", "--allow-unsandboxed"]
    assert main(options) == 1
    said = capsys.readouterr().out
    assert "of total survives: sum → max" in said
    assert "of total survives: sum(numbers) → numbers" not in said
    assert "tiny: hard-coded first of total has full marks" in said
    assert "tiny: wrong wrong_most has full marks" in said
    assert "wrong_none has" not in said
    assert "tiny: there are 1 right answers of another style, and 2 are asked for" in said
    assert "does not pass" not in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["nothing"], "no 'nothing' in this course"), (["--answers", "nowhere"], "answers: there is no folder nowhere")],
)
def test_a_wrong_command_is_refused(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]):
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_a_sample_of_everything_holds_for_this_course():
    """RAGKIT_SAMPLE_SEED, the day's number otherwise, draws another sample each day."""
    found = prove(EXERCISES, ROOT / "tests" / "submissions", sample=2, seed=SEED, jobs=2, allow_unsandboxed=True)
    assert [text for one in found for text in one.problems] == [], f"drawn with RAGKIT_SAMPLE_SEED={SEED}"


@pytest.mark.full
def test_everything_holds_for_this_course():
    found = prove(EXERCISES, ROOT / "tests" / "submissions", jobs=2, allow_unsandboxed=True)
    assert [text for one in found for text in one.problems] == []
    for row in (row for one in found for row in one.rows):
        assert row.made >= 25
        assert row.killed > 0.9 * row.made
