"""Scoring answers to whole-corpus questions: which known themes they name, and in the right order of frequency.

The themes and their shares are known because the tickets are generated (``ragkit.corpus.tickets``). Spearman's rho
and Kendall's tau-b are scipy's. A theme counts as named by its words, stemmed; a paraphrase without them is missed,
so questions list alternatives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from scipy import stats

from ragkit.text import tokenize


def names_theme(answer: str, theme: str) -> bool:
    """Whether ``answer`` has the words of one of the theme's alternatives (divided by ``|``) in a row, stemmed.

    >>> names_theme("Kettles shutting off early lead.", "kettle shuts off early | cut-out")
    True
    """
    words = tokenize(answer, stem=True)
    for alternative in theme.split(" | "):
        wanted = tokenize(alternative, stem=True)
        if wanted and any(words[i : i + len(wanted)] == wanted for i in range(len(words) - len(wanted) + 1)):
            return True
    return False


def theme_recall(answer: str, themes: Sequence[str]) -> float:
    """Share of ``themes`` that ``answer`` names; no themes is a ``ValueError``.

    >>> theme_recall("Mostly limescale, then late deliveries.", ["limescale", "late delivery", "app login"])
    0.6666666666666666
    """
    if not themes:
        raise ValueError("themes is empty, so recall is undefined")
    return sum(names_theme(answer, theme) for theme in themes) / len(themes)


def rank_correlation(
    found: Mapping[str, float], truth: Mapping[str, float], kind: Literal["spearman", "kendall"] = "spearman"
) -> float:
    """Correlation in rank of the found shares or counts with the true ones, over the keys of ``truth``.

    Ties get mean ranks (Spearman) or the tau-b correction (Kendall). A theme that was not found counts as 0; a found
    one that is not in ``truth`` is left out. Where one side is constant (nothing found, say) there is no order to agree
    with, and the result is 0.0. Fewer than two themes is a ``ValueError``.

    >>> rank_correlation({"limescale": 9, "lid": 2}, {"limescale": 0.15, "lid": 0.08, "app": 0.05})
    1.0
    """
    if kind not in ("spearman", "kendall"):
        raise ValueError(f"kind must be 'spearman' or 'kendall', got {kind!r}")
    if len(truth) < 2:
        raise ValueError(f"truth must hold at least two themes, got {len(truth)}")
    left, right = [float(found.get(key, 0.0)) for key in truth], [float(value) for value in truth.values()]
    if len(set(left)) == 1 or len(set(right)) == 1:
        return 0.0
    measure = stats.spearmanr if kind == "spearman" else stats.kendalltau
    return float(round(float(measure(left, right).statistic), 12))  # 0.9999999999999999 is 1
