"""Submissions that cheat, spy, break or were broken: each gets the marks it deserves, and harms nobody.

`hostile/README.md` says what is asserted of every case. A seeded sample runs here
(`RAGKIT_SAMPLE_SEED` repeats it), and all of them in `make test-full`.
"""

from __future__ import annotations

import os
import random
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.hostile.cases import GROUPS, HERE, KINDS, STEPS, read_case, read_cases
from tests.hostile.launching import NoSandboxError, launch
from tests.hostile.making import DAMAGE, EDITS
from tests.hostile.results import Result

CASES = read_cases()
SIZES = {"cheating": 3, "leaks": 2, "resources": 1, "broken": 5, "policy": 1}
SLOW = re.compile(r"(policy/(killed|locked)|resources/)")  # these take their whole time: left to the long test
GOOD = """
does = "Nothing."
score = 6
status = "ok"
work.answers.total = "def total(prices): return 0"
[control]
does = "Nothing at all."
score = 10
status = "ok"
work.damage = ["lines"]
"""


def sample() -> list[str]:
    """The cases of this run, some of each group, chosen by the seed of the day."""
    chooser = random.Random(int(os.environ.get("RAGKIT_SAMPLE_SEED", "0")))
    names = {group: [case.id for case in CASES if case.group == group and not SLOW.match(case.id)] for group in GROUPS}
    names["resources"] = ["resources/hard_exit_in_a_function", "resources/recursion", "resources/huge_result"]
    return sorted(name for group in GROUPS for name in chooser.sample(names[group], SIZES[group]))


def graded(names: list[str]) -> list[Result]:
    """Results, or a reason to skip where hostile programs may not be run (no reason where everything is required)."""
    try:
        return launch(names)
    except NoSandboxError as problem:
        if os.environ.get("RAGKIT_REQUIRE_ALL") == "1" or os.environ.get("RAGKIT_FULL") == "1":
            raise
        pytest.skip(str(problem))


@pytest.fixture(scope="module")
def sampled() -> dict[str, Result]:
    return {result.id: result for result in graded(sample())}


@pytest.mark.parametrize("name", sample())
def test_a_sampled_case_gets_what_it_deserves(name: str, sampled: dict[str, Result]):
    assert sampled[name].faults == ()


@pytest.mark.parametrize("name", sample())
def test_the_control_of_a_sampled_case_earns_its_points(name: str, sampled: dict[str, Result]):
    control = sampled[f"{name} control"]
    assert control.faults == ()
    assert control.score is not None
    assert control.score > 0


@pytest.mark.full
@pytest.mark.parametrize("group", GROUPS)
def test_every_case_and_every_control_of_a_group(group: str):
    results = graded([group])
    assert len(results) == 2 * sum(case.group == group for case in CASES)
    wrong = [f"{result.id}: {fault}" for result in results for fault in result.faults]
    assert not wrong, "\n".join(wrong)


# The corpus itself


def test_there_are_many_kinds_and_no_group_is_small():
    sizes = Counter(case.group for case in CASES)
    assert set(sizes) == set(GROUPS)
    assert min(sizes.values()) >= 15
    assert len(CASES) >= 200


def test_every_file_is_read():
    assert {path.stem for path in HERE.glob("*/*.toml")} == {case.name for case in CASES}
    assert len({case.id for case in CASES}) == len(list(HERE.glob("*/*.toml")))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_is_written_in_full(case):
    for variant in (case.hostile, case.control):
        assert variant.does.endswith(".")
        assert len(variant.does) > 20 or case.group == "broken"
        assert max(len(line) for line in variant.does.split("\n")) <= 120
        top = {"basket": 11, "words": 6, "vectors": 6}[case.exercise]
        assert 0 <= variant.least <= variant.score <= top
        assert variant.steps[-1] in ("grade", "grade again")
    assert case.control.least > 0
    assert case.hostile.does != case.control.does


def test_every_edit_damage_kind_and_step_is_used():
    works = [work for case in CASES for v in (case.hostile, case.control) for work in (v.work, v.second) if work]
    assert {edit["do"] for work in works for edit in work.edits} == set(EDITS)
    assert {name for work in works for name in work.damage} == set(DAMAGE)
    assert {work.kind for work in works} == set(KINDS)
    assert {step for case in CASES for v in (case.hostile, case.control) for step in v.steps} == set(STEPS)


def test_no_two_cases_hand_in_the_same():
    same = Counter(repr((case.exercise, case.hostile.steps, case.hostile.work, case.hostile.second)) for case in CASES)
    assert [work for work, count in same.items() if count > 1] == []


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("score = 10", "score = 0", "earns nothing"),
        ('work.damage = ["lines"]', 'work.answers.total = "def total(prices): return 0"', "the case itself"),
        ('does = "Nothing."', 'does = "Nothing."\nwhy = "?"', "why"),
        ('status = "ok"\nwork.answers', 'status = "fine"\nwork.answers', "fine"),
        ('["lines"]', '["fire"]', "fire"),
        ("score = 6", 'score = 6\nsteps = ["hand in second"]', "second"),
        ("score = 6", 'score = 6\nsteps = ["burn"]', "burn"),
        ("score = 6", "score = 6\nleast = 7", "least"),
        ("score = 6\n", "", "score"),
        ("[control]", "[controls]", "control"),
    ],
)
def test_a_faulty_case_is_named_with_its_fault(old: str, new: str, word: str, tmp_path: Path):
    path = tmp_path / "broken" / "made_up.toml"
    path.parent.mkdir()
    path.write_text(GOOD, encoding="utf-8")
    assert read_case(path).hostile.score == 6
    assert GOOD.count(old) == 1
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=f"made_up.toml.*{word}"):
        read_case(path)


def test_the_course_holds_its_markers_in_hidden_parts_alone():
    from tests.hostile.cases import CANARIES, COURSE, SECRETS
    from tests.hostile.making import as_bytes, released

    for source in sorted(COURSE.glob("source/*/*.ipynb")):
        given_out = as_bytes(released(source)).decode()
        assert [word for word in SECRETS if word in given_out] == []
        assert any(word in source.read_text(encoding="utf-8") for word in SECRETS)
    assert set(CANARIES.values()) < set(SECRETS)
    texts = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("*/*.toml"))
    assert [word for word in SECRETS if word in texts] == []


def test_the_readme_shows_a_case_that_is_one():
    (shown,) = re.findall(r"```toml\n(.*?)```", (HERE / "README.md").read_text(encoding="utf-8"), re.S)
    assert tomllib.loads(shown) == tomllib.loads((HERE / "cheating" / "deleted_tests.toml").read_text(encoding="utf-8"))
