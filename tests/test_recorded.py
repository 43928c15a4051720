"""The registry of prompts: names without imports, one module a task, and a broken module that harms no other."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from ragkit.corpus.check import Minimums, check
from ragkit.corpus.records import Corpus
from ragkit.models import Record, record_key, write_records
from ragkit.models.recording_cli import main
from ragkit.recorded import TASKS, Tasks, task_names

GOOD = 'TASKS = {"good": lambda: [("q1", "What is red?")]}\n'


@pytest.fixture
def chapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of two modules, of which one cannot be imported, and one file that is no Python."""
    folder = tmp_path / "chapters_for_test"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from pathlib import Path\nfrom ragkit.recorded import Tasks\nTASKS = Tasks(__name__, Path(__file__).parent)\n"
    )
    (folder / "good.py").write_text(GOOD)
    (folder / "raises.py").write_text('import no_such_library\nTASKS = {"raising": list}\n')
    (folder / "torn.py").write_text("TASKS = {\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.startswith("chapters_for_test")]:
        del sys.modules[name]


def registry() -> Tasks:
    tasks = importlib.import_module("chapters_for_test").TASKS
    assert isinstance(tasks, Tasks)
    return tasks


def test_every_task_is_where_its_name_was_read() -> None:
    assert TASKS.broken == {}
    for task in TASKS:
        module = importlib.import_module(TASKS.module_of(task))
        assert TASKS[task] is module.TASKS[task]
    modules = {TASKS.module_of(task) for task in TASKS}
    assert len(TASKS) == sum(len(importlib.import_module(name).TASKS) for name in modules)


def test_names_are_listed_without_an_import_and_one_task_loads_one_module() -> None:
    code = (
        "import sys; from ragkit.recorded import TASKS\n"
        "def loaded(): return sorted(m for m in sys.modules if m.startswith('ragkit.recorded.'))\n"
        "assert 'rewrite' in TASKS and len(list(TASKS)) == len(TASKS) > 20 and not loaded()\n"
        "TASKS['rewrite']; print(loaded())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['ragkit.recorded.queries']\n"


def test_a_broken_module_breaks_its_own_tasks_alone(chapters: Path) -> None:
    tasks = registry()
    assert list(tasks) == ["good", "raising"]
    assert list(tasks["good"]()) == [("q1", "What is red?")]
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        tasks["raising"]
    with pytest.raises(KeyError):
        tasks["never"]
    assert list(tasks.broken) == ["chapters_for_test.torn"]
    assert tasks.broken["chapters_for_test.torn"].startswith("SyntaxError")


def test_the_listing_names_what_is_broken_with_its_error(
    chapters: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["missing", "chapters_for_test:TASKS", "--folder", str(tmp_path / "none")]
    assert main(command) == 1
    said = capsys.readouterr()
    assert "good  q1  key" in said.out
    assert "chapters_for_test.torn  cannot be listed: SyntaxError" in said.err
    assert "raising  cannot be listed: ModuleNotFoundError: No module named 'no_such_library'" in said.err
    assert main([*command, "--only", "good"]) == 1, "one prompt has no answer"


def test_the_corpus_check_names_what_is_broken_and_checks_the_rest(chapters: Path, tmp_path: Path) -> None:
    for task, prompt in (("good", "What is red?"), ("raising", "p")):
        record = Record(task, "q1", record_key(prompt), "hand", "us", date(2026, 1, 1), "Red.")
        write_records(task, [record], tmp_path / "recordings")
    faults = check(Corpus(tmp_path, [], [], []), Minimums(*[0] * len(Minimums._fields)), registry())
    assert [(fault.kind, fault.where) for fault in faults] == [
        ("prompts", "chapters_for_test.torn"),
        ("prompts", "raising"),
    ]


def test_a_name_claimed_twice_is_refused(chapters: Path) -> None:
    (chapters / "second.py").write_text(GOOD)
    with pytest.raises(ValueError, match=r"'good' is defined twice: in chapters_for_test.good and in .*second"):
        len(registry())


@pytest.mark.parametrize("source", ["", "TASKS = make()", "TASKS = {**others}", "TASKS = {name: f}", "TASKS = {1: f}"])
def test_names_that_are_not_written_out_are_refused(source: str) -> None:
    with pytest.raises(ValueError, match="TASKS"):
        task_names(source)


def test_an_annotated_dictionary_is_read_too() -> None:
    assert task_names("TASKS: dict[str, Prompts] = {'a': f, 'b': g}") == ["a", "b"]
