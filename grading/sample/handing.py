"""Makes the notebooks that a sample class hands in."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

from grading.course import Course, Exercise
from grading.course.notebook import grade_id
from grading.sample.damage import BYTES, DAMAGE
from grading.sample.pupils import CLASS, Pupil, Work
from grading.syntax import bound_names


def make_class(course: Course, pupils: list[Pupil], base: Path = CLASS.parent) -> None:
    """Write every hand-in under the course's folder of submissions, which is emptied first.

    Raises `ValueError` that names a student whose exercise or answers do not exist.
    """
    shutil.rmtree(course.submitted, ignore_errors=True)
    exercises = {exercise.name: exercise for exercise in course.exercises()}
    for pupil in pupils:
        (course.submitted / pupil.id).mkdir(parents=True)
        for work in pupil.work:
            exercise = exercises.get(work.exercise)
            if exercise is None:
                raise ValueError(f"exercise: {work.exercise!r} of {pupil.id!r} is not in this course")
            path = course.submitted / pupil.id / exercise.assignment / f"{exercise.name}.ipynb"
            path.parent.mkdir()
            path.write_bytes(make_notebook(course, exercise, work, base))


def make_notebook(course: Course, exercise: Exercise, work: Work, base: Path) -> bytes:
    """The bytes of one hand-in."""
    released = course.release / exercise.assignment / f"{exercise.name}.ipynb"
    notebook = json.loads(released.read_text(encoding="utf-8"))
    answers = read_answers(course, exercise, work.answers, base)
    for cell in notebook["cells"]:
        if grade_id(cell) in answers:
            cell["source"] = answers[grade_id(cell)]
    for name in work.damage:
        if name in DAMAGE:
            DAMAGE[name](notebook)
    data = json.dumps(notebook, ensure_ascii=False, indent=1).encode()
    for name in work.damage:
        if name in BYTES:
            data = BYTES[name](data)
    return data


def read_answers(course: Course, exercise: Exercise, answers: str, base: Path) -> dict[str, str]:
    """The text of each answer cell. A Python file goes into the cells by the names it defines, shared lines into the
    first."""
    if answers == "blank":
        return {}
    if answers == "solution":
        return {cell.id: cell.solution for cell in exercise.answers}
    path = course.root / answers if (course.root / answers).is_file() else base / answers
    if not path.is_file():
        raise ValueError(f"answers: no file {answers!r} under {course.root} or {base}")
    source = path.read_text(encoding="utf-8")
    first = exercise.answers[0].id
    if len(exercise.answers) == 1:
        return {first: source}
    lines = source.split("\n")
    owner = {name: cell.id for cell in exercise.answers for name in cell.binds}
    parts: dict[str, list[str]] = {}
    start = 0
    for node in ast.parse(source).body:  # each statement with the comments above it
        text = "\n".join(lines[start : node.end_lineno])
        start = node.end_lineno or start
        names = [name for name in bound_names([node], imports=False) if name in owner]
        parts.setdefault(owner[names[0]] if names else first, []).append(text)
    return {name: "\n".join(pieces).strip("\n") for name, pieces in parts.items()}
