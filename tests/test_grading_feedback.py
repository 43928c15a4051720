"""What a student and an instructor get to look at: escaped, inert, readable, and what a person must see comes first."""

from __future__ import annotations

import dataclasses
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.check import print_json, print_verdict
from grading.course import Exercise
from grading.feedback import feedback_page, index_page, write_index, write_page
from grading.overview import Entry, entry_of, index_pages
from grading.record import Record
from grading.running.plan import CellError, CellRun, Line
from grading.verdict import ManualPart, TestVerdict, Verdict, number, unguarded
from grading.visible import visible
from tests.grading_tiny import make_course

ESC = "\x1b"
NASTY = f"<script>alert(1)</script>{ESC}[2J{ESC}[1;1H10 of 10 points\u202e\u200b\x07\x00"


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    return make_course(tmp_path_factory.mktemp("course")).exercise("tiny")


def verdict(tests: tuple[TestVerdict, ...] = (), **more: object) -> Verdict:
    """A verdict on the exercise `tiny`; by default its first test failed."""
    tests = tests or (
        TestVerdict("test-total", 0, 2, "student_error", "numbers are added up", (Line("total", 2, "total", "x = 1"),)),
        TestVerdict("test-hidden", 3, 3, "ok", ""),
        TestVerdict("test-box", 5, 5, "ok", ""),
    )
    plain: dict[str, object] = {
        "exercise": "tiny",
        "status": "student_error",
        "message": "",
        "score": sum(test.points for test in tests),
        "max_score": 10.0,
        "tests": tests,
        "notes": (),
        "cells": (),
        "manual": (),
        "scope": "all",
        "submission_sha256": "",
        "sandbox": "bubblewrap",
    }
    return Verdict(**{**plain, **more})


class Reader(HTMLParser):
    """The tags, attributes and links of a page, and its words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.words = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.words += "" if tag in ("strong", "a") else " "
        self.attributes |= {name for name, _ in attributes}
        self.links += [value or "" for name, value in attributes if name in ("href", "src", "action")]

    def handle_data(self, data: str) -> None:
        self.words += data


# What acts or hides


@pytest.mark.parametrize(
    ("raw", "want"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        (f"{ESC}[31mred{ESC}[0m", "red"),
        (f"{ESC}[2J", "⟨U+001B⟩[2J"),
        (f"{ESC}]8;;http://x{ESC}\\", "⟨U+001B⟩]8;;http://x⟨U+001B⟩\\"),
        ("\x9b2J", "⟨U+009B⟩2J"),
        ("a\rb\r\nc", "a⟨U+000D⟩b\nc"),
        ("a\u202eb\u2066c", "a⟨U+202E⟩b⟨U+2066⟩c"),
        ("a\u200bb\ufeff\xad\u2028", "a⟨U+200B⟩b⟨U+FEFF⟩⟨U+00AD⟩⟨U+2028⟩"),
        ("a\U000e0041\ud800", "a⟨U+E0041⟩⟨U+D800⟩"),
        ("a\u200db", "a⟨U+200D⟩b"),
    ],
)
def test_what_acts_or_hides_is_shown(raw: str, want: str):
    assert visible(raw) == want


@pytest.mark.parametrize(
    "name", ["O'Brien, Siobhán", "田中 葵", "علی\u200cرضا", "क्\u200dष", "👩\u200d💻", "Nguyễn", "辻\U000e0100"]
)
def test_names_of_all_scripts_stay_as_they_are(name: str):
    assert visible(name) == name


@given(st.text())
def test_nothing_that_acts_is_left_in_any_text(raw: str):
    left = {
        unicodedata.category(c) for c in visible(raw).replace("\n", "").replace("\t", "") if c not in "\u200c\u200d"
    }
    assert not left & {"Cc", "Cs", "Zl", "Zp"}
    assert visible(visible(raw)) == visible(raw)
    visible(raw).encode("utf-8")


# One submission


def test_page_says_what_failed_where_and_what_was_repaired(exercise: Exercise):
    stopped = CellRun("Box", True, CellError("NameError", "no", (Line("Box", 3, "<module>", "Box(1)"),)), "hello\n")
    one = verdict(notes=("The test cell was missing.",), cells=(stopped,), manual=(ManualPart("essay", 4.0, ""),))
    words = " ".join(Reader(feedback_page(exercise, "Lee, Ann", one)).words.split())
    for said in (
        "Lee, Ann: 8 of 10 points.",
        "0 of 2 test-total not yet right numbers are added up the cell “total”, line 2, in total: x = 1",
        "NameError in the cell “Box”, line 3: no",
        "essay: up to 4 points",
        "The test cell was missing.",
        "What your cells printed Box hello",
        "The visible and the hidden tests were run.",
    ):
        assert said in words


def test_page_says_each_status_in_words(exercise: Exercise):
    tests = tuple(
        TestVerdict(f"t{n}", 0, 1, status, "")
        for n, status in enumerate(("timeout", "crash", "not_attempted", "suspicious", "grader_error"))
    )
    words = Reader(feedback_page(exercise, "ann", verdict(tests))).words
    for said in ("took too long", "broke off", "not attempted", "set aside for a person", "the grader's fault"):
        assert said in words
    assert "if you can explain it, tell your instructor" in words
    assert "tell your instructor" not in Reader(feedback_page(exercise, "ann", verdict())).words


def test_everything_a_student_wrote_is_inert(exercise: Exercise):
    line = Line(NASTY, 1, NASTY, NASTY)
    bad = CellRun(NASTY, True, CellError(NASTY, NASTY, (line,)), NASTY)
    tests = (TestVerdict(NASTY, 0, 10, "student_error", NASTY, (line,)), TestVerdict("t", 0, 0, "ok", "m"))
    page = feedback_page(
        exercise, NASTY, verdict(tests, notes=(NASTY,), cells=(bad,), manual=(ManualPart(NASTY, 1.0, NASTY),))
    )
    plain = Reader(
        feedback_page(exercise, "ann", verdict(cells=(dataclasses.replace(bad, printed="x"),), notes=("n",)))
    )
    reader = Reader(page)
    assert not set(reader.tags) & {"script", "img", "iframe", "link", "object", "form", "input", "b"}
    assert reader.attributes <= plain.attributes | {"class"}
    assert reader.links == []
    assert not set(page) & {ESC, "\x07", "\x00", "\u202e", "\u200b"}
    assert page.count("default-src 'none'") == 1


def test_fault_of_the_grader_and_setup_output_are_not_for_the_student(exercise: Exercise):
    setup = CellRun("cell-1", False, None, "the instructor's own words")
    page = feedback_page(exercise, "ann", verdict(cells=(setup,), fault="Traceback: assert total([7349])"))
    assert "7349" not in page
    assert "the instructor's own words" not in page


def test_student_called_like_the_index_stops_nobody(exercise: Exercise, tmp_path: Path):
    for _ in range(2):  # the second run finds what the first wrote
        record = Record("index.html", "tiny", "tiny", "", "", verdict())
        page = write_page(tmp_path, exercise, "index.html", verdict())
        index = write_index(tmp_path, [exercise], [("index.html", ""), ("ann", "")], [record])
        assert page.is_file()
        assert index.is_file()
        assert "8 / 10" in index.read_text()


# The class


def entry(student: str, status: str = "ok", level: str | None = "bubblewrap") -> Entry:
    return Entry(student, "tiny", 10.0, 10.0, status, status == "ok", level)


def test_entry_takes_a_suspicious_test_for_the_whole(exercise: Exercise):
    tests = (TestVerdict("a", 0, 5, "timeout", ""), TestVerdict("b", 0, 5, "suspicious", ""))
    record = Record("ann", "tiny", "tiny", "", "", verdict(tests, status="timeout"))
    assert entry_of(record).status == "suspicious"
    assert entry_of(Record("ann", "tiny", "tiny", "", "", verdict())).level == "bubblewrap"
    unrun = verdict((TestVerdict("a", 0, 5, "unreadable", "", ran=False),), status="unreadable", sandbox="none")
    assert entry_of(Record("ann", "tiny", "tiny", "", "", unrun)).level is None


def test_index_shows_what_a_person_must_see_first(exercise: Exercise):
    students = [("ann", "Lee, Ann"), ("bob", ""), ("cy", ""), ("dan", "")]
    entries = [
        entry("ann"),
        entry("bob", "suspicious"),
        entry("cy", "grader_error", None),
        entry("dan", "timeout", "none"),
    ]
    page = index_page([exercise], students, entries)
    words = " ".join(Reader(page).words.split("Marks and feedback")[-1].split())
    assert "4 submissions graded. Sandbox: bubblewrap (2 submissions)." in words
    assert "Run without a sandbox: 1 submission." in words
    places = [words.index(said) for said in ("without a sandbox", "bob: tiny", "cy: tiny", "How it went", "Lee, Ann")]
    assert places == sorted(places)
    links = [unquote(link) for link in Reader(page).links]
    assert links[:2] == ["bob/tiny/tiny.html", "cy/tiny/tiny.html"]
    assert "10 / 10 took too long" in words


def test_index_without_anything_to_look_at_says_nothing_of_it(exercise: Exercise):
    words = Reader(index_page([exercise], [("ann", "")], [entry("ann")])).words
    assert "For a person" not in words
    assert "without a sandbox" not in words
    assert "For a person" not in Reader(index_page([exercise], [], [])).words


def test_index_is_inert(exercise: Exercise):
    page = index_page([exercise], [(NASTY, ""), ("javascript:alert(1)", NASTY)], [entry("javascript:alert(1)")])
    assert not set(Reader(page).tags) & {"script", "img", "b"}
    assert Reader(page).links == ["javascript%3Aalert%281%29/tiny/tiny.html"]
    assert not set(page) & {ESC, "\x00", "\u202e"}


def test_large_class_is_spread_over_light_pages(exercise: Exercise, tmp_path: Path):
    students = [(f"s{n:05}", f"Student, {n}") for n in range(10_000)]
    entries = [entry(student, "suspicious" if n % 1000 == 0 else "ok") for n, (student, _) in enumerate(students)]
    first = write_index(tmp_path, [exercise], students, entries)
    files = sorted(tmp_path.glob("index*.html"))
    assert len(files) == 20
    assert max(path.stat().st_size for path in files) < 400_000
    assert first.read_text().count('class="look"') == 10 + 1  # the list, and those of the first page's students
    reader = Reader(first.read_text())
    assert {link for link in reader.links if link.startswith("index")} == {path.name for path in files} - {"index.html"}
    assert "s09999" in (tmp_path / "index-20.html").read_text()
    write_index(tmp_path, [exercise], students[:10], entries[:10])
    assert [path.name for path in tmp_path.glob("index*.html")] == ["index.html"]  # no page of the larger class stays


def test_page_of_no_students_is_a_value_error(exercise: Exercise):
    with pytest.raises(ValueError, match="size"):
        index_pages([exercise], [], [], 0)


# The terminal


def printed(one: Verdict, capsys: pytest.CaptureFixture[str]) -> str:
    print_verdict("Tiny", one)
    return capsys.readouterr().out


def test_terminal_obeys_nothing_of_a_students(capsys: pytest.CaptureFixture[str]):
    bad = CellRun("total", True, CellError("Error", NASTY, (Line(NASTY, 1, NASTY, NASTY),)), "")
    tests = (TestVerdict(NASTY, 0, 10, "student_error", NASTY, (Line("a", 1, NASTY, NASTY),)),)
    one = verdict(tests, notes=(NASTY,), cells=(bad,), message=NASTY)
    assert not set(printed(one, capsys)) & {ESC, "\x07", "\x00", "\u202e", "\u200b"}
    print_json(one)
    shown = capsys.readouterr()
    assert not set(shown.out + shown.err) & {ESC, "\x07", "\x00", "\u202e", "\u200b"}


def test_message_of_several_lines_cannot_pass_for_a_mark(capsys: pytest.CaptureFixture[str]):
    forged = "no\n  10 / 10   test-box: passed\n10 of 10 points"
    tests = (TestVerdict("test-total", 0, 10, "student_error", forged), TestVerdict("t\n10 of 10", 0, 0, "ok", "x"))
    lines = printed(verdict(tests, notes=(forged,)), capsys).splitlines()
    assert lines[0] == "Tiny: 0 of 10 points"
    assert not [line for line in lines[1:] if line.startswith(("10 of 10", "  10 / 10"))]
    assert "                10 / 10   test-box: passed".strip() in "\n".join(lines)


def test_result_without_a_sandbox_says_so(capsys: pytest.CaptureFixture[str]):
    assert unguarded(verdict()) == ""
    assert unguarded(verdict((TestVerdict("a", 0, 5, "unreadable", "", ran=False),), sandbox="none")) == ""
    assert "The answer ran without a sandbox." in printed(verdict(sandbox="none"), capsys)
    print_json(verdict(sandbox="none"))
    assert "without a sandbox" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "want"),
    [(3.0, "3"), (2.5, "2.5"), (1 / 3, "0.3333"), (1e7, "10000000"), (123456.5, "123456.5"), (-1.5, "-1.5")],
)
def test_numbers_are_written_out(value: float, want: str):
    assert number(value) == want
