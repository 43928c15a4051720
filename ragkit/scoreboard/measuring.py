"""Runs techniques over the questions of the corpus and scores them: recall at five, or how right an answer is."""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Iterable
from functools import lru_cache
from statistics import median
from typing import Any

from ragkit.corpus import Question
from ragkit.metrics import recall_at_k
from ragkit.scoreboard import entries, keeping
from ragkit.scoreboard.score import Asked, Score
from ragkit.scoreboard.technique import Find, K, Stage, Technique, World
from ragkit.show import Table, table

BASELINE = "hybrid"
"""The technique that gains are measured over."""


@lru_cache(maxsize=1)
def techniques() -> dict[str, Technique]:
    """Every technique by name, in the order of the chapters. A name that stands twice is a ``ValueError``."""
    found: dict[str, Technique] = {}
    modules = [importlib.import_module(f"{entries.__name__}.{m.name}") for m in pkgutil.iter_modules(entries.__path__)]
    for technique in sorted((t for module in modules for t in module.TECHNIQUES), key=lambda t: t.chapter):
        if technique.name in found:
            raise ValueError(f"two techniques are called {technique.name!r}")
        found[technique.name] = technique
    return found


def measure(name: str, answerer: str = "") -> Score:
    """The score of a technique, with the answers of one of its ``answerers`` ("" where no model is asked).

    What the same package measured before is read and not measured again. An unknown name or answerer is a
    ``ValueError``.
    """
    technique = techniques().get(name)
    if technique is None:
        raise ValueError(f"name must be one of {', '.join(techniques())}, got {name!r}")
    if answerer not in (technique.answerers or ("",)):
        who = " or ".join(map(repr, technique.answerers)) or "nobody: no model is asked"
        raise ValueError(f"answerer of {name!r} must be {who}, got {answerer!r}")
    if (score := keeping.kept(name, answerer)) is None:
        score = run(technique, answerer, _world())
        keeping.keep(score)
    return score


def scores(chapter: str | None = None) -> list[Score]:
    """Every score, or those of one chapter's techniques, one for each answerer, in the order of the chapters."""
    chosen = [technique for technique in techniques().values() if chapter in (None, technique.chapter)]
    if not chosen:
        raise ValueError(f"chapter has no technique on the scoreboard: {chapter!r}")
    return [measure(technique.name, answerer) for technique in chosen for answerer in technique.answerers or ("",)]


def rows(chapter: str, classes: Iterable[str] | None = None) -> Table:
    """The table of a chapter's techniques: one row a class, with the gain over hybrid search on the same questions.

    ``classes`` picks classes, all by default; one that no technique of the chapter was asked is a ``ValueError``.
    Techniques that give answers have no gain over a search.
    """
    measured = scores(chapter)
    wanted = {cls for score in measured for cls in score.classes} if classes is None else set(classes)
    if unknown := sorted(wanted - {cls for score in measured for cls in score.classes}):
        raise ValueError(f"no technique of {chapter} was asked a question of the class {unknown[0]!r}")
    lines = [_row(score, cls) for score in measured for cls in score.classes if cls in wanted]
    who = sorted({name for score in measured for name in (score.answerer, score.indexed) if name}, reverse=True)
    date = max(score.date for score in measured)
    return table(
        lines,
        caption="Rows of this chapter on the scoreboard",
        source="replayed" if who else "computed",
        answered=who or None,
        date=date if who else None,
        note="calls, tokens and ms are those of a question; what index-time calls cost is not in them",
        formats={"over hybrid": "+.2f", "calls": ".1f", "tokens": ",.0f", "ms": ".1f"},
    )


def run(technique: Technique, answerer: str, world: World) -> Score:
    """Measure a technique now, whatever is kept."""
    stage = Stage(world, answerer)
    find = technique.make(stage)
    asked, times = {}, []
    for question in technique.asked(world):
        started = time.perf_counter()
        value = _value(technique, question, find)
        times.append(1000 * (time.perf_counter() - started))
        asked[question.id] = Asked(question.cls, question.split, value)
    calls = sum(meter.calls for meter in stage.meters)
    tokens = sum(meter.prompt_tokens + meter.completion_tokens for meter in stage.meters)
    return Score(
        technique.name,
        technique.chapter,
        answerer,
        technique.indexed,
        technique.measure,
        asked,
        calls / len(asked),
        tokens / len(asked),
        median(times) if technique.timed and not technique.answerers else None,
        stage.date,
    )


def _value(technique: Technique, question: Question, find: Find) -> float:
    found = find(question)
    if technique.judge:
        if not isinstance(found, str):
            raise TypeError(f"{technique.name!r} must give an answer, since it is judged by one")
        return float(technique.judge(question, found))
    if isinstance(found, str):
        raise TypeError(f"{technique.name!r} must give hits: it has no judge of answers")
    return recall_at_k([hit.id for hit in found], question.relevant, K)


def _row(score: Score, cls: str) -> dict[str, Any]:
    baseline = measure(BASELINE)
    compared = score.measure == baseline.measure and score.technique != BASELINE
    return {
        "technique": score.technique,
        "answered": score.who,
        "class": cls.replace("_", " "),
        score.measure: score.interval(cls),
        "over hybrid": score.gain(baseline, cls) if compared else None,
        "calls": score.calls,
        "tokens": score.tokens,
        "ms": score.milliseconds,
    }


@lru_cache(maxsize=1)
def _world() -> World:
    return World()
