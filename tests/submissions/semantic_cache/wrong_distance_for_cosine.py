"""Takes the stored vector at the smallest distance, which favours those of like length.

Fails: test-SemanticCache-nearest, test-SemanticCache-norms, test-SemanticCache-latest, test-SemanticCache-any_norm, test-SemanticCache-oracle
"""

import numpy as np


class SemanticCache:
    def __init__(self, threshold):
        self.threshold = threshold
        self.units = []
        self.answers = []
        self.raw = []

    def put(self, vec, answer):
        unit = self.unit(vec)
        if unit is not None:
            self.units.append(unit)
            self.raw.append(np.array(vec, dtype=float))
            self.answers.append(answer)

    def get(self, vec):
        unit = self.unit(vec)
        if unit is None or not self.units:
            return None
        cosines = np.array([stored @ unit for stored in self.units])
        best = cosines.max()
        if best < self.threshold - 1e-9:
            return None
        distances = [np.linalg.norm(np.array(vec, dtype=float) - raw) for raw in self.raw]
        winner = len(distances) - 1 - int(np.argmin(distances[::-1]))
        return self.answers[winner]

    def unit(self, vec):
        v = np.array(vec, dtype=float)
        norm = np.linalg.norm(v)
        return v / norm if norm > 0 else None
