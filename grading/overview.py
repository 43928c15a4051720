"""The class at a glance, for the instructor: what a person has to look at first, then every mark.

A class of ten thousand is spread over pages of five hundred students, so that each opens at once; the first holds what
concerns them all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from grading.course import Exercise
from grading.pages import page
from grading.record import Record
from grading.sections import Entry, Students, counts, entry_of, for_a_person, marks, sandboxes

__all__ = ["Entry", "entry_of", "index_page", "index_pages", "page_name", "write_index"]
PAGE_SIZE = 500
Marks = Mapping[tuple[str, str], float]  # (student, exercise) -> mark


def index_page(exercises: Sequence[Exercise], students: Students, records: Iterable[Record | Entry]) -> str:
    """The whole class on one page: students (id, name) down, exercises across, each mark a link to its page."""
    return index_pages(exercises, students, records, max(1, len(students)))[0]


def index_pages(
    exercises: Sequence[Exercise],
    students: Students,
    records: Iterable[Record | Entry],
    size: int = PAGE_SIZE,
    given: Marks | None = None,
    waiting: Collection[tuple[str, str]] = (),
) -> list[str]:
    """The pages of the overview, `size` students on each. `given`: the marks in the gradebook, what a person gave
    included; without them those of the tests; `waiting`: what waits for a person's mark, by student and exercise.
    Raises `ValueError` when `size` is below 1."""
    if size < 1:
        raise ValueError(f"size: a page cannot hold {size} students")
    entries = [record if isinstance(record, Entry) else entry_of(record) for record in records]
    found = {(entry.student, entry.exercise): entry for entry in entries}
    parts = [students[start : start + size] for start in range(0, len(students), size)] or [students]
    links = [f"Students {n * size + 1} to {n * size + len(part)}" for n, part in enumerate(parts)]
    pages = []
    for n, part in enumerate(parts):
        body = ["<h1>Marks and feedback</h1>"]
        if n == 0:
            body += [
                sandboxes(entries),
                for_a_person(entries, exercises, dict(students), waiting),
                counts(entries, exercises),
            ]
        body += ["<h2>Marks</h2>", _pager(links, n), marks(exercises, part, found, given), _pager(links, n)]
        pages.append(page("Marks and feedback", "\n".join(filter(None, body)), width=80))
    return pages


def write_index(
    folder: Path,
    exercises: Sequence[Exercise],
    students: Students,
    records: Iterable[Record | Entry],
    given: Marks | None = None,
    waiting: Collection[tuple[str, str]] = (),
) -> Path:
    """Write the overview into the folder of feedback; gives its first page. Pages of a larger class before go."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = index_pages(exercises, students, records, given=given, waiting=waiting)
    for old in folder.glob("index-*.html"):
        if old.is_file() and old.name not in {page_name(n) for n in range(len(pages))}:
            old.unlink()
    first = folder / page_name(0)
    if first.is_dir():  # a student goes by this name
        first = folder / f"_{page_name(0)}"
    for n, written in enumerate(pages):
        path = first if n == 0 else folder / page_name(n)
        if not path.is_dir():
            path.write_text(written, encoding="utf-8", errors="replace")
    return first


def page_name(n: int) -> str:
    """The file of a page, counted from 0."""
    return "index.html" if n == 0 else f"index-{n + 1}.html"


def _pager(links: Sequence[str], here: int) -> str:
    if len(links) < 2:
        return ""
    items = "".join(
        f'<li aria-current="page"><strong>{link}</strong></li>'
        if n == here
        else f'<li><a href="{page_name(n)}">{link}</a></li>'
        for n, link in enumerate(links)
    )
    return f'<nav aria-label="Pages"><ul>{items}</ul></nav>'
