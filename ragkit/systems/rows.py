"""Vectors that come one at a time and are all compared at every look: a matrix that grows by doubling.

Stacking a list of vectors anew at each lookup copies everything that is stored; here a lookup is one product. The same
scheme as a dynamic array (Cormen et al., *Introduction to Algorithms*, section on table expansion): n appends copy
fewer than 2n rows in total.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Rows:
    """A float64 matrix of shape ``(len(rows), d)``; ``d`` is the length of the first vector.

    >>> rows = Rows()
    >>> rows.append(np.array([1.0, 0.0])), rows.append(np.array([0.0, 2.0]))
    (None, None)
    >>> (rows.matrix @ np.array([3.0, 4.0])).tolist()
    [3.0, 8.0]
    """

    def __init__(self) -> None:
        self._table = np.empty((0, 0))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The rows in the order they came, as a view: the next `append` or `keep` may leave it behind."""
        return self._table[: self._count]

    def append(self, vector: NDArray[np.float64]) -> None:
        """Add a copy of ``vector`` as the last row."""
        if self._count == len(self._table):
            grown = np.empty((max(8, 2 * self._count), len(vector)))
            if self._count:
                grown[: self._count] = self.matrix
            self._table = grown
        self._table[self._count] = vector
        self._count += 1

    def keep(self, positions: Sequence[int]) -> None:
        """Keep the rows at ``positions``, in that order, and give the memory of the others back."""
        self._table = self.matrix[list(positions)]
        self._count = len(self._table)
