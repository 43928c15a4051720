"""A semantic cache: reuse the answer of an earlier question whose vector is close.

The idea of GPTCache (Bang, 2023), and its trap. Texts that differ in the one token that decides the answer lie closer
together than true paraphrases: with all-MiniLM-L6-v2 the orders 12345 and 12346 have cosine 0.97, the two directions of
a journey 0.998, and an honest paraphrase of the order question 0.70. No threshold separates them, so this class alone
is safe for nothing that a number, a name or a "not" can change; ``guarded_cache.py`` puts a second gate behind it. Left
out: approximate search and eviction. A lookup is one matrix product over everything stored; where that is too slow (a
million entries), an approximate index of ``faiss`` takes its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragkit.systems.rows import Rows

TIE = 1e-9  # cosines this close are one value: rounding must not choose between two stored answers


def unit(vec: ArrayLike) -> NDArray[np.float64]:
    """``vec`` at length 1, zeros if it has none; scaled by its largest entry first, so no norm over- or underflows."""
    values = np.array(vec, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"vec must have one dimension and at least one entry, got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("vec holds a value that is not finite")
    largest = np.abs(values).max()
    if largest == 0:
        return values
    values = values / largest
    scaled: NDArray[np.float64] = values / np.linalg.norm(values)
    return scaled


class SemanticCache:
    """Answers by vector: `get` gives the answer of the nearest stored vector if its cosine reaches ``threshold``."""

    def __init__(self, threshold: float) -> None:
        if not -1 <= threshold <= 1:
            raise ValueError(f"threshold must lie in [-1, 1], got {threshold!r}")
        self.threshold = threshold
        self._units = Rows()
        self._answers: list[Any] = []
        self._length: int | None = None

    def _checked(self, vec: ArrayLike) -> NDArray[np.float64]:
        vector = unit(vec)
        if self._length is not None and len(vector) != self._length:
            raise ValueError(f"vec has {len(vector)} entries, the stored ones have {self._length}")
        return vector

    def put(self, vec: ArrayLike, answer: Any) -> None:
        """Store ``answer`` (anything but None, a miss) under a copy of ``vec``; a zero vector never matches."""
        if answer is None:
            raise ValueError("answer must not be None: get returns None for a miss")
        vector = self._checked(vec)
        self._length = len(vector)
        if vector.any():
            self._units.append(vector)
            self._answers.append(answer)

    def get(self, vec: ArrayLike) -> Any | None:
        """The answer of the nearest stored vector, among equally near ones the latest put; None below the threshold."""
        vector = self._checked(vec)
        if not len(self._units) or not vector.any():
            return None
        cosines = self._units.matrix @ vector
        best = cosines.max()
        if best < self.threshold - TIE:
            return None
        return self._answers[int(np.flatnonzero(cosines >= best - TIE)[-1])]
