"""A rewriter trained on the reader's reward, small enough to train in a second.

Ma et al. (EMNLP 2023), section 3.2, tune a T5 rewriter by PPO so that the frozen reader's answers improve; the reward
is EM + F1 + a bonus when the retrieved text holds the answer. Here the policy is smaller and its idea the same: a few
ways to rewrite are given (none, a prompted rewrite, an expansion, …), each is *run* on every development question, and
a policy learns which one to pick for a new question. With features it is a ridge regression of reward on features, one
a rewriter (a contextual bandit with all rewards known); without, it is the rewriter with the best mean.

Left out: PPO, its penalty for straying from the first model, and generating rewrites that no given rewriter produces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.metrics import exact_match, token_f1
from ragkit.text import normalize_answer

Rewriter: TypeAlias = Callable[[str], str]
Features: TypeAlias = Callable[[str], Sequence[float]]

_CODE = re.compile(r"\b(?=\w*[-\d])(?=[\w-]*\d)[\w-]{3,}\b")
_POINTER = re.compile(r"\b(?:it|its|they|them|that|those|this|these|one|there)\b", re.I)


def reader_reward(answer: str, golds: Sequence[str], texts: Sequence[str]) -> float:
    """EM + F1 + hit, where hit is 1 if a retrieved text holds a gold answer and -1 if none does: in [-1, 3].

    ``golds`` are the answer and its aliases; EM and F1 take the best of them. The weights of Ma et al. are tuned;
    here all are 1.
    """
    if not golds:
        raise ValueError("golds must hold at least one answer")
    found = "\n".join(f" {normalize_answer(text)} " for text in texts)
    hit = any(f" {normal} " in found for gold in golds if (normal := normalize_answer(gold)))
    return float(exact_match(answer, golds)) + float(token_f1(answer, golds)) + (1.0 if hit else -1.0)


def surface_features(question: str) -> list[float]:
    """What a question looks like: length in words, codes, words that point elsewhere, capitals past the first word.

    >>> surface_features("Where is order ORD-482913 now?")
    [0.5, 1.0, 0.0, 1.0]
    """
    words = question.split()
    capitals = sum(word[:1].isupper() for word in words[1:])
    found = (_CODE.findall(question), _POINTER.findall(question))
    return [len(words) / 10, *(float(len(f)) for f in found), float(capitals)]


@dataclass(frozen=True)
class RewriteSelector:
    """A trained policy; calling it rewrites a question with the rewriter it expects most of.

    ``names`` are in the order given in training, ``weights`` has shape ``(rewriters, 1 + features)``, bias first;
    ``mean_reward`` is each rewriter's mean on the training questions, for the table beside the choice.
    """

    rewriters: Mapping[str, Rewriter]
    names: tuple[str, ...]
    weights: NDArray[np.float64]
    mean_reward: Mapping[str, float]
    features: Features | None

    def expected(self, question: str) -> dict[str, float]:
        """The reward that each rewriter is expected to earn on ``question``."""
        row = np.array([1.0, *(self.features(question) if self.features else ())])
        return dict(zip(self.names, (self.weights @ row).tolist(), strict=True))

    def choose(self, question: str) -> str:
        """The name of the rewriter with the highest expected reward; ties go to the one given first."""
        expected = self.expected(question)
        return max(self.names, key=lambda name: round(expected[name], 9))

    def __call__(self, question: str) -> str:
        return self.rewriters[self.choose(question)](question)


def reward_best(
    rewriters: Mapping[str, Rewriter],
    questions: Sequence[str],
    reward: Callable[[int, str], float],
    features: Features | None = surface_features,
    ridge: float = 1.0,
) -> RewriteSelector:
    """Run every rewriter on every development question and learn which to pick.

    ``reward(i, rewrite)`` says what the reader earned on question ``i`` when the search used ``rewrite`` (larger is
    better; see `reader_reward`). Cost: questions times rewriters of rewriting, searching and reading, once. Use the
    development split here and report on the test split: the training reward of a policy is not its worth. ``features``
    ``None`` learns the mean alone. ``ridge`` (above 0) pulls the feature weights to 0, never the mean. Put the cheapest
    rewriter first: it wins ties. Raises `ValueError` without rewriters or questions.
    """
    if not rewriters:
        raise ValueError("rewriters must hold at least one rewriter")
    if not questions:
        raise ValueError("questions must hold at least one development question")
    if not ridge > 0:
        raise ValueError(f"ridge must be above 0, got {ridge!r}")
    names = tuple(rewriters)
    rewards = np.array([[reward(i, rewriters[name](q)) for name in names] for i, q in enumerate(questions)])
    means = rewards.mean(axis=0)
    x = np.array([features(q) if features else () for q in questions], dtype=np.float64).reshape(len(questions), -1)
    centre = x.mean(axis=0)
    # Centred, so that the penalty touches slopes only: with a huge ridge the policy is "best on average".
    slopes = np.linalg.solve(
        (x - centre).T @ (x - centre) + ridge * np.eye(x.shape[1]), (x - centre).T @ (rewards - means)
    )
    weights = np.column_stack([means - centre @ slopes, slopes.T])
    return RewriteSelector(dict(rewriters), names, weights, dict(zip(names, means.tolist(), strict=True)), features)
