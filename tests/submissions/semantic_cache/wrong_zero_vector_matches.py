"""Gives a vector of zeros the cosine 0, which passes a threshold at or below zero.

Fails: test-SemanticCache-zero, test-SemanticCache-oracle
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
        if best < self.threshold - 1e-9:
            return None
        winner = np.flatnonzero(cosines >= best - 1e-9)[-1]
        return self.answers[winner]

    def unit(self, vec):
        v = np.array(vec, dtype=float)
        norm = np.linalg.norm(v)
        return v / norm if norm > 0 else v
