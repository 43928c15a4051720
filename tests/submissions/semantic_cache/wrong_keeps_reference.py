"""Stores the caller's own vector and normalises when asked, so later changes to it are felt.

Fails: test-SemanticCache-copies
"""

import numpy as np


class SemanticCache:
    def __init__(self, threshold):
        self.threshold = threshold
        self.entries = []

    def put(self, vec, answer):
        self.entries.append((vec, answer))

    def get(self, vec):
        asked, found = self.unit(vec), []
        for stored, answer in self.entries:
            stored = self.unit(stored)
            if stored is not None and asked is not None:
                found.append((float(stored @ asked), answer))
        best = max((cosine for cosine, _ in found), default=-2)
        if best < self.threshold - 1e-9 or not found:
            return None
        return [answer for cosine, answer in found if cosine >= best - 1e-9][-1]

    def unit(self, vec):
        v = np.asarray(vec, dtype=float)
        norm = np.linalg.norm(v)
        return v / norm if norm > 0 else None
