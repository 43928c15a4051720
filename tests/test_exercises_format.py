"""The exercises: the sources keep their form, and what students get is made from them and gives nothing away."""

import ast
import importlib
import json
import math
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nbformat import reads, validate
from nbgrader.apps import NbGraderAPI
from nbgrader.nbgraderformat import MetadataValidator
from traitlets.config.loader import PyFileConfigLoader

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "solutions").glob("*/*.ipynb"))
NAMES = [path.stem for path in SOURCES]
LAZY = {"None": None, "zero": 0, "an empty list": [], "an empty dictionary": {}}
MARKS = re.compile(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS)")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")


def text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def mark(cell: dict[str, Any]) -> dict[str, Any]:
    return cell["metadata"].get("nbgrader", {"grade": False, "solution": False, "grade_id": ""})


def notebook(name: str, folder: str = "solutions") -> dict[str, Any]:
    return json.loads((ROOT / folder / name / f"{name}.ipynb").read_text(encoding="utf-8"))


def answers(name: str, folder: str = "solutions") -> list[dict[str, Any]]:
    return [c for c in notebook(name, folder)["cells"] if mark(c)["solution"] and c["cell_type"] == "code"]


def checks(name: str) -> list[dict[str, Any]]:
    return [cell for cell in notebook(name)["cells"] if mark(cell)["grade"] and not mark(cell)["solution"]]


def graded_by_code() -> list[str]:
    return [name for name in NAMES if checks(name)]


def hidden(cell: dict[str, Any]) -> bool:
    return "BEGIN HIDDEN TESTS" in text(cell)


def failures(name: str, answer: str, seed: int | None = None) -> dict[str, BaseException]:
    """Each test cell in a namespace of its own, after the answer alone; gives the errors of those that fail."""
    failed: dict[str, BaseException] = {}
    for cell in checks(name):
        space: dict[str, Any] = {"__name__": "answer"}
        source = text(cell) if seed is None else re.sub(r"\bseed = \d+", f"seed = {seed}", text(cell))
        with np.errstate(all="ignore"):
            try:
                exec(compile(answer, "answer", "exec"), space)
                exec(compile(source, mark(cell)["grade_id"], "exec"), space)
            except Exception as problem:
                failed[mark(cell)["grade_id"]] = problem
    return failed


def solution(name: str) -> str:
    return "\n\n".join(text(cell) for cell in answers(name))


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every exercise made anew with the repository's own configuration, in a folder of its own."""
    course = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "solutions", course / "solutions", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
    config.CourseDirectory.root = str(course)
    config.CourseDirectory.db_url = f"sqlite:///{course}/gradebook.db"
    api = NbGraderAPI(config=config)
    for name in NAMES:
        result = api.generate_assignment(name, force=True, create=True)
        assert result["success"], result.get("log", "") + result.get("error", "")
    return course / "exercises"


# What is in the tree


def test_every_exercise_has_one_notebook_of_its_own_name():
    assert [path.parent.name for path in SOURCES] == NAMES
    assert sorted(path.name for path in (ROOT / "solutions").iterdir() if path.is_dir()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_exercise_is_current(released: Path, name: str):
    made = (released / name / f"{name}.ipynb").read_bytes()
    committed = ROOT / "exercises" / name / f"{name}.ipynb"
    assert committed.is_file(), f"exercises/{name} is missing: run `make exercises`"
    assert committed.read_bytes() == made, f"exercises/{name}/{name}.ipynb is stale: run `make exercises`"


def test_nothing_but_made_notebooks_is_in_exercises(released: Path):
    made = {path.relative_to(released) for path in released.rglob("*") if path.is_file()}
    kept = {
        path.relative_to(ROOT / "exercises")
        for path in (ROOT / "exercises").rglob("*")
        if path.is_file() and not {".ipynb_checkpoints", "__pycache__"} & set(path.parts)
    }
    assert kept == made, "exercises/ holds something that solutions/ does not give"


def test_a_changed_source_is_noticed(released: Path):
    """The comparison itself can fail: one letter in a contract makes another exercise."""
    path = ROOT / "exercises" / "interleave" / "interleave.ipynb"
    assert path.read_bytes() != (released / "interleave" / "interleave.ipynb").read_bytes().replace(
        b"turns", b"turn", 1
    )


def test_no_gradebook_in_the_tree():
    assert not list(ROOT.glob("gradebook.db*")) + list((ROOT / "solutions").rglob("*.db*"))


# What students get


@pytest.mark.parametrize("name", NAMES)
def test_no_solution_or_hidden_test_is_released(released: Path, name: str):
    raw = (released / name / f"{name}.ipynb").read_text(encoding="utf-8")
    assert not MARKS.search(raw)
    out = {line.strip() for cell in json.loads(raw)["cells"] for line in text(cell).split("\n")}
    secret, shown = set(), set()
    for cell in notebook(name)["cells"]:
        inside = mark(cell)["solution"] and not MARKS.search(text(cell))
        for line in text(cell).split("\n"):
            if MARKS.search(line):
                inside = line.count("BEGIN") > 0
            else:
                (secret if inside else shown).add(line.strip())
    telling = {line for line in secret - shown if len(line) > 12}
    assert telling, "the source has nothing to hide: the test looks at the wrong thing"
    assert not telling & out


@pytest.mark.parametrize("name", graded_by_code())
def test_each_stub_raises_with_its_name(released: Path, name: str):
    cells = json.loads((released / name / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    stubs = [cell for cell in cells if mark(cell)["solution"] and cell["cell_type"] == "code"]
    assert stubs
    for cell in stubs:
        raised = [
            ast.unparse(node.exc)
            for node in ast.walk(ast.parse(text(cell)))
            if isinstance(node, ast.Raise) and node.exc
        ]
        assert set(raised) == {f"NotImplementedError('{mark(cell)['grade_id']}')"}, mark(cell)["grade_id"]


@pytest.mark.parametrize("name", graded_by_code())
def test_stub_keeps_signature_and_docstring(released: Path, name: str):
    def face(source: str) -> dict[str, str]:
        found = {}
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_unit"):
                doc = ast.get_docstring(node)
                found[node.name] = (
                    f"{ast.unparse(node.args)} -> {ast.unparse(node.returns) if node.returns else ''} {doc}"
                )
        return found

    cells = json.loads((released / name / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    stub = "\n\n".join(text(c) for c in cells if mark(c)["solution"] and c["cell_type"] == "code")
    for function, described in face(stub).items():
        assert face(solution(name))[function] == described
        assert not described.endswith(" None") or function == "__init__", f"{function} has no docstring"
        assert " -> " in described
        assert described.split(" -> ")[1].strip(), f"{function} is not typed"


@pytest.mark.parametrize("name", graded_by_code())
def test_stub_and_empty_answers_earn_nothing(released: Path, name: str):
    points = {mark(cell)["grade_id"]: mark(cell)["points"] for cell in checks(name)}
    paying = {test for test, worth in points.items() if worth}
    cells = json.loads((released / name / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    stubs = [text(c) for c in cells if mark(c)["solution"] and c["cell_type"] == "code"]
    functions = [cell for cell in stubs if "def " in cell]
    assert set(failures(name, "\n\n".join(functions))) == set(points), "an answer that was not begun passes a test"
    for what, value in LAZY.items():
        lazy = "\n\n".join(re.sub(r"raise NotImplementedError\(.*\)", f"return {value!r}", cell) for cell in functions)
        lazy = lazy.replace("-> None:", "-> object:").replace(f'upwards."""\n        return {value!r}', 'upwards."""')
        assert paying <= set(failures(name, lazy)), f"an answer that returns {what} earns points"


# What the sources are like


@pytest.mark.parametrize("name", NAMES)
def test_source_form(name: str):
    path = ROOT / "solutions" / name / f"{name}.ipynb"
    raw = path.read_text(encoding="utf-8")
    found = reads(raw, as_version=4)
    validate(found)
    MetadataValidator().validate_nb(found)
    book = json.loads(raw)
    assert raw == json.dumps(book, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "not as Jupyter saves it"
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert book["metadata"]["kernelspec"]["name"] == "python3"
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    for cell in book["cells"]:
        assert isinstance(cell["source"], list)
        assert all(line.endswith("\n") for line in cell["source"][:-1])
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
        if "nbgrader" in cell["metadata"]:
            assert mark(cell)["schema_version"] == 3
            assert mark(cell)["locked"] == (not mark(cell)["solution"])
            if not mark(cell)["solution"]:
                assert cell["metadata"]["editable"] is False


@pytest.mark.parametrize("name", NAMES)
def test_metadata_is_complete_and_points_add_up(name: str):
    book = notebook(name)
    about = book["metadata"]["exercise"]
    needed = {"title", "difficulty", "minutes", "points", "chapter", "functions", "forbidden"}
    assert needed <= set(about)
    assert about["difficulty"] in ("easy", "medium", "hard")
    assert about["points"] == sum(mark(cell).get("points", 0) for cell in book["cells"])
    intro = text(book["cells"][0])
    assert intro.startswith(f"# {about['title']}\n")
    for fact in (about["difficulty"], f"{about['minutes']} minutes", f"**points** {about['points']}"):
        assert fact in intro
    assert "## The contract" in intro or "## Part 1" in intro
    assert "## Worked example" in intro


@pytest.mark.parametrize("name", graded_by_code())
def test_cells_are_named_after_what_they_hold(name: str):
    functions = notebook(name)["metadata"]["exercise"]["functions"]
    ids = {mark(cell)["grade_id"] for cell in answers(name)}
    assert ids - {f"{name}-numbers"} == set(functions)
    for cell in answers(name):
        defined = [n.name for n in ast.parse(text(cell)).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
        assert defined[:1] == ([] if mark(cell)["grade_id"].endswith("-numbers") else [mark(cell)["grade_id"]])
    for cell in checks(name):
        assert re.fullmatch(rf"test-({'|'.join([*functions, name])})-\w+", mark(cell)["grade_id"])


def reference(name: str, function: str) -> str:
    """The module of the package that holds the reference answer: "interleave" -> "ragkit.search.fusion"."""
    forbidden = notebook(name)["metadata"]["exercise"]["forbidden"]
    found = [dotted for dotted in forbidden if dotted.endswith(f".{function}") and dotted.count(".") == 3]
    assert len(found) == 1, f"{function}: name the one place of its reference answer"
    return found[0].rpartition(".")[0]


@pytest.mark.parametrize("name", graded_by_code())
def test_reference_in_the_package_is_forbidden_and_passes(name: str):
    """Two answers written apart agree: the package's own function passes every test of the exercise."""
    lines = []
    for function in notebook(name)["metadata"]["exercise"]["functions"]:
        module = reference(name, function)
        assert hasattr(importlib.import_module(module), function), f"{module}.{function} is no name of the package"
        lines.append(f"from {module} import {function}")
    numbers = [text(cell) for cell in answers(name) if mark(cell)["grade_id"].endswith("-numbers")]
    assert failures(name, "\n".join([*lines, *numbers])) == {}


@pytest.mark.parametrize("name", graded_by_code())
def test_test_cells_keep_the_rules(name: str):
    """Fixed messages (so none can print what was expected), plain imports, everything local, plain data passed."""
    functions = set(notebook(name)["metadata"]["exercise"]["functions"])
    for cell in checks(name):
        where, tree = mark(cell)["grade_id"], ast.parse(text(cell))
        body = [
            node for node in tree.body if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant)
        ]
        assert [type(node) for node in body] == [ast.FunctionDef, ast.Expr], f"{where}: something is not local"
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert):
                assert isinstance(node.msg, ast.Constant), f"{where}: an assertion has no fixed message"
                assert len(node.msg.value) > 20, f"{where}: {node.msg.value!r} says too little"
                assert node.msg.value[-1] in ".?)", where
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0]
                assert module == "numpy" or module in sys.stdlib_module_names, where
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in functions:
                assert not any(isinstance(a, ast.Lambda | ast.GeneratorExp) for a in node.args), where
                assert not node.keywords, f"{where}: arguments are passed by position"
        if hidden(cell):
            lines = text(cell).split("\n")
            assert lines[0].startswith("# Hidden test. ")
            assert lines[1] == "### BEGIN HIDDEN TESTS"
            assert lines[-1] == "### END HIDDEN TESTS"
            assert "seed = " in text(cell) or f"test-{name}-" in where, f"{where}: random inputs need a seed"


@pytest.mark.parametrize("name", graded_by_code())
def test_visible_and_hidden_tests_share_the_work(name: str):
    kinds = [(hidden(cell), mark(cell)["points"]) for cell in checks(name)]
    assert sum(points for secret, points in kinds if not secret) >= 4
    assert 3 <= sum(points for secret, points in kinds if secret) <= 6
    assert kinds[0] == (False, 0), "the first test is a free diagnosis of form"
    assert max(points for _, points in kinds) <= 3


# The solutions, and the tests as tests


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
@pytest.mark.parametrize("name", graded_by_code())
def test_solution_passes_each_test_alone(name: str, seed: int | None):
    assert failures(name, solution(name), seed) == {}


@pytest.mark.parametrize("name", graded_by_code())
def test_notebook_runs_from_top_to_bottom(name: str, capsys: pytest.CaptureFixture[str]):
    space: dict[str, Any] = {}
    for cell in notebook(name)["cells"]:
        if cell["cell_type"] == "code":
            exec(compile(text(cell), cell["id"], "exec"), space)


@pytest.mark.parametrize("name", graded_by_code())
def test_docstring_examples_hold(name: str):
    import doctest

    space: dict[str, Any] = {}
    exec(compile(solution(name), name, "exec"), space)
    for function in notebook(name)["metadata"]["exercise"]["functions"]:
        cases = doctest.DocTestFinder().find(space[function], function, globs=dict(space), module=False)
        assert sum(len(case.examples) for case in cases), f"{function} shows no example"
        for case in cases:
            assert doctest.DocTestRunner(verbose=False).run(case).failed == 0


GAPS = '''
import math

class SemanticCache(Answer):
    """The solution, and beside it every cosine compared with the threshold and with the best."""

    def __init__(self, threshold):
        super().__init__(threshold)
        self.level, self.seen = threshold, []

    def put(self, vec, answer):
        super().put(vec, answer)
        self.seen.append([float(x) for x in vec])

    def get(self, vec):
        asked = [float(x) for x in vec]
        cosines = [
            math.fsum(x / math.hypot(*v) * (y / math.hypot(*asked)) for x, y in zip(v, asked))
            for v in self.seen if any(v) and any(asked)
        ]
        for cosine in cosines:
            for difference in (abs(cosine - self.level), abs(cosine - max(cosines))):
                if 1e-12 < difference < 1e-8:
                    raise ArithmeticError(f"a gap of {difference}")
        return super().get(vec)
'''


@pytest.mark.parametrize("seed", [None, 4, 5, 6])
def test_semantic_cache_tests_keep_away_from_undecided_gaps(seed: int | None):
    """The contract promises it: no cosine within 1e-12 to 1e-8 of the threshold or of the best one."""
    watched = f"{solution('semantic_cache')}\nAnswer = SemanticCache\n{GAPS}"
    assert failures("semantic_cache", watched, seed) == {}
    close = watched + "\ncache = SemanticCache(0.5)\ncache.put([1, 0], 1)\ncache.put([1, 1e-4 + 1e-10], 2)\n"
    assert math.isclose(1 - 1 / math.hypot(1, 1e-4), 5e-9, rel_tol=1e-3)
    with pytest.raises(ArithmeticError):
        exec(compile(close + "cache.get([1, 0])", "close", "exec"), {})


# The submissions that test the tests


def submissions(kind: str) -> list[Path]:
    return sorted((ROOT / "tests" / "submissions").glob(f"*/{kind}_*.py"))


def must_fail(path: Path) -> set[str]:
    """The docstring's last line, "Fails: test-a, test-b" -> {"test-a", "test-b"}."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    found = re.search(r"^Fails: (.+)\Z", doc, re.MULTILINE | re.DOTALL)
    assert found, f"{path.name}: the docstring has no line that begins with Fails:"
    return set(re.split(r"[\s,]+", found.group(1).strip()))


@pytest.mark.parametrize("name", graded_by_code())
def test_each_exercise_has_its_submissions(name: str):
    wrong = [path for path in submissions("wrong") if path.parent.name == name]
    right = [path for path in submissions("right") if path.parent.name == name]
    assert len(wrong) >= 8
    assert len(right) >= 2
    ids = {mark(cell)["grade_id"] for cell in checks(name)}
    named = set().union(*map(must_fail, wrong))
    assert named <= ids
    assert ids == named, f"no wrong answer is known to fail {sorted(ids - named)}"


@pytest.mark.parametrize("path", submissions("right"), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_right_answers_of_another_kind_pass_with_other_inputs(path: Path):
    assert failures(path.parent.name, path.read_text(encoding="utf-8"), seed=7) == {}


@pytest.mark.parametrize("path", submissions("wrong"), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_wrong_answers_fail_by_name_with_other_inputs(path: Path):
    failed = failures(path.parent.name, path.read_text(encoding="utf-8"), seed=8)
    assert must_fail(path) <= set(failed)
    points = {mark(cell)["grade_id"]: mark(cell)["points"] for cell in checks(path.parent.name)}
    assert any(points[test] for test in failed), "the slip costs nothing"
