"""Keeps a dictionary by vector: one that is put again keeps its old place among equals.

Fails: test-SemanticCache-latest, test-SemanticCache-oracle
"""

import numpy as np


class SemanticCache:
    def __init__(self, threshold):
        self.threshold = threshold
        self.entries = {}

    def put(self, vec, answer):
        unit = self.unit(vec)
        if unit is not None:
            self.entries[tuple(vec)] = (unit, answer)

    def get(self, vec):
        unit = self.unit(vec)
        if unit is None or not self.entries:
            return None
        cosines = np.array([stored @ unit for stored, _ in self.entries.values()])
        best = cosines.max()
        if best < self.threshold - 1e-9:
            return None
        winner = np.flatnonzero(cosines >= best - 1e-9)[-1]
        return list(self.entries.values())[winner][1]

    def unit(self, vec):
        v = np.array(vec, dtype=float)
        norm = np.linalg.norm(v)
        return v / norm if norm > 0 else None
