"""Compares with np.isclose and its defaults, which call cosines equal that differ by more than 1e-9.

Fails: test-SemanticCache-threshold, test-SemanticCache-latest
"""

import numpy as np


class SemanticCache:
    def __init__(self, threshold):
        self.threshold = threshold
        self.units = []
        self.answers = []

    def put(self, vec, answer):
        unit = self.unit(vec)
        if unit is not None:
            self.units.append(unit)
            self.answers.append(answer)

    def get(self, vec):
        unit = self.unit(vec)
        if unit is None or not self.units:
            return None
        cosines = np.array([stored @ unit for stored in self.units])
        best = cosines.max()
        if best < self.threshold and not np.isclose(best, self.threshold):
            return None
        return self.answers[np.flatnonzero(np.isclose(cosines, best))[-1]]

    def unit(self, vec):
        v = np.array(vec, dtype=float)
        norm = np.linalg.norm(v)
        return v / norm if norm > 0 else None
