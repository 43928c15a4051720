"""Records: what they hold, when they count, and what becomes of them in bad hands."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading import pins as pins_module
from grading.pins import grader_sha256, pins, pins_sha256
from grading.record import LARGEST, STRENGTH, Record, from_json, read_record, record_path, write_record
from grading.running.plan import CellError, CellRun, Level, Limits, Line, Status
from grading.storing import file_name, whole
from grading.verdict import ManualPart, Scope, TestVerdict, Verdict

TEXT = st.text(max_size=12)
ANY_TEXT = st.text(st.characters(codec=None), max_size=12)  # halves of surrogate pairs among them
NUMBER = st.floats(0, 1e6) | st.integers(0, 100)
LINE = st.builds(Line, TEXT, st.integers(0, 99), TEXT, TEXT, st.integers(0, 99))
ERROR = st.builds(CellError, TEXT, TEXT, st.lists(LINE, max_size=2).map(tuple), st.booleans())
CELL = st.builds(CellRun, TEXT, st.booleans(), st.none() | ERROR, TEXT)
STATUS = st.sampled_from(get_args(Status))
HASH = st.text("0123456789abcdef", min_size=8, max_size=8)


def verdicts(text: st.SearchStrategy[str] = TEXT) -> st.SearchStrategy[Verdict]:
    lines = st.lists(LINE, max_size=2).map(tuple)
    test = st.builds(TestVerdict, TEXT, NUMBER, NUMBER, STATUS, text, lines, st.booleans(), st.booleans(), NUMBER)
    return st.builds(
        Verdict,
        exercise=TEXT,
        status=STATUS,
        message=text,
        score=NUMBER,
        max_score=NUMBER,
        tests=st.lists(test, max_size=3).map(tuple),
        notes=st.lists(text, max_size=2).map(tuple),
        cells=st.lists(CELL, max_size=2).map(tuple),
        manual=st.lists(st.builds(ManualPart, TEXT, NUMBER, text), max_size=2).map(tuple),
        scope=st.sampled_from(get_args(Scope)),
        submission_sha256=HASH,
        fault=text,
        sandbox=st.sampled_from(get_args(Level)),
        seconds=NUMBER,
    )


def records(text: st.SearchStrategy[str] = TEXT) -> st.SearchStrategy[Record]:
    return st.builds(Record, text, TEXT, TEXT, HASH, HASH, verdicts(text), HASH)


def verdict(status: Status = "ok", **more: Any) -> Verdict:
    test = TestVerdict("t", 1.0, 1.0, status, "said")
    made = Verdict("tiny", status, "", 1.0, 1.0, (test,), (), (), (), "all", "work", sandbox="namespaces", seconds=0.5)
    return dataclasses.replace(made, **more)


def record(status: Status = "ok", **more: Any) -> Record:
    return Record("ann", "tiny", "tiny", "source", "grader", verdict(status, **more), "pins")


NOW: dict[str, Any] = {
    "submission_sha256": "work",
    "source_sha256": "source",
    "grader_sha256": "grader",
    "pins_sha256": "pins",
    "sandbox": "namespaces",
}


# Round trips


@settings(max_examples=60, deadline=None)
@given(records())
def test_record_comes_back_from_its_json(one: Record):
    assert from_json(json.loads(json.dumps(dataclasses.asdict(one)))) == one
    assert from_json(json.loads(json.dumps(dataclasses.asdict(one), ensure_ascii=False))) == one


@settings(max_examples=60, deadline=None)
@given(one=records(ANY_TEXT))
def test_record_of_any_text_comes_back_from_a_file_and_from_a_line(one: Record, tmp_path_factory: Any):
    path = tmp_path_factory.mktemp("records") / "r.json"
    write_record(path, one)
    kept = read_record(path)
    assert kept is not None
    assert kept.sum == one.sum
    assert kept.verdict.message == whole(one.verdict.message)
    assert from_json(json.loads(json.dumps(dataclasses.asdict(one)))).sum == one.sum


def test_file_is_json_that_a_person_can_read(tmp_path: Path):
    write_record(tmp_path / "r.json", record(message="zoë said: ½"))
    text = (tmp_path / "r.json").read_text(encoding="utf-8")
    assert '"message": "zoë said: ½"' in text
    assert text.count("\n") > 20
    assert json.loads(text)["verdict"]["sandbox"] == "namespaces"
    assert json.loads(text)["verdict"]["seconds"] == 0.5


# When a record counts


def test_record_holds_for_the_same_only():
    assert record().holds_for(**NOW)
    for name in ("submission_sha256", "source_sha256", "grader_sha256", "pins_sha256"):
        assert not record().holds_for(**{**NOW, name: "other"}), name
    assert not dataclasses.replace(record(), version=2).holds_for(**NOW)


def test_failure_of_the_grader_is_never_reused():
    assert not record("grader_error").holds_for(**NOW)
    one_test = TestVerdict("t", 0.0, 1.0, "grader_error", "")
    assert not record("timeout", tests=(one_test,)).holds_for(**NOW)


@pytest.mark.parametrize("made", get_args(Level))
@pytest.mark.parametrize("asked", get_args(Level))
def test_weaker_sandbox_than_asked_for_is_not_taken_over(made: Level, asked: Level):
    order = ["none", "landlock", "namespaces", "bubblewrap"]
    assert sorted(STRENGTH, key=STRENGTH.__getitem__) == order
    expected = order.index(made) >= order.index(asked)
    assert record(sandbox=made).holds_for(**{**NOW, "sandbox": asked}) == expected


def test_what_was_never_run_needs_no_sandbox():
    unrun = (TestVerdict("t", 0.0, 1.0, "unreadable", "", ran=False),)
    cell = CellRun("c", True, None, "")
    for status in ("unreadable", "forbidden_import", "not_attempted", "suspicious"):
        assert record(status, sandbox="none", tests=unrun).holds_for(**NOW), status
        assert not record(status, sandbox="none", tests=unrun, cells=(cell,)).holds_for(**NOW)
        assert not record(status, sandbox="none").holds_for(**NOW)
    for status in ("ok", "crash", "timeout", "student_error"):
        assert not record(status, sandbox="none", tests=unrun).holds_for(**NOW), status


# Bad hands


def leaves(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else None
    return [path] if items is None else [leaf for key, value in items for leaf in leaves(value, (*path, key))]


def changed(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return not value
    return value + 1 if isinstance(value, int | float) else f"{value}x"


def test_change_of_any_single_value_is_noticed(tmp_path: Path):
    line = Line("total", 2, "total", "return 1 / 0", 0)
    cell = CellRun("total", True, CellError("ZeroDivisionError", "division", (line,)), "printed")
    write_record(tmp_path / "r.json", record(cells=(cell,), notes=("a",), manual=(ManualPart("m", 2.0, "text"),)))
    data = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    places = leaves(data)
    assert len(places) > 35
    for place in places:
        bad = json.loads(json.dumps(data))
        inner = bad
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = changed(inner[place[-1]])
        (tmp_path / "r.json").write_text(json.dumps(bad), encoding="utf-8")
        assert read_record(tmp_path / "r.json") is None, place
    for bad in ({k: v for k, v in data.items() if k != "sum"}, {**data, "more": 1}, {**data, "sum": ""}):
        (tmp_path / "r.json").write_text(json.dumps(bad), encoding="utf-8")
        assert read_record(tmp_path / "r.json") is None
    (tmp_path / "r.json").write_text(json.dumps(data), encoding="utf-8")  # in another form, and still the same
    assert read_record(tmp_path / "r.json") is not None


def test_file_cut_off_anywhere_counts_for_nothing(tmp_path: Path):
    path = tmp_path / "r.json"
    write_record(path, record())
    data = path.read_bytes()
    for size in range(0, len(data) - 2, 7):
        path.write_bytes(data[:size])
        assert read_record(path) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT, lambda x: st.lists(x) | st.dictionaries(TEXT, x)
)


@settings(max_examples=80, deadline=None)
@given(st.one_of(st.dictionaries(st.sampled_from([f.name for f in dataclasses.fields(Record)]), VALUES), VALUES))
def test_what_is_no_record_is_a_value_error(data: Any):
    for one in (data, {**data, "version": 3} if isinstance(data, dict) else data):
        with pytest.raises(ValueError, match=r"record|version|sum"):
            from_json(one)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00" * 99,
        b"\xff\xfe{}",
        b"[" * 200_000,
        b'{"version": 3, "verdict": ' * 50_000,
        b'{"version": 2}',
        b'{"version": ' + b"9" * 5_000 + b"}",
        b"NaN",
    ],
)
def test_reading_never_raises(data: bytes, tmp_path: Path):
    (tmp_path / "r.json").write_bytes(data)
    assert read_record(tmp_path / "r.json") is None


def test_reading_waits_for_nothing_and_follows_nothing(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    write_record(tmp_path / "real.json", record())
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    for name in ("pipe.json", "folder.json", "link.json", "missing.json", "a\0b.json", "x" * 300, "\ud800"):
        assert read_record(tmp_path / name) is None, name
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(LARGEST + 1)
    assert read_record(tmp_path / "large.json") is None
    assert read_record(Path("/dev/zero")) is None
    assert read_record(tmp_path / "real.json") == record()


# Names and files

ODD = [
    "..",
    ".",
    "",
    ".hidden",
    "a/b",
    "../../etc",
    "a\\b",
    "x" * 300,
    "é" * 200,
    "\udcff",
    "\ud800",
    "a\0b",
    "a\nb",
    "~",
]


@pytest.mark.parametrize("name", [*ODD, "ann", "zoë, o'hara", "=1+1", "田中 葵", "a*[b]?", "007", "-rf", "𝕏" * 40])
def test_record_of_any_name_is_beneath_its_folder(name: str, tmp_path: Path):
    folder = tmp_path / "records"
    for path in (record_path(folder, name, "tiny", "tiny"), record_path(folder, "ann", name, name)):
        assert len(path.relative_to(folder).parts) == 3
        write_record(path, record())
        assert path.resolve().is_relative_to(folder.resolve())
        assert read_record(path) == record()
    assert {path.name for path in tmp_path.iterdir()} == {"records"}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(ANY_TEXT, st.sampled_from(ODD)), unique=True, max_size=8))
def test_no_two_names_meet(names: list[str]):
    made = [file_name(name) for name in names]
    assert len(set(made)) == len(made)
    assert not set(made) & {file_name(name) for name in made if name not in names}  # nor what was made of one


def test_plain_names_stay_as_they_are(tmp_path: Path):
    assert record_path(tmp_path, "zoë o'hara", "ps1", "a.b") == tmp_path / "zoë o'hara" / "ps1" / "a.b.json"


def test_writers_at_once_leave_one_whole_record_and_nothing_else(tmp_path: Path):
    path = tmp_path / "ann" / "r.json"
    all_of_them = [record(message=str(number) * 5_000) for number in range(8)]

    def write(one: Record) -> None:
        for _ in range(15):
            write_record(path, one)
            assert read_record(path) is not None

    threads = [threading.Thread(target=write, args=(one,)) for one in all_of_them]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_record(path) in all_of_them
    assert [file.name for file in path.parent.iterdir()] == ["r.json"]


def test_killed_writer_leaves_the_old_record_and_its_draft_is_used_up(tmp_path: Path):
    path = tmp_path / "r.json"
    write_record(path, record())
    script = f"""
import os, signal
from pathlib import Path
from tests.test_grading_record import record
from grading.record import write_record
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
write_record(Path({str(path)!r}), record(message="new " * 500))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[1], check=False)
    assert done.returncode == -signal.SIGKILL
    assert read_record(path) == record()
    assert len(list(tmp_path.iterdir())) == 2
    write_record(path, record(message="short"))
    assert read_record(path) == record(message="short")
    assert [file.name for file in tmp_path.iterdir()] == ["r.json"]


# What a verdict depends on


def test_pins_name_python_the_format_and_every_package():
    found = pins(["numpy.linalg", "sklearn", "json", "math", "no_such_module"])
    assert found.keys() == {"python", "nbgrader", "nbformat", "numpy", "scikit-learn", "no_such_module"}
    assert found["no_such_module"] == "absent"
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert all(value for value in found.values())


def test_hash_of_pins_changes_with_each_of_them():
    found = pins(["sklearn"])
    hashes = {pins_sha256({**found, name: "other"}) for name in found} | {pins_sha256({**found, "more": "1"})}
    assert len(hashes | {pins_sha256(found)}) == len(found) + 2
    assert pins_sha256(dict(reversed(found.items()))) == pins_sha256(found)


def test_package_developed_in_place_counts_with_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "inplace").mkdir()
    (tmp_path / "inplace" / "__init__.py").write_text("")
    (tmp_path / "inplace" / "data.txt").write_text("one")
    (tmp_path / "single.py").write_text("x = 1")
    monkeypatch.syspath_prepend(tmp_path)
    hashes = []
    for name, text in (("data.txt", "one"), ("data.txt", "two"), ("more.py", "")):
        (tmp_path / "inplace" / name).write_text(text)
        pins_module._pins_of.cache_clear()
        hashes.append(pins(["inplace"])["inplace"])
        assert len(pins(["single"])["single"]) == 64
    assert len(set(hashes)) == 3


def test_hash_of_the_grader_changes_with_its_budgets():
    assert grader_sha256(Limits()) == grader_sha256(Limits())
    assert grader_sha256(Limits()) != grader_sha256(Limits(test_seconds=11))
