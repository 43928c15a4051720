"""What the routers share: a decision with its price, the features of a question, and how well a confidence is founded.

A router is worth what it saves less what it costs itself, so every decision carries its own cost. And a router that
gives a number is judged by that number: Guo et al., *On Calibration of Modern Neural Networks* (ICML 2017), for the
reliability curve and the expected calibration error; the area under the ROC curve as the share of pairs in the right
order (Mann and Whitney 1947). Left out: recalibration by temperature.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

import numpy as np

from ragkit.metrics import Interval
from ragkit.query.reward import surface_features


@dataclass(frozen=True, slots=True)
class RouterCost:
    """What deciding cost: model calls, the tokens of those, and texts that were embedded."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    embedded: int = 0

    def __add__(self, other: RouterCost) -> RouterCost:
        return RouterCost(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.embedded + other.embedded,
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """A route, how sure the router is of it (0 to 1; None where it gave no number), its cost, and why."""

    route: str
    confidence: float | None
    cost: RouterCost
    note: str = ""


FEATURES = (
    "words/10",
    "codes",
    "pointers",
    "capitals",
    "question word",
    "numbers",
    "and, or",
    "imperative",
    "whole corpus",
    "time",
    "question mark",
)
"""Names of what `question_features` gives, in order."""

_WORDS = {
    "question word": r"\A\W*(?:what|which|who|whom|whose|when|where|why|how)\b",
    "numbers": r"(?<![\w-])\d[\d,.]*(?![\w-])",
    "and, or": r"\b(?:and|or|both|than|versus|compare)\b",
    "imperative": r"\A\W*(?:write|tell|suggest|translate|rewrite|draft|make|count|convert|compose|thanks|hello|good)\b",
    "whole corpus": r"\b(?:all|across|common|most|often|overall|themes?|trends?|main|complain\w*|frequent)\b",
    "time": r"\b(?:(?:19|20)\d\d|before|after|since|until|now|current\w*|latest|changed?|still|over the years)\b",
    "question mark": r"\?\s*\Z",
}


def question_features(question: str) -> list[float]:
    """What a question looks like, from its surface alone, one number for each of ``FEATURES``; costs no model.

    >>> dict(zip(FEATURES, question_features("Write a poem about rain"), strict=True))["imperative"]
    1.0
    """
    counted = [float(len(re.findall(pattern, question, re.I))) for pattern in _WORDS.values()]
    return [*surface_features(question), *counted]


class Bin(NamedTuple):
    """A stretch of confidences: its ends, how many fell into it, their mean, and how often they were right."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a confidence did: error and curve, the area under the ROC curve, and the accuracy that it is often hidden
    behind, beside that of always saying the more frequent (``majority``)."""

    error: float
    auc: float | None
    brier: float
    accuracy: float
    majority: float
    bins: tuple[Bin, ...]
    n: int


def calibration(confidences: Sequence[float], right: Sequence[bool], bins: int = 10) -> Calibration:
    """Hold confidences from 0 to 1 against what was true, one pair a question.

    The expected calibration error is the mean of ``|accuracy - confidence|`` over bins of equal width, weighted by
    their numbers; a bin holds its upper end, the first one its lower end too, and empty ones are left out.
    ``accuracy`` counts a confidence of at least 0.5 as a yes. ``auc`` is None where all answers are alike.

    >>> report = calibration([0.9, 0.9, 0.1, 0.1], [True, False, False, False])
    >>> round(report.error, 3), report.accuracy, report.majority
    (0.25, 0.75, 0.75)
    """
    values, truth = _pairs(confidences, right)
    if ((values < 0) | (values > 1)).any():
        raise ValueError("confidences must lie in [0, 1]")
    if bins < 1:
        raise ValueError(f"bins must be at least 1, got {bins}")
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, bins - 1)
    curve = []
    for i in range(bins):
        here = place == i
        if here.any():
            mean, share = float(values[here].mean()), float(truth[here].mean())
            curve.append(Bin(float(edges[i]), float(edges[i + 1]), int(here.sum()), mean, share))
    return Calibration(
        error=sum(part.n * abs(part.accuracy - part.confidence) for part in curve) / len(values),
        auc=roc_auc(confidences, right),
        brier=float(((values - truth) ** 2).mean()),
        accuracy=float(((values >= 0.5) == truth).mean()),
        majority=float(max(truth.mean(), 1 - truth.mean())),
        bins=tuple(curve),
        n=len(values),
    )


def roc_auc(scores: Sequence[float], positive: Sequence[bool]) -> float | None:
    """The share of (positive, negative) pairs in which the positive has the higher score; a tie counts a half.

    None where one of the two kinds is missing: there is no pair.

    >>> roc_auc([0.9, 0.4, 0.4, 0.1], [True, True, False, False])
    0.875
    """
    values, truth = _pairs(scores, positive)
    above, below = values[truth], np.sort(values[~truth])
    if not len(above) or not len(below):
        return None
    wins = np.searchsorted(below, above, side="left") + np.searchsorted(below, above, side="right")
    return float(wins.sum() / (2 * len(above) * len(below)))


def roc_points(scores: Sequence[float], positive: Sequence[bool]) -> list[tuple[float, float]]:
    """The ROC curve: for every threshold from high to low, the shares of negatives and of positives at or above it.

    Begins at (0, 0) and ends at (1, 1); equal scores make one step, so that the area below the straight lines between
    the points is `roc_auc`. A ``ValueError`` where one of the two kinds is missing.

    >>> roc_points([0.9, 0.4, 0.4, 0.1], [True, True, False, False])
    [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]
    """
    values, truth = _pairs(scores, positive)
    if truth.all() or not truth.any():
        raise ValueError("positive must hold both kinds: a curve needs positives and negatives")
    above = [values >= threshold for threshold in np.unique(values)[::-1]]
    shares = [(float(up[~truth].mean()), float(up[truth].mean())) for up in above]
    return [(0.0, 0.0), *shares]


def auc_interval(
    scores: Sequence[float], positive: Sequence[bool], seed: int = 0, level: float = 0.95, resamples: int = 2000
) -> Interval | None:
    """`roc_auc` with a percentile bootstrap interval over questions; its ``mean`` is the area of all of them.

    Resamples that drew one kind only have no area and are left out. None where there is none to begin with.

    >>> auc_interval([0.9, 0.8, 0.2, 0.1], [True, True, False, False])
    Interval(mean=1.0, low=1.0, high=1.0, n=4)
    """
    area = roc_auc(scores, positive)
    if area is None:
        return None
    values, truth = _pairs(scores, positive)
    draws = np.random.default_rng(seed).integers(len(values), size=(resamples, len(values)))
    areas = [found for draw in draws if (found := roc_auc(values[draw], truth[draw])) is not None]
    low, high = np.quantile(areas, [(1 - level) / 2, (1 + level) / 2])
    return Interval(area, float(low), float(high), len(values))


def _pairs(numbers: Sequence[float], flags: Sequence[bool]) -> tuple[np.ndarray, np.ndarray]:
    if len(numbers) != len(flags):
        raise ValueError(f"there are {len(numbers)} numbers and {len(flags)} truths: they must be aligned by question")
    if not len(numbers):
        raise ValueError("there are no questions to judge by")
    if not all(isfinite(number) for number in numbers):
        raise ValueError("a confidence or score is not finite")
    return np.asarray(numbers, dtype=np.float64), np.asarray(flags, dtype=bool)
