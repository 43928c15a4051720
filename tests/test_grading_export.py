"""Marks on their way out: what other programs read back is what was meant, and no cell is a formula."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin

from grading.export import Column, Person, Sheet, differences, marks_csv, marks_table, neutral
from grading.export.canvas import CanvasPlugin, to_canvas
from grading.export.csv import CsvPlugin, to_csv
from grading.export.gradebook import sheet_of
from grading.export.moodle import MoodlePlugin, fill_worksheet, to_moodle
from grading.export.table import csv_text
from grading.export.writing import write_export, write_sheet
from tests.grading_tiny import make_course

SIGNS = "=+-@＝＋－＠"
PEOPLE = (
    Person("ann", "Lee, Ann", "ann@example.org", "2041"),
    Person("bob", "=1+1", "", "x-77"),
    Person("zoë, o'hara", 'O\'Hara "Z", Zoë', "ZOE@example.org", ""),
)
PS1 = Column("ps1", 10.0)
SHEET = Sheet(
    (PS1, Column("ps2", 5.0)),
    PEOPLE,
    {("ann", "ps1"): 7.5, ("bob", "ps1"): 0.0, ("ann", "ps2"): -1.0},
    {("ann", "ps1"): "test-a: <b>no</b>\n=1+1"},
)
# What a learning platform exports and takes back, with one student who is not of this class.
WORKSHEET = (
    "\ufeffIdentifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    'Participant 31,Ann Lee,,ann@example.org,"Submitted for grading - ",,10.00,Yes,"Monday, 3 March 2025, 9:00 AM",-,\n'
    "Participant 7,Bob =1+1,bob,,No submission,,10.00,Yes,-,-,\n"
    'Participant 12,"Zoë O\'Hara ""Z""",,zoe@example.org,No submission,3.00,10.00,Yes,-,-,"kept"\n'
    "Participant 9,=cmd|calc,,other@example.org,No submission,,10.00,Yes,-,-,\n"
)


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def risky(cell: str) -> bool:
    """Whether a spreadsheet would run a cell, also one that splits at semicolons."""
    parts = cell.replace(";", "\n").replace("\t", "\n").split("\n")
    return cell[:1] in ("\t", "\r", "\n") or any(part.lstrip().startswith(tuple(SIGNS)) for part in parts)


# Texts and numbers


@pytest.mark.parametrize("sign", list(SIGNS))
@pytest.mark.parametrize(
    "before", ["", " ", "   ", "\u3000", "\xa0", "\n", "\r", "\t", "a;", "a; ", "a\n", "a\t", "a\r"]
)
def test_no_sign_opens_a_cell(sign: str, before: str):
    cell = neutral(f"{before}{sign}1+1")
    assert not risky(cell)
    assert cell.replace("'", "").endswith(f"{sign}1+1")


@given(st.text())
def test_no_text_is_a_formula_and_none_acts(raw: str):
    cell = neutral(raw)
    assert not risky(cell)
    assert not {"\x00", "\r", "\x1b", "\u202e"} & set(cell)
    assert neutral(cell) == cell


@given(st.lists(st.lists(st.text() | st.floats(-1e6, 1e6) | st.none(), min_size=1, max_size=5), max_size=5))
def test_rows_come_back_from_csv(table: list[list[str | float | None]]):
    back = rows(csv_text(table))
    assert len(back) == len(table)
    for written, read in zip(table, back, strict=True):
        assert len(written) == len(read)
        for cell, got in zip(written, read, strict=True):
            if isinstance(cell, str):
                assert got == (cell if cell == "-" else neutral(cell))
            elif cell is None:
                assert got == ""
            else:
                assert abs(float(got) - cell) <= 0.00005 + 1e-9
                assert "e" not in got


def test_plain_text_is_left_alone():
    for raw in ("O'Brien, Siobhán", "田中 葵", 'Jo "J" Lee', "a\nb", "a-b", "3; 4", "علی\u200cرضا"):
        assert neutral(raw) == raw


def test_mark_below_zero_stays_a_number():
    assert rows(to_csv(SHEET))[1] == ["ann", "Lee, Ann", "7.5", "-1", "6.5", "15"]
    assert rows(to_canvas(SHEET))[2][-1] == "-1"


def test_csv_has_a_row_each_and_nothing_for_what_is_missing():
    header, *body = rows(to_csv(SHEET))
    assert header == ["student", "name", "ps1", "ps2", "total", "max"]
    assert body[1] == ["bob", "'=1+1", "0", "", "0", "15"]
    assert body[2] == ["zoë, o'hara", 'O\'Hara "Z", Zoë', "", "", "0", "15"]
    assert rows(marks_csv([], [("=x", "@y")], {}))[1] == ["'=x", "'@y", "0", "0"]


def test_differences_are_visible_text():
    assert differences({("a\u202e", "x"): 1.0}, {}) == ["a⟨U+202E⟩, x: 1, expected none"]
    assert marks_table([], [("[bold]x", "")], {}).row_count == 1


# Canvas


def test_canvas_has_its_header_and_its_row_of_points():
    header, points, *body = rows(to_canvas(SHEET, {"ps1": 77}))
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ps1 (77)", "ps2"]
    assert points == ["    Points Possible", "", "", "", "", "10", "5"]
    assert body[0] == ["Lee, Ann", "2041", "", "ann", "", "7.5", "-1"]
    assert body[1] == ["'=1+1", "", "x-77", "bob", "", "0", ""]
    assert body[2][3:] == ["zoë, o'hara", "", "", ""]


@pytest.mark.parametrize("given_id", ["=1", "7a", "", "٣"])
def test_canvas_id_that_is_no_number_is_a_value_error(given_id: str):
    with pytest.raises(ValueError, match=r"ids: .*ps1"):
        to_canvas(SHEET, {"ps1": given_id})


# Moodle


def test_moodle_import_names_students_by_what_moodle_knows_and_is_no_worksheet():
    header, *body = rows(to_moodle(SHEET, PS1))
    assert header == [
        "Identifier",
        "Full name",
        "ID number",
        "Email address",
        "Grade",
        "Maximum Grade",
        "Feedback comments",
    ]
    said = "test-a: &lt;b&gt;no&lt;/b&gt;<br>=1+1"
    assert body[0] == ["", "Ann Lee", "2041", "ann@example.org", "7.5", "10", said]
    assert body[1][:5] == ["", "'=1+1", "x-77", "", "0"]
    assert body[2][4] == ""


def test_worksheet_is_filled_in_and_otherwise_left():
    filled, left = fill_worksheet(WORKSHEET, SHEET, PS1)
    before, after = rows(WORKSHEET.removeprefix("\ufeff")), rows(filled)
    assert left == []
    assert after[0] == before[0]
    grade, comment = before[0].index("Grade"), before[0].index("Feedback comments")
    assert [row[grade] for row in after[1:]] == ["7.5", "0", "3.00", ""]
    assert after[1][comment] == "test-a: &lt;b&gt;no&lt;/b&gt;<br>=1+1"
    assert after[3][comment] == "kept"  # no mark here: what Moodle has stays
    assert after[4][1] == "'=cmd|calc"
    for was, now in zip(before[1:], after[1:], strict=True):
        kept = [n for n in range(len(was)) if n not in (1, grade, comment)]
        assert [was[n] for n in kept] == [now[n] for n in kept]


def test_students_who_are_not_on_the_worksheet_are_named():
    more = Sheet((PS1,), (*PEOPLE, Person("eve")), {**SHEET.marks, ("eve", "ps1"): 1.0})
    assert fill_worksheet(WORKSHEET, more, PS1)[1] == ["eve"]


def test_two_students_of_one_name_or_address_are_not_guessed():
    twins = (
        Person("a", "Lee, Ann"),
        Person("b", "Lee, Ann"),
        Person("c", "", "ann@example.org"),
        Person("d", "", "ann@example.org"),
    )
    sheet = Sheet((PS1,), twins, {(one.id, "ps1"): 1.0 for one in twins})
    filled, left = fill_worksheet(WORKSHEET, sheet, PS1)
    assert left == ["a", "b", "c", "d"]
    assert [row[5] for row in rows(filled)[1:]] == ["", "", "3.00", ""]
    doubled = WORKSHEET + "Participant 99,Ann Lee,,,No submission,,10.00,Yes,-,-,\n"
    alone = Sheet((PS1,), (Person("a", "Lee, Ann"),), {("a", "ps1"): 1.0})
    assert fill_worksheet(doubled, alone, PS1)[1] == ["a"]
    assert fill_worksheet(WORKSHEET, alone, PS1)[1] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a,b\n1,2\n",
        "Identifier,Grade,Last modified (grade)\nx\n",
        "Identifier,Identifier\n",
        "Identifier,Grade\n1,2\n",
    ],
)
def test_what_is_no_worksheet_is_a_value_error(text: str):
    with pytest.raises(ValueError, match="worksheet"):
        fill_worksheet(text, SHEET, PS1)


# The gradebook, files, nbgrader's command


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gradebook of three students, one with a late penalty, another with a person's comment."""
    path = tmp_path_factory.mktemp("made") / "gradebook.db"
    with pytest.MonkeyPatch.context() as patch:  # nbgrader runs `alembic` by its bare name when it makes a gradebook
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        book = Gradebook(f"sqlite:///{path}")
    with book:
        book.add_assignment("ps1")
        book.add_notebook("nb", "ps1")
        book.add_grade_cell("test", "nb", "ps1", max_score=10, cell_type="code")
        book.add_solution_cell("answer", "nb", "ps1")
        book.add_student("ann", first_name="Ann", last_name="Lee", email="ann@example.org", lms_user_id="2041")
        book.add_student("bob", last_name="=1+1")
        book.add_student("cy")
        for student, score in (("ann", 8), ("bob", 3)):
            book.add_submission("ps1", student)
            notebook = book.find_submission_notebook("nb", "ps1", student)
            notebook.grades[0].auto_score = score
            notebook.comments[0].auto_comment = "test: no"
        book.find_submission_notebook("nb", "ps1", "ann").late_submission_penalty = 2
        book.find_submission_notebook("nb", "ps1", "bob").comments[0].manual_comment = "well tried"
        book.db.commit()
    return path


@pytest.fixture
def gradebook(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "gradebook.db"))


def test_sheet_has_marks_with_penalties_and_a_persons_word_first(gradebook: Path):
    with Gradebook(f"sqlite:///{gradebook}") as book:
        sheet = sheet_of(book)
        assert sheet_of(book, ["ps1"], ["bob"]).people == (Person("bob", "=1+1"),)
        with pytest.raises(ValueError, match="assignment: no 'ps9'"):
            sheet_of(book, ["ps9"])
    assert sheet.columns == (Column("ps1", 10.0),)
    assert dict(sheet.marks) == {("ann", "ps1"): 6.0, ("bob", "ps1"): 3.0}
    assert dict(sheet.comments) == {("ann", "ps1"): "test: no", ("bob", "ps1"): "well tried"}
    assert Person("ann", "Lee, Ann", "ann@example.org", "2041") in sheet.people


@pytest.mark.parametrize(
    ("plugin", "want"),
    [
        (CsvPlugin, 'ann,"Lee, Ann",6,6,10'),
        (CanvasPlugin, '"Lee, Ann",2041,,ann,,6'),
        (MoodlePlugin, ",Ann Lee,2041,ann@example.org,6,10,test: no"),
    ],
)
def test_plugins_write_the_gradebook(plugin: type[ExportPlugin], want: str, gradebook: Path, tmp_path: Path):
    with Gradebook(f"sqlite:///{gradebook}") as book:
        plugin(to=str(tmp_path / "out.csv")).export(book)
    written = (tmp_path / "out.csv").read_text()
    assert want in written.splitlines()
    assert not any(risky(cell) for row in rows(written) for cell in row)


def test_nbgrader_export_takes_a_plugin_by_its_name(gradebook: Path, tmp_path: Path):
    command = [sys.executable, "-m", "nbgrader", "export", "--exporter=grading.export.canvas.CanvasPlugin"]
    done = subprocess.run([*command, "--to", "out.csv"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"Lee, Ann",2041,,ann,,6' in (tmp_path / "out.csv").read_text().splitlines()


def test_export_writes_what_is_asked_for(gradebook: Path, tmp_path: Path):
    course = make_course(tmp_path)
    assert course.database == gradebook
    assert write_export("csv", course, tmp_path / "a" / "x.csv").files == (tmp_path / "a" / "x.csv",)
    assert "ps1 (5)" in write_export("canvas", course, tmp_path / "c.csv", ids={"ps1": 5}).files[0].read_text()
    (folder,) = write_export("moodle", course, tmp_path / "moodle").files
    assert folder == tmp_path / "moodle" / "ps1.csv"
    sheet = tmp_path / "w.csv"
    sheet.write_text(WORKSHEET, encoding="utf-8")
    export = write_export("moodle", course, tmp_path / "f.csv", ["ps1"], worksheet=sheet)
    assert rows(export.files[0].read_text())[1][5] == "6"
    assert export.notes == ()


def test_export_that_cannot_be_is_a_value_error(gradebook: Path, tmp_path: Path):
    course = make_course(tmp_path / "other")
    with pytest.raises(ValueError, match=r"gradebook: .*grade the class first"):
        write_export("csv", course, tmp_path / "x.csv")
    with pytest.raises(ValueError, match="form: 'xls'"):
        write_sheet("xls", SHEET, tmp_path / "x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"to: .*folder"):
        write_sheet("moodle", SHEET, tmp_path / "x.csv")
    with pytest.raises(ValueError, match="worksheet: it is about one"):
        write_sheet("moodle", SHEET, tmp_path / "x.csv", worksheet=tmp_path / "w.csv")
    with pytest.raises(ValueError, match=r"worksheet: .*cannot be read"):
        write_sheet("moodle", Sheet((PS1,), (), {}), tmp_path / "x.csv", worksheet=tmp_path / "w.csv")
    with pytest.raises(ValueError, match="worksheet: Moodle"):
        write_sheet("csv", SHEET, tmp_path / "x.csv", worksheet=tmp_path / "w.csv")
    course.database.write_bytes(b"no database" * 100)
    with pytest.raises(ValueError, match=r"gradebook: .*cannot be read"):
        write_export("csv", course, tmp_path / "x.csv")
