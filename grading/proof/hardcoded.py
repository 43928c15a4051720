"""Machine-made answers that are hard-coded to the visible examples: what a student gets who looks the values up.

The instructor's answer is run by the visible parts of the tests with every call written down. What is made of the notes
is a function (or a class, whose methods go by all that was called before) that knows these calls and nothing else; to
any other it gives a value that looks right. It should pass what a student can see, and not more.

Left out: an answer that is no function or class, where a value written down is what was asked for.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any

from grading.course import Exercise, SourceCell
from grading.course.notebook import without_lines
from grading.proof.recording import Notes, public_methods, watched

FALLBACKS = ("first", "empty")  # for a call that was not seen: the first value that was, or an empty one of its kind
EMPTY = {"[": "[]", "{": "{}", "(": "()", "'": "''", '"': "''"} | dict.fromkeys("-0123456789", "0")  # by first letter

HEAD = """\
import hashlib

SEEN = {{
{seen}
}}
USUAL = {{
{usual}
}}


def fault(kind):
    raise kind("as in the example")


def step(before, name, args, kwargs):
    return hashlib.sha256(f"{{before}} {{name}} {{args!r}} {{kwargs!r}}".encode()).hexdigest()[:16]
"""
FUNCTION = """

def {name}(*args, **kwargs):
    return SEEN.get(step("", "{name}", args, kwargs), USUAL["{name}"])()
"""
CLASS = """

class {name}:
    def __init__(self, *args, **kwargs):
        self.called = step("", "{name}", args, kwargs)
"""
METHOD = """
    def {name}(self, *args, **kwargs):
        self.called = step(self.called, "{name}", args, kwargs)
        return SEEN.get(self.called, USUAL["{name}"])()
"""


def hard_coded(exercise: Exercise, answer: SourceCell) -> dict[str, str]:
    """An answer that knows the visible examples alone, for each kind of fallback; {} where it is no function."""
    space: dict[str, Any] = {"__name__": "__main__"}
    last = max((index for index, cell in enumerate(exercise.cells) if cell.kind == "test"), default=-1)
    for cell in exercise.cells[: last + 1]:
        if cell.kind in ("answer", "setup"):
            _execute(cell.solution if cell.kind == "answer" else cell.source, space)
    made = {name: space[name] for name in answer.binds if callable(space.get(name))}
    notes = Notes()
    space.update({name: watched(thing, name, notes) for name, thing in made.items()})
    for test in exercise.tests:
        _execute(without_lines(test.source, test.hidden_lines), dict(space))
    return {fallback: _text(made, notes, fallback) for fallback in FALLBACKS} if made else {}


def _execute(source: str, space: dict[str, Any]) -> None:
    """Run a cell of the instructor's, silently; one that fails is the source check's business."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        exec(compile(source, "<cell>", "exec", dont_inherit=True), space)


def _text(made: dict[str, Any], notes: Notes, fallback: str) -> str:
    """The answer's text."""
    methods = {name: public_methods(thing) if isinstance(thing, type) else None for name, thing in made.items()}
    usual = {}
    for name, own in methods.items():
        for called in [name] if own is None else own:
            value = notes.usual.get(called, "None")
            usual[called] = EMPTY.get(value[:1], value) if fallback == "empty" else value
    text = HEAD.format(seen=_entries(notes.seen), usual=_entries(usual))
    for name, own in methods.items():
        text += FUNCTION.format(name=name) if own is None else CLASS.format(name=name)
        text += "".join(METHOD.format(name=called) for called in own or ())
    return text


def _entries(outcomes: dict[str, str]) -> str:
    """Lines of a dictionary whose values are made anew at each look."""
    return "\n".join(f"    {key!r}: lambda: {outcome}," for key, outcome in outcomes.items())
