"""The registry of prompts: names without imports, one module a task, and a broken module that harms no other."""

from __future__ import annotations

import argparse
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
from ragkit.models.recording_cli import _asker, main
from ragkit.models.recording_tasks import Settings, prompts_of, recorded
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


def test_a_folder_is_a_module_too_and_its_parts_are_not(chapters: Path) -> None:
    folder = chapters / "folded"
    folder.mkdir()
    (folder / "__init__.py").write_text('from chapters_for_test.folded.part import f\nTASKS = {"folded": f}\n')
    (folder / "part.py").write_text("def f(): return [('q1', 'p')]\n")
    tasks = registry()
    assert list(tasks) == ["folded", "good", "raising"]
    assert tasks.module_of("folded") == "chapters_for_test.folded"
    assert list(tasks["folded"]()) == [("q1", "p")]
    assert list(tasks.broken) == ["chapters_for_test.torn"]


def test_an_annotated_dictionary_is_read_too() -> None:
    assert task_names("TASKS: dict[str, Prompts] = {'a': f, 'b': g}") == ["a", "b"]


def test_settings_name_tasks_of_their_module() -> None:
    for name in {TASKS.module_of(task) for task in TASKS}:
        module = importlib.import_module(name)
        assert set(getattr(module, "SETTINGS", {})) <= set(module.TASKS), name
    assert TASKS.settings("reader_gold").max_tokens == 24
    assert TASKS.settings("summaries") == Settings()
    assert TASKS.settings("continued_decompose").raw
    assert TASKS.settings("agent_shown") == Settings(64, begun="Thought:")


@pytest.mark.model
def test_no_answer_of_the_local_model_is_longer_than_its_task_allows() -> None:
    from ragkit.models.likelihood import token_ids

    long = [
        f"{task}/{record.item}: {count} tokens, {cap} allowed"
        for task in TASKS
        for settings in [TASKS.settings(task)]
        for cap in [settings.max_tokens]
        for record in recorded(task)
        if record.answerer == "135M"
        for count in [len(token_ids(record.response.removeprefix(settings.begun)))]
        if count > cap
    ]
    assert not long, "record again with the task's own limit: " + "; ".join(long[:5])


@pytest.mark.model
def test_a_record_is_what_the_local_model_says_under_the_settings_of_its_task() -> None:
    """One answer of each kind, the shortest, asked again: a chat turn under a limit, and a continued prompt."""
    for task in ("reader_gold", "continued_decompose"):
        rows = {record.item: record for record in recorded(task) if record.answerer == "135M"}
        prompts = {item: prompt for item, prompt in prompts_of(TASKS, task).items() if item in rows}
        item = min(prompts, key=lambda i: (len(prompts[i]), i))
        options = argparse.Namespace(address=None)
        name, ask = _asker(options, TASKS.settings(task))
        assert (rows[item].author, rows[item].response) == (name, ask(prompts[item]))


def test_rerecord_leaves_continued_tasks_out_where_a_server_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "asked_for_test.py").write_text(
        "from ragkit.models.recording_tasks import Settings\n"
        "class Both(dict):\n"
        "    def settings(self, task):\n"
        "        return Settings(7, raw=task == 'raw')\n"
        "TASKS = Both(chat=lambda: [('a', 'p')], raw=lambda: [('b', 'q')])\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    asked: list[int] = []

    def asker(options: argparse.Namespace, settings: Settings) -> tuple[str, object]:
        asked.append(settings.max_tokens)
        return "a server", lambda prompt: f"re: {prompt}"

    monkeypatch.setattr("ragkit.models.recording_cli._asker", asker)
    command = ["rerecord", "--tasks", "asked_for_test:TASKS", "--answerer", "hosted", "--folder", str(tmp_path)]
    assert main([*command, "--address", "http://127.0.0.1:1"]) == 0
    said = capsys.readouterr()
    assert "left out, as a server is asked in turns of a chat: raw" in said.err
    assert "1 answers recorded by 'hosted' (a server)" in said.out
    assert asked == [7]
    assert [r.response for r in recorded("chat", tmp_path)] == ["re: p"]
    assert main([*command, "--address", "http://127.0.0.1:1", "--max-tokens", "3"]) == 0
    assert asked == [7, 3]
    assert (
        main(["rerecord", "--tasks", "asked_for_test:TASKS", "--answerer", "135M", "--max-tokens", "0", *command[-2:]])
        == 0
    )
    assert asked[2] == 0, "a limit of 0 reaches the model, which refuses it"
