"""RAPTOR's clusters: a Gaussian mixture whose size BIC chooses, soft membership, first over all, then inside each.

Sarthi et al., *RAPTOR* (ICLR 2024), section 3: vectors are reduced, a mixture is fitted for every number of components
and the one with the least BIC kept; a text belongs to every component that has it with a probability above 0.1; the
global clusters are clustered again locally; a cluster too long for one summary is clustered once more.

Vectors are reduced by PCA, which is deterministic; the paper's UMAP is ``umap``, where that package is installed. The
authors' code is left in five points. BIC is tried over 1 … max *inclusive*. Membership goes by position and never by
equality of vectors, so that a text that occurs twice is two texts. A text whose best component stays below the
threshold joins it all the same (there it vanishes from the tree). The recursion keeps the caller's parameters and has a
bound (there it falls back to the defaults and may never end). Few texts are one cluster. Left out: other covariances
than full.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from math import isqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

SEED = 224
Reducer: TypeAlias = Callable[[NDArray[np.float64], int, bool, int], NDArray[np.float64]]
"""``(vectors (n, d), dimensions, whether this is the global step, seed)`` to ``(n, dimensions)``."""


def pca(vectors: NDArray[np.float64], dimensions: int, is_global: bool = True, seed: int = SEED) -> NDArray[np.float64]:
    """The first principal components; fewer than ``dimensions`` where the vectors do not have so many."""
    kept = min(dimensions, *vectors.shape)
    if (vectors == vectors[0]).all():  # no variance to share out: scikit-learn would divide by it
        return np.zeros((len(vectors), kept))
    reduced: NDArray[np.float64] = PCA(kept, svd_solver="full", random_state=seed).fit_transform(vectors)
    return reduced


def umap(
    vectors: NDArray[np.float64], dimensions: int, is_global: bool = True, seed: int = SEED
) -> NDArray[np.float64]:
    """The paper's reduction: cosine UMAP with √(n - 1) neighbours globally, 10 locally; seeded, unlike the authors'.

    Needs the package ``umap-learn``. With ``n`` texts there are at most ``n - 1`` neighbours and ``n - 2`` dimensions,
    and at least two neighbours.
    """
    n = len(vectors)
    neighbours = max(2, min(isqrt(n - 1) if is_global else 10, n - 1))
    model: Any = importlib.import_module("umap").UMAP(
        n_neighbors=neighbours, n_components=max(1, min(dimensions, n - 2)), metric="cosine", random_state=seed
    )
    return np.asarray(model.fit_transform(vectors), dtype=np.float64)


def mixture(points: NDArray[np.float64], max_components: int = 50, seed: int = SEED) -> GaussianMixture:
    """The fitted mixture with the least BIC over 1 … ``max_components`` inclusive, the smaller one on a tie.

    Never more components than distinct points. The time of a tree goes into these fits: lower the bound first. BIC is
    no safe guide when there are about as many components as points: a component that sits on a point alone has a
    likelihood bounded only by scikit-learn's floor on the variance.
    """
    if max_components < 1:
        raise ValueError(f"max_components must be at least 1, got {max_components}")
    most = min(max_components, len(np.unique(points.round(9), axis=0)))  # equal vectors differ by rounding after PCA
    fits = [GaussianMixture(n, random_state=seed).fit(points) for n in range(1, most + 1)]
    return min(fits, key=lambda fit: fit.bic(points))  # min keeps the first among equals


def members(probabilities: ArrayLike, threshold: float = 0.1) -> list[list[int]]:
    """Component -> positions it has with more than ``threshold``, or as the best of a row that passes nowhere.

    >>> members([[0.95, 0.05], [0.5, 0.5], [0.0, 1.0]])
    [[0, 1], [1, 2]]
    """
    table = np.asarray(probabilities, dtype=np.float64)
    chosen = table > threshold
    chosen[np.arange(len(table)), table.argmax(axis=1)] = True
    return [np.flatnonzero(column).tolist() for column in chosen.T]


def global_then_local(
    vectors: NDArray[np.float64], dimensions: int, threshold: float, max_components: int, reduce: Reducer, seed: int
) -> list[tuple[int, ...]]:
    """Clusters as sorted tuples of positions: local ones inside global ones, empty ones and repeats dropped.

    A global cluster of at most ``dimensions + 1`` texts stays whole, and so does a whole collection of that size.
    """

    def soft(positions: list[int], is_global: bool) -> list[list[int]]:
        if len(positions) <= dimensions + 1:
            return [positions]
        points = reduce(vectors[positions], dimensions, is_global, seed)
        found = members(mixture(points, max_components, seed).predict_proba(points), threshold)
        return [[positions[i] for i in group] for group in found if group]

    local = [tuple(group) for part in soft(list(range(len(vectors))), True) for group in soft(part, False)]
    return list(dict.fromkeys(local))


def clusters(
    vectors: ArrayLike,
    tokens: Sequence[int],
    *,
    dimensions: int = 10,
    threshold: float = 0.1,
    token_limit: int = 3500,
    max_components: int = 50,
    max_depth: int = 3,
    reduce: Reducer = pca,
    seed: int = SEED,
) -> list[tuple[int, ...]]:
    """Soft clusters of ``n`` texts as sorted tuples of positions, each position in at least one; ``[]`` for no texts.

    ``vectors`` is ``(n, d)``, ``tokens`` the length of each text. A cluster of several texts that is longer than
    ``token_limit`` is clustered again with the same parameters, at most ``max_depth`` times over; where that makes it
    no smaller, it is cut into runs of neighbouring positions that fit. Only a single text can be longer than the limit.
    """
    table = np.asarray(vectors, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(tokens):
        raise ValueError(f"vectors must be (n, d) with n = {len(tokens)} as in tokens, got shape {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("vectors holds a value that is not finite")
    for name, value, least in (
        ("dimensions", dimensions, 1),
        ("token_limit", token_limit, 1),
        ("max_depth", max_depth, 0),
    ):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    if not 0 <= threshold < 1:
        raise ValueError(f"threshold must lie in [0, 1), got {threshold!r}")
    split = partial(
        global_then_local,
        dimensions=dimensions,
        threshold=threshold,
        max_components=max_components,
        reduce=reduce,
        seed=seed,
    )

    def fitting(positions: tuple[int, ...], depth: int) -> list[tuple[int, ...]]:
        if len(positions) == 1 or sum(tokens[i] for i in positions) <= token_limit:
            return [positions]
        if depth < max_depth:
            parts = [tuple(positions[i] for i in part) for part in split(table[list(positions)])]
            if max(map(len, parts)) < len(positions):
                return [small for part in parts for small in fitting(part, depth + 1)]
        return _runs(positions, tokens, token_limit)

    found = split(table) if len(table) else []
    return list(dict.fromkeys(small for part in found for small in fitting(part, 0)))


def _runs(positions: Sequence[int], tokens: Sequence[int], limit: int) -> list[tuple[int, ...]]:
    """Consecutive positions packed in order; a text longer than the limit is alone.

    >>> _runs([0, 1, 2, 5], [4, 4, 9, 0, 0, 2], limit=8)
    [(0, 1), (2,), (5,)]
    """
    runs: list[list[int]] = []
    left = 0
    for i in positions:
        if runs and tokens[i] <= left:
            runs[-1].append(i)
        else:
            runs.append([i])
            left = limit
        left -= tokens[i]
    return [tuple(run) for run in runs]
