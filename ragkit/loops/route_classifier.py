"""A router that is trained: multinomial logistic regression from a question to the route that answers its class.

Jeong et al., *Adaptive-RAG* (NAACL 2024), train a T5 to say whether a question needs no retrieval, one step or several;
section 3.2 takes labels from which strategy answered right, and from the data set where none did. Here the classifier
is as small as the course's data (logistic regression on MiniLM vectors or on surface features, seconds to train), and
the label of a question is the route that does best on its *class* in the development split. Training is deterministic;
the folds of the cross-validation are seeded.

Left out: a label for each single question from its own outcomes, which needs more questions than a course has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax

from ragkit.base import Embedder
from ragkit.loops.routes import Decision, RouterCost, question_features

Featurise: TypeAlias = Callable[[Sequence[str]], ArrayLike]
"""Questions in, one row of features each out, shape ``(n, d)``."""


def surface(questions: Sequence[str]) -> NDArray[np.float64]:
    """The features of `ragkit.loops.routes.question_features`, one row a question."""
    return np.array([question_features(question) for question in questions], dtype=np.float64)


def embedded(embed: Embedder) -> Featurise:
    """The vectors of an embedder as features."""
    return lambda questions: embed(list(questions))


@dataclass(frozen=True)
class RouteClassifier:
    """A trained router. ``weights`` has shape ``(routes, 1 + d)``, bias first, for features scaled by ``centre`` and
    ``scale``; ``cost`` is that of one decision."""

    routes: tuple[str, ...]
    weights: NDArray[np.float64]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    featurise: Featurise
    cost: RouterCost

    def probabilities(self, questions: Sequence[str]) -> NDArray[np.float64]:
        """The probability of every route, shape ``(n, routes)``; rows sum to 1."""
        if not questions:
            return np.empty((0, len(self.routes)))
        rows = (_matrix(self.featurise(questions), len(questions)) - self.centre) / self.scale
        result: NDArray[np.float64] = softmax(rows @ self.weights[:, 1:].T + self.weights[:, 0], axis=1)
        return result

    def __call__(self, question: str) -> Decision:
        """The most probable route; a tie goes to the route given first."""
        row = self.probabilities([question])[0]
        best = int(np.argmax(np.round(row, 12)))
        return Decision(self.routes[best], float(row[best]), self.cost)


def labels_by_class(classes: Sequence[str], route_of: Mapping[str, str]) -> list[str]:
    """The label of every question: the route that answers its class; a class without one is a `ValueError`.

    >>> labels_by_class(["theme", "single_fact"], {"theme": "global", "single_fact": "hybrid"})
    ['global', 'hybrid']
    """
    if missing := sorted(set(classes) - set(route_of)):
        raise ValueError(f"route_of has no route for the class {missing[0]!r}")
    return [route_of[cls] for cls in classes]


def best_routes(scores: Mapping[str, Mapping[str, float]], cost: Mapping[str, float] | None = None) -> dict[str, str]:
    """For every class the route with the highest score; ties go to the cheaper route, then to the one given first.

    ``scores[route][cls]`` is measured on the development split; every route must have every class.

    >>> best_routes({"hybrid": {"fact": 0.9, "theme": 0.1}, "global": {"fact": 0.9, "theme": 0.6}}, {"global": 2.0})
    {'fact': 'hybrid', 'theme': 'global'}
    """
    if not scores:
        raise ValueError("scores must hold at least one route")
    classes = list(next(iter(scores.values())))
    for route, row in scores.items():
        if set(row) != set(classes):
            raise ValueError(f"scores of {route!r} are of other classes than those of the first route")
    price = dict(cost or {})
    return {cls: max(scores, key=lambda route: (scores[route][cls], -price.get(route, 0.0))) for cls in classes}


def train_router(
    questions: Sequence[str],
    labels: Sequence[str],
    featurise: Featurise = surface,
    *,
    l2: float = 1.0,
    cost: RouterCost | None = None,
) -> RouteClassifier:
    """Fit the router on development questions.

    It minimises the sum of the log-losses plus ``l2 / 2`` times the squared weights, the bias left out: scikit-learn's
    ``LogisticRegression`` with ``C = 1 / l2``. Features are centred and scaled to unit deviation first; a constant one
    stays 0. One label alone is allowed: then that route always comes out. ``cost`` is that of one decision, by default
    none for surface features and one embedded text for others.
    """
    if len(questions) != len(labels):
        raise ValueError(f"labels has {len(labels)} entries for {len(questions)} questions")
    if not questions:
        raise ValueError("questions must hold at least one development question")
    if not l2 > 0:
        raise ValueError(f"l2 must be above 0, got {l2!r}")
    routes = tuple(dict.fromkeys(labels))
    x = _matrix(featurise(questions), len(questions))
    centre, spread = x.mean(axis=0), x.std(axis=0)
    scale = np.where(spread > 1e-12, spread, 1.0)
    weights = _fit((x - centre) / scale, np.array([routes.index(label) for label in labels]), len(routes), l2)
    own = RouterCost() if featurise is surface else RouterCost(embedded=1)
    return RouteClassifier(routes, weights, centre, scale, featurise, own if cost is None else cost)


def _fit(x: NDArray[np.float64], y: NDArray[np.intp], routes: int, l2: float) -> NDArray[np.float64]:
    """The weights of least loss, shape ``(routes, 1 + d)``; the loss is convex, so L-BFGS finds the only minimum."""
    from scipy.optimize import minimize  # takes half a second to import, and only training needs it

    rows = np.column_stack([np.ones(len(x)), x])
    hot = np.eye(routes)[y]
    penalty = np.full(rows.shape[1], l2)
    penalty[0] = 0.0

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(routes, -1)
        logits = rows @ weights.T
        value = -float((hot * log_softmax(logits, axis=1)).sum()) + 0.5 * float((penalty * weights**2).sum())
        slope = (softmax(logits, axis=1) - hot).T @ rows + penalty * weights
        return value, slope.ravel()

    start = np.zeros(routes * rows.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-13, "gtol": 1e-8})
    weights: NDArray[np.float64] = found.x.reshape(routes, -1)
    return weights


def cross_validate(
    questions: Sequence[str],
    labels: Sequence[str],
    featurise: Featurise = surface,
    *,
    l2: float = 1.0,
    folds: int = 5,
    seed: int = 0,
) -> list[Decision]:
    """The decision on every question by a router that has not seen it, in the order of ``questions``.

    The training accuracy of a router on 384 features and 80 questions is near 1 and says nothing. Folds are stratified:
    each label is dealt out in turn, in an order drawn from ``seed``.
    """
    if folds < 2:
        raise ValueError(f"folds must be at least 2, got {folds}")
    if len(questions) < folds:
        raise ValueError(f"questions has {len(questions)} entries, fewer than the {folds} folds")
    order = np.random.default_rng(seed).permutation(len(questions))
    dealt = sorted(order.tolist(), key=lambda i: labels[i])
    fold_of = {i: place % folds for place, i in enumerate(dealt)}
    decisions: dict[int, Decision] = {}
    for fold in range(folds):
        seen = [i for i in range(len(questions)) if fold_of[i] != fold]
        router = train_router([questions[i] for i in seen], [labels[i] for i in seen], featurise, l2=l2)
        decisions |= {i: router(questions[i]) for i in range(len(questions)) if fold_of[i] == fold}
    return [decisions[i] for i in range(len(questions))]


def _matrix(rows: ArrayLike, n: int) -> NDArray[np.float64]:
    x = np.asarray(rows, dtype=np.float64)
    if x.ndim != 2 or len(x) != n or not np.isfinite(x).all():
        raise ValueError(f"featurise must give {n} rows of finite numbers, got shape {x.shape}")
    return x
