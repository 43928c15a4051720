"""Everything that a student gets to read after grading, as texts, and what may not be in any of them."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path

from grading.check import print_json, print_verdict
from grading.course import Course, Exercise
from grading.feedback import page_path
from grading.record import Record

FORMULA = "=+-@\t\r\n＝＋－＠"
LOADING = {"script", "img", "svg", "iframe", "form", "link", "object", "embed", "video", "audio", "base"}
UNSEEN = ("\x1b", "\x07", "\x9b", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A)))


def texts(course: Course, exercise: Exercise, record: Record) -> dict[str, str]:
    """What one student gets for one exercise, by what it is."""
    page = page_path(course.feedback, exercise, record.student)
    found = {"feedback page": page.read_text(encoding="utf-8") if page.is_file() else ""}
    found["check"] = _printed(lambda: print_verdict(exercise.title, record.verdict))
    found["check --json"] = _printed(lambda: print_json(record.verdict))
    found["record"] = shown_of(record)
    for path in sorted((course.root / "autograded" / record.student).rglob("*")):
        if path.is_file():
            found[f"autograded {path.name}"] = path.read_text(encoding="utf-8", errors="replace")
    return found


def shown_of(record: Record) -> str:
    """The fields of a record that a student is shown: no hash, no time, nothing for the instructor alone."""
    verdict = record.verdict
    tests = [[test.id, test.message, [str(line) for line in test.lines]] for test in verdict.tests]
    cells = [[cell.id, cell.printed, str(cell.error)] for cell in verdict.cells]
    return json.dumps([verdict.message, verdict.notes, tests, cells], ensure_ascii=False)


def _printed(say: Callable[[], None]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        say()
    return out.getvalue()


def held(given: dict[str, str], words: Sequence[str], pages: Sequence[str]) -> list[str]:
    """Faults: a word that is in nothing's place, markup that is live, signs that a terminal obeys."""
    faults = [f"{word!r} is in the {what}" for what, text in given.items() for word in words if word in text]
    page = given["feedback page"]
    faults += [f"the feedback page holds {word!r} unescaped" for word in pages if word in page]
    faults += [f"the feedback page {fault}" for fault in alive(page)]
    if any(sign in given["check"] for sign in UNSEEN):
        faults.append("check prints signs that a terminal obeys")
    return faults


class _Alive(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in LOADING:
            self.found.add(f"has a live <{tag}>")
        for name, value in attributes:
            if name.startswith("on"):
                self.found.add(f"runs {name}")
            if name in ("href", "src", "action") and ":" in (value or ""):
                self.found.add(f"leads to {value}")


def alive(page: str) -> list[str]:
    """What a browser would run or load in a page."""
    reader = _Alive()
    reader.feed(page)
    return sorted(reader.found)


def table_faults(path: Path) -> list[str]:
    """Cells of a table of marks that a spreadsheet would run, and secrets in it."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for row in csv.reader(file, delimiter=",") for cell in row]
    return [f"{path.name} holds the formula {cell!r}" for cell in cells if _formula(cell)]


def _formula(cell: str) -> bool:
    if not cell.lstrip(" ").startswith(tuple(FORMULA)):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False
