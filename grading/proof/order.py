"""The same exercise with other random inputs and its tests in another order: what no right answer should notice."""

from __future__ import annotations

import random
import re
from dataclasses import replace

from grading.course import Exercise


def reseeded(exercise: Exercise, seed: int) -> Exercise:
    """The exercise with another number in every `seed = 123` of its tests."""
    cells = (
        replace(cell, source=re.sub(r"\bseed = \d+", f"seed = {seed}", cell.source)) if cell.kind == "test" else cell
        for cell in exercise.cells
    )
    return replace(exercise, cells=tuple(cells))


def shuffled(exercise: Exercise, seed: int) -> Exercise:
    """The exercise with its tests in another order, all of them where the last one stood: after every answer."""
    tests = list(exercise.tests)
    random.Random(seed).shuffle(tests)
    last = max((index for index, cell in enumerate(exercise.cells) if cell.kind == "test"), default=-1)
    before = [cell for cell in exercise.cells[: last + 1] if cell.kind != "test"]
    return replace(exercise, cells=(*before, *tests, *exercise.cells[last + 1 :]))
