"""What must be so after a case was graded: of the class as a whole, and of each piece of work in it."""

from __future__ import annotations

from pathlib import Path

from grading.course import Exercise
from grading.export.writing import Format, write_export
from grading.feedback import page_path
from grading.record import Record, read_record
from tests.hostile import handed_back, watching
from tests.hostile.cases import CONTROLS, SECRETS
from tests.hostile.results import Result
from tests.hostile.steps import Entry, Stage
from tests.hostile.world import World, exercises


def class_faults(stage: Stage) -> list[str]:
    """What is wrong with the class as a whole: honest students harmed, records of nobody, tables that are not safe."""
    world = stage.world
    faults = [f"{student} was harmed" for student in CONTROLS if marks(world, student) != full(world)]
    wanted = {world.record(student, name) for student in CONTROLS for name in exercises()}
    wanted |= {stage.record(entry, student) for entry in stage.entries for student in entry.students}
    taken_back = {stage.record(entry) for entry in stage.entries if _withdrawn(entry)}
    found = {path for path in world.records.rglob("*") if not path.is_dir()}
    faults += [f"a record too many: {path.relative_to(world.records)}" for path in sorted(found - wanted)]
    faults += [f"no record: {path.relative_to(world.records)}" for path in sorted(wanted - found - taken_back)]
    exported, unwritten = _tables(stage)
    faults += unwritten
    for path in exported:
        faults += handed_back.table_faults(path)
        text = path.read_text(encoding="utf-8", errors="replace")
        faults += [f"{word!r} is in {path.name}" for word in SECRETS if word in text]
    for page in world.course.feedback.glob("*.html"):
        faults += [f"{page.name} {fault}" for fault in handed_back.alive(page.read_text(encoding="utf-8"))]
    return faults


def _tables(stage: Stage) -> tuple[list[Path], list[str]]:
    """Every table of marks: the one that grading writes, and those that are exported; and what could not be written."""
    to, course = stage.world.root / "exported", stage.world.course
    places: dict[Format, Path] = {"csv": to / "marks.csv", "canvas": to / "canvas.csv", "moodle": to / "moodle"}
    made, faults = [] if stage.table is None else [stage.table], []
    for form, place in places.items():
        try:
            made += write_export(form, course, place).files
        except Exception as problem:  # no name and no mark may keep an instructor from the table
            faults.append(f"the table for {form} was not written: {type(problem).__name__}: {problem}")
    return made, faults


def marks(world: World, student: str) -> list[float | None]:
    """What the gradebook has for a student, exercise by exercise."""
    return [watching.score(world.course.database, student, exercise) for exercise in exercises()]


def full(world: World) -> list[float]:
    """Full marks, exercise by exercise."""
    return [world.course.exercise(name).max_score for name in exercises()]


def _withdrawn(entry: Entry) -> bool:
    steps = entry.variant.steps
    return "withdraw" in steps and "hand in second" not in steps


def result(stage: Stage, entry: Entry) -> Result:
    """What became of one piece of work; faults of the run are faults of each."""
    variant, world = entry.variant, stage.world
    exercise = world.course.exercise(entry.case.exercise)
    faults = list(stage.faults)
    score = watching.score(world.course.database, entry.student, exercise.assignment)
    status = ""
    if _withdrawn(entry):
        page = page_path(world.course.feedback, exercise, entry.student)
        faults += [] if score is None else ["taken back, and the gradebook has a mark"]
        faults += [] if not page.exists() else ["taken back, and there is a page"]
    else:
        for student in entry.students:
            record = read_record(stage.record(entry, student))
            if record is None:
                faults.append(f"no record that can be read of {student}")
                continue
            status = record.verdict.status
            faults += _faults(stage, entry, exercise, record)
    few = "" if variant.least == variant.score else f"{variant.least:g} to "
    expected = f"{few}{variant.score:g} {' or '.join(variant.statuses)}"
    return Result(entry.id, "none" if _withdrawn(entry) else expected, score, status, tuple(dict.fromkeys(faults)))


def _faults(stage: Stage, entry: Entry, exercise: Exercise, record: Record) -> list[str]:
    """What is wrong with the marks of one student, and with what is handed back."""
    variant, verdict, course = entry.variant, record.verdict, stage.world.course
    faults = []
    score = watching.score(course.database, record.student, exercise.assignment)
    if score is None or not variant.least - 1e-9 <= score <= variant.score + 1e-9:
        faults.append(f"the score is {score}, not {variant.score:g}")
    if "mark by hand" in variant.steps:
        faults += [] if watching.flagged(course.database, record.student) else ["a person's mark is not flagged"]
    elif score != verdict.score:
        faults.append(f"the gradebook says {score}, the record {verdict.score}")
    if verdict.status not in variant.statuses:
        faults.append(f"the status is {verdict.status}, not {' or '.join(variant.statuses)}: {verdict.fault[-300:]}")
    if [test.id for test in verdict.tests] != [cell.id for cell in exercise.tests]:
        faults.append("the tests are not those of the source")
    found = {test.id: test.status for test in verdict.tests}
    faults += [
        f"{name} is {found.get(name)}, not {want}" for name, want in variant.tests.items() if found[name] != want
    ]
    notes = "\n".join((verdict.message, *verdict.notes))
    faults += [f"no note says {word!r}" for word in variant.notes if word not in notes]
    if verdict.seconds > entry.case.seconds:
        faults.append(f"took {verdict.seconds:.0f} seconds")
    given = handed_back.texts(course, exercise, record)
    if not given["feedback page"]:
        faults.append("there is no feedback page")
    return faults + handed_back.held(given, (*SECRETS, *entry.case.absent), entry.case.unescaped)
