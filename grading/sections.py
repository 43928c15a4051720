"""What the overview of a class is made of: an entry a record, and from them the parts of its pages, as HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from grading.course import Exercise
from grading.pages import text
from grading.record import Record
from grading.running.plan import Level, Status
from grading.verdict import WORDS, number

MOST_LOOKED_AT = 1000  # a list longer than this is a fault of the set-up, not of the students
FOR_A_PERSON: tuple[Status, ...] = ("suspicious", "grader_error")
WAITS = "waits for a person's mark"
QUIET: tuple[Status, ...] = ("ok", "student_error")  # what the mark says already
Students = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Entry:
    """What the overview needs of a record; a class of them fits in memory where the records would not. `level`: None
    when nothing of the student's was run."""

    student: str
    exercise: str
    score: float
    max_score: float
    status: Status
    full: bool
    level: Level | None


def entry_of(record: Record) -> Entry:
    """The entry of a record; one suspicious test is enough for a person to look."""
    verdict = record.verdict
    found = {verdict.status, *(test.status for test in verdict.tests)}
    status = next((status for status in FOR_A_PERSON if status in found), verdict.status)
    ran = bool(verdict.cells) or any(test.ran for test in verdict.tests)
    level = verdict.sandbox if ran else None
    return Entry(record.student, verdict.exercise, verdict.score, verdict.max_score, status, verdict.full, level)


def sandboxes(entries: Sequence[Entry]) -> str:
    """In what the students' code ran; the first thing to know about every mark below."""
    levels = Counter(entry.level for entry in entries if entry.level is not None)
    open_ = levels.pop("none", 0)
    said = [f"Sandbox: {level} ({_count(count)})." for level, count in sorted(levels.items())]
    lines = [f"<p>{_count(len(entries))} graded. {' '.join(said)}</p>"]
    if open_:
        warning = "could read and change whatever the one who graded may, other submissions included."
        lines.append(f'<p class="no"><strong>Run without a sandbox: {_count(open_)}.</strong> Their code {warning}</p>')
    return "\n".join(lines)


def for_a_person(
    entries: Sequence[Entry],
    exercises: Sequence[Exercise],
    names: Mapping[str, str],
    waiting: Collection[tuple[str, str]] = (),
) -> str:
    """What was set aside, what the grader failed on, and what else waits for a mark, by student and exercise: prose,
    and marks that were given for an earlier hand-in."""
    by_key = {exercise.key: exercise for exercise in exercises}
    parts = []
    groups = [(WORDS[status], [entry for entry in entries if entry.status == status]) for status in FOR_A_PERSON]
    left = [e for e in entries if e.status not in FOR_A_PERSON and (e.student, e.exercise) in waiting]
    for words, found in [*groups, (WAITS, left)]:
        picked = sorted(
            (entry.exercise, names.get(entry.student) or entry.student, _link(entry, by_key[entry.exercise]))
            for entry in found
            if entry.exercise in by_key
        )
        items = "".join(
            f'<li><a class="look" href="{link}">{text(name)}: {text(key)}</a></li>'
            for key, name, link in picked[:MOST_LOOKED_AT]
        )
        more = f"<p>And {len(picked) - MOST_LOOKED_AT} more below.</p>" if len(picked) > MOST_LOOKED_AT else ""
        if picked:
            parts.append(f'<p>{words.capitalize()}: {len(picked)}</p><ul class="many">{items}</ul>{more}')
    return "\n".join(["<h2>For a person to look at</h2>", *parts]) if parts else ""


def counts(entries: Sequence[Entry], exercises: Sequence[Exercise]) -> str:
    """How each exercise went: hand-ins, full marks, and how often each status."""
    counts = {exercise.key: Counter[Status]() for exercise in exercises}
    full: Counter[str] = Counter()
    for entry in entries:
        if entry.exercise in counts:
            counts[entry.exercise][entry.status] += 1
            full[entry.exercise] += entry.full
    seen = [status for status in WORDS if any(count[status] for count in counts.values()) and status != "ok"]
    head = "".join(
        f'<th scope="col">{words}</th>'
        for words in ("Exercise", "Handed in", "Full marks", *(WORDS[status].capitalize() for status in seen))
    )
    rows = "".join(
        f'<tr><th scope="row">{text(key)}</th><td>{sum(count.values())}</td><td>{full[key]}</td>'
        + "".join(f"<td>{count[status] or ''}</td>" for status in seen)
        + "</tr>"
        for key, count in counts.items()
    )
    return f"<h2>How it went</h2>\n{_table(head, rows)}"


def marks(
    exercises: Sequence[Exercise],
    students: Students,
    found: Mapping[tuple[str, str], Entry],
    given: Mapping[tuple[str, str], float] | None,
) -> str:
    """The marks: students down, exercises across, each a link to its page. `given`: what the gradebook says, where it
    could be read; else the tests alone are counted."""
    head = '<th scope="col">Student</th>' + "".join(f'<th scope="col">{text(e.key)}</th>' for e in exercises)
    rows = []
    for student, name in students:
        cells = "".join(
            _mark(found.get((student, exercise.key)), exercise, (given or {}).get((student, exercise.key)))
            for exercise in exercises
        )
        rows.append(f'<tr><th scope="row">{text(name or student)}</th>{cells}</tr>\n')
    return _table(head, "".join(rows))


def _mark(entry: Entry | None, exercise: Exercise, given: float | None) -> str:
    if entry is None:
        return '<td class="quiet">none</td>'
    colour = "look" if entry.status in FOR_A_PERSON else "ok" if entry.full else "no"
    why = "" if entry.status in QUIET else f"<small>{WORDS[entry.status]}</small>"
    score, most = (entry.score, entry.max_score) if given is None else (given, exercise.all_points)
    mark = f"{number(score)} / {number(most)}"
    return f'<td><a class="{colour}" href="{_link(entry, exercise)}">{mark}</a>{why}</td>'


def _link(entry: Entry, exercise: Exercise) -> str:
    return quote(f"{entry.student}/{exercise.assignment}/{exercise.name}.html")


def _table(head: str, rows: str) -> str:
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="table">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _count(many: int) -> str:
    return f"{many} submission{'' if many == 1 else 's'}"
