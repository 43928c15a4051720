"""Recordings: looked up by the prompt's hash, loud on a miss, stable on disk, mended by commands."""

from __future__ import annotations

import datetime
import hashlib
import io
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.models import Record, Recording, RecordingMiss, StandIn, read_records, record_key, write_records
from ragkit.models.recording_cli import main
from ragkit.models.recording_runs import rerecord, run_log
from ragkit.models.recording_tasks import load_tasks, missing, prompts_of, rekey, stale

DAY = datetime.date(2026, 11, 29)
CONVERSATION = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]

TASKS = {
    "one": lambda: [("q1", "What is red?"), ("q2", "What is blue?")],
    "two": lambda: [("q1", CONVERSATION)],
}
"""What the command line is pointed at: ``tests.test_models_recording:TASKS``."""
HERE = "tests.test_models_recording:TASKS"


def row(item: str, prompt: str, response: str = "An answer.", answerer: str = "hand", **more: Any) -> Record:
    return Record("one", item, record_key(prompt), answerer, "us", DAY, response, **more)


def test_the_key_is_the_first_16_hex_digits_of_the_sha256() -> None:
    assert record_key("Grüße") == hashlib.sha256("Grüße".encode()).hexdigest()[:16]


def test_each_answerer_has_his_own_answer_to_one_prompt(tmp_path: Path) -> None:
    write_records("one", [row("q1", "p", "by hand"), row("q1", "p", "by model", "135M")], tmp_path)
    assert Recording("one", folder=tmp_path)("p") == "by hand"
    assert Recording("one", "135M", tmp_path)("p") == "by model"
    with pytest.raises(RecordingMiss, match="It was answered by: 135M, hand"):
        Recording("one", "hosted", tmp_path)("p")


def test_a_miss_shows_the_prompt_its_key_the_nearest_items_and_the_command(tmp_path: Path) -> None:
    rows = [
        row("kettle", "a", "The red kettle."),
        row("earbuds", "b", "Silicone tips."),
        row("shop", "c", "Riverside."),
    ]
    write_records("one", rows, tmp_path)
    prompt = "Which kettle is red?\n" + "context " * 2000
    with pytest.raises(RecordingMiss) as caught:
        Recording("one", folder=tmp_path)(prompt)
    text = str(caught.value)
    assert prompt in text
    assert record_key(prompt) in text
    assert text.index("  kettle  key") < text.index("  shop  key")
    assert f"add --task one --item ITEM --key {record_key(prompt)}" in text
    assert caught.value.prompt == prompt
    with pytest.raises(RecordingMiss, match="rerecord --tasks MODULE:TASKS --only one --answerer 135M"):
        Recording("one", "135M", tmp_path)(prompt)


def test_a_task_without_a_file_misses_and_runs_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ragkit.models.local

    monkeypatch.setattr(ragkit.models.local, "_start", lambda *a: pytest.fail("a model was started"))
    monkeypatch.setenv("RAGKIT_LLM", "http://127.0.0.1:9")
    with pytest.raises(RecordingMiss, match="no records"):
        Recording("never", folder=tmp_path)("p")


def test_one_changed_character_of_the_prompt_is_a_miss(tmp_path: Path) -> None:
    write_records("one", [row("q1", "What is red?")], tmp_path)
    llm = Recording("one", folder=tmp_path)
    assert llm("What is red?") == "An answer."
    for other in ("What is red? ", "what is red?", "What is red?\n"):
        with pytest.raises(RecordingMiss):
            llm(other)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def test_a_carriage_return_survives_the_file(tmp_path: Path) -> None:
    given = row("q1", "What is red?", "one\r\ntwo\rthree\n", note="\r\n")
    write_records("one", [given], tmp_path)
    assert read_records("one", tmp_path) == [given]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(texts.filter(bool), texts, texts, texts), max_size=6, unique_by=lambda t: t[1]))
def test_what_is_written_is_read_back_character_for_character(entries: list[tuple[str, str, str, str]]) -> None:
    rows = [row(item, prompt, response, note=note) for item, prompt, response, note in entries]
    with tempfile.TemporaryDirectory() as folder:
        paths = write_records("one", rows, folder)
        if not rows:
            assert paths == []
            return
        again = read_records("one", folder)
        assert sorted(map(repr, again)) == sorted(map(repr, rows))
        before = paths[0].read_bytes()
        write_records("one", again[::-1], folder)
        assert paths[0].read_bytes() == before


def test_a_new_record_changes_no_other_line(tmp_path: Path) -> None:
    rows = [row(f"q{i}", f"p{i}", f"first line\nsecond line of {i}\n") for i in (1, 3, 5)]
    [path] = write_records("one", rows, tmp_path)
    before = path.read_text(encoding="utf-8")
    write_records("one", [*rows, row("q2", "p2", "short")], tmp_path)
    after = path.read_text(encoding="utf-8").splitlines()
    added = "\n".join(line for line in after if line not in before.splitlines())
    assert "q2" in added
    assert len(after) == len(before.splitlines()) + 9
    assert "second line of 3\n" in before, "a long answer is written over several lines"
    assert "[[record]]\ntask = " in before


def test_a_big_task_is_a_folder_with_a_file_for_each_answerer(tmp_path: Path) -> None:
    rows = [row("q1", "p", "by hand"), row("q1", "p", "by model", "135M")]
    write_records("one", rows, tmp_path)
    (tmp_path / "one").mkdir()
    paths = write_records("one", rows, tmp_path)
    assert [path.name for path in paths] == ["135M.toml", "hand.toml"]
    assert not (tmp_path / "one.toml").exists()
    assert Recording("one", "135M", tmp_path)("p") == "by model"
    write_records("one", rows[:1], tmp_path)
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["hand.toml"]


def test_two_answers_by_one_answerer_under_one_key_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="gives two answers under the key"):
        write_records("one", [row("q1", "p", "yes"), row("q2", "p", "no")], tmp_path)
    write_records("one", [row("q1", "p", "yes"), row("q2", "p", "yes")], tmp_path)
    assert Recording("one", folder=tmp_path)("p") == "yes"


@pytest.mark.parametrize(
    "text", ["[[record", "[[record]]\nitem = 'x'\n", "[[record]]\nsurprise = 1\n", "[[record]]\ntask = 'other'\n"]
)
def test_a_damaged_file_names_itself(tmp_path: Path, text: str) -> None:
    (tmp_path / "one.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"one\.toml is not a recording"):
        Recording("one", folder=tmp_path)("p")


def test_a_record_of_another_task_is_refused(tmp_path: Path) -> None:
    [path] = write_records("one", [row("q1", "p")], tmp_path)
    path.rename(tmp_path / "two.toml")
    with pytest.raises(ValueError, match="of the task 'one', in the recording of 'two'"):
        Recording("two", folder=tmp_path)("p")


@pytest.mark.parametrize(
    "change",
    [
        {"task": "../up"}, {"answerer": "GPT"}, {"key": "short"}, {"item": ""}, {"author": ""}, {"response": None},
        {"date": "2026-11-29"}, {"date": datetime.datetime(2026, 11, 29)},
    ],
)  # fmt: skip
def test_a_record_with_a_wrong_field_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        replace(row("q1", "p"), **change)


def test_recording_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="answerer must be one of"):
        Recording("one", "GPT")
    with pytest.raises(ValueError, match="task must be"):
        Recording("a/b")


def test_missing_and_stale_compare_records_with_the_code(tmp_path: Path) -> None:
    write_records("one", [row("q1", "What is red?"), row("q9", "What was green?")], tmp_path)
    assert [(task, item) for task, item, _ in missing(TASKS, folder=tmp_path)] == [("one", "q2"), ("two", "q1")]
    assert [record.item for record in stale(TASKS, tmp_path)] == ["q9"]
    assert missing(TASKS, folder=tmp_path, only=["two"])[0][2] == CONVERSATION
    with pytest.raises(ValueError, match="unknown task 'three'"):
        missing(TASKS, only=["three"])


def test_rekey_moves_hand_answers_to_their_new_prompts_and_says_so(tmp_path: Path) -> None:
    old = [row("q1", "old 1", "red"), row("q2", "old 2", "blue", note="short"), row("q1", "old 1", "m", "135M")]
    write_records("one", old, tmp_path)
    assert rekey(TASKS, tmp_path, today=DAY) == 2
    assert Recording("one", folder=tmp_path)("What is red?") == "red"
    with pytest.raises(RecordingMiss):
        Recording("one", "135M", tmp_path)("What is red?")
    notes = {r.item: r.note for r in read_records("one", tmp_path) if r.answerer == "hand"}
    assert notes["q1"] == f"filed under a new prompt on 2026-11-29, before under {record_key('old 1')}"
    assert notes["q2"].startswith("short; filed")
    assert rekey(TASKS, tmp_path) == 0


def test_rerecord_asks_every_prompt_and_replaces_only_its_own_answers(tmp_path: Path) -> None:
    write_records("one", [row("q1", "What is red?", "hand"), row("q1", "old", "stale", "135M")], tmp_path)
    llm = StandIn(lambda prompt: f"[{prompt}]")
    assert rerecord(TASKS, llm, "135M", "a model", tmp_path) == 3
    assert {(r.item, r.answerer, r.response) for r in read_records("one", tmp_path)} == {
        ("q1", "hand", "hand"), ("q1", "135M", "[What is red?]"), ("q2", "135M", "[What is blue?]"),
    }  # fmt: skip
    assert Recording("two", "135M", tmp_path).chat(CONVERSATION).startswith("[[{")
    assert rerecord(TASKS, llm, "135M", "a model", tmp_path, gaps_only=True) == 0
    with pytest.raises(ValueError, match="written by people"):
        rerecord(TASKS, llm, "hand", "us", tmp_path)


def test_an_interrupted_rerecord_keeps_what_was_answered_and_goes_on(tmp_path: Path) -> None:
    write_records("one", [row("q2", "What is blue?", "of old", "135M")], tmp_path)
    with pytest.raises(LookupError):
        rerecord(TASKS, StandIn({"What is red?": "red"}), "135M", "a model", tmp_path)
    assert {r.item: r.response for r in read_records("one", tmp_path)} == {"q1": "red", "q2": "of old"}
    rest = StandIn(lambda prompt: "later")
    assert rerecord(TASKS, rest, "135M", "a model", tmp_path) == 2
    assert rest.prompts[0] == "What is blue?", "what this run had answered is not asked again, the older answer is"
    assert {r.item: r.response for r in read_records("one", tmp_path)} == {"q1": "red", "q2": "later"}
    assert not list(tmp_path.glob("*.log"))
    assert rerecord(TASKS, StandIn(lambda prompt: "new"), "135M", "a model", tmp_path) == 3, "that run was over"


KILLED = """
import sys, time
from pathlib import Path
from ragkit.models.recording_runs import rerecord, run_log

def llm(prompt):
    if prompt == "p3":
        print("asked p3", flush=True)
        time.sleep(60)
    return f"answer to {prompt}"

rerecord({"many": lambda: [(f"q{i}", f"p{i}") for i in range(6)]}, llm, "135M", "a model", Path(sys.argv[1]))
"""


def test_a_killed_run_loses_only_the_answer_under_way(tmp_path: Path) -> None:
    """SIGKILL runs no ``finally``: what is not on disk at that moment is gone."""
    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "asked p3\n"
        run.kill()
    assert run.returncode != 0
    assert [r.item for r in read_records("many", tmp_path)] == ["q0", "q1", "q2"]
    llm = StandIn(lambda prompt: f"answer to {prompt}")
    tasks = {"many": lambda: [(f"q{i}", f"p{i}") for i in range(6)]}
    assert rerecord(tasks, llm, "135M", "a model", tmp_path) == 3
    assert llm.prompts == ["p3", "p4", "p5"]
    assert {r.response for r in read_records("many", tmp_path)} == {f"answer to p{i}" for i in range(6)}
    assert [path.name for path in tmp_path.iterdir()] == ["many.toml"]


def test_a_broken_run_by_somebody_else_is_not_gone_on_with(tmp_path: Path) -> None:
    with pytest.raises(LookupError):
        rerecord(TASKS, StandIn({"What is red?": "red"}), "135M", "a model", tmp_path, only=["one"])
    assert run_log("one", "135M", tmp_path).read_text() == f"a model\n{record_key('What is red?')}\n"
    assert rerecord(TASKS, StandIn(lambda p: "x"), "135M", "another model", tmp_path, only=["one"]) == 2
    assert {r.author for r in read_records("one", tmp_path)} == {"another model"}


def test_two_items_with_one_prompt_share_one_answer(tmp_path: Path) -> None:
    llm = StandIn(lambda prompt: f"{len(llm.prompts)}")
    assert rerecord({"one": lambda: [("a", "p"), ("b", "p")]}, llm, "135M", "a model", tmp_path) == 1
    assert Recording("one", "135M", tmp_path)("p") == "1"


def test_missing_names_a_task_that_fails_and_lists_the_others(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> list[tuple[str, str]]:
        raise ZeroDivisionError("no figures")

    monkeypatch.setitem(TASKS, "zero", broken)  # type: ignore[arg-type]
    assert main(["missing", HERE, "--folder", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert "one  q1  key" in said.out
    assert "zero  cannot be listed: ZeroDivisionError: no figures" in said.err


def test_an_item_with_two_prompts_is_refused() -> None:
    with pytest.raises(ValueError, match="two different prompts"):
        prompts_of({"one": lambda: [("q", "a"), ("q", "b")]}, "one")


def test_the_command_line(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ["--folder", str(tmp_path)]
    assert main(["missing", HERE, "--prompts", *folder]) == 1
    said = capsys.readouterr()
    assert "What is blue?" in said.out
    assert "3 prompts have no answer by 'hand'" in said.err
    for task, prompts in (("one", {"q1": "What is red?", "q2": "What is blue?"}), ("two", {"q1": None})):
        for item, prompt in prompts.items():
            from ragkit.models import chat_prompt

            key = record_key(prompt or chat_prompt(CONVERSATION))
            monkeypatch.setattr(sys, "stdin", io.StringIO("An answer\nof two lines.\n"))
            assert main(["add", "--task", task, "--item", item, "--key", key, *folder]) == 0
    assert Recording("one", folder=tmp_path)("What is red?") == "An answer\nof two lines."
    assert main(["missing", HERE, *folder]) == 0
    assert main(["show", record_key("What is red?")[:8], *folder]) == 0
    assert "by hand (course authors)" in capsys.readouterr().out
    assert main(["show", "0000", *folder]) in (0, 1)
    assert main(["rekey", HERE, *folder]) == 0
    assert main(["rekey", "no.such.module:TASKS", *folder]) == 2
    assert main(["rerecord", "--tasks", HERE, "--answerer", "hosted", *folder]) == 2
    assert "needs --address" in capsys.readouterr().err


def test_the_module_runs_as_a_command_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "ragkit.models.recording", "show", "abc", "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "no record's key begins with abc\n")


@pytest.mark.model
def test_rerecord_with_the_local_model(tmp_path: Path) -> None:
    command = ["rerecord", "--tasks", HERE, "--answerer", "135M", "--max-tokens", "4", "--folder", str(tmp_path)]
    assert main(command) == 0
    rows = read_records("one", tmp_path)
    assert {(r.answerer, r.author) for r in rows} == {("135M", "SmolLM2-135M-Instruct")}
    from ragkit.models import Local

    assert Recording("one", "135M", tmp_path)("What is red?") == Local(max_tokens=4)("What is red?")


def test_the_import_string_of_tasks_is_checked() -> None:
    assert load_tasks(HERE).keys() == TASKS.keys()
    with pytest.raises(ValueError, match="MODULE:NAME"):
        load_tasks("tests.test_models_recording")
    with pytest.raises(ValueError, match="must map a task"):
        load_tasks("tests.test_models_recording:DAY")
