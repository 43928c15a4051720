"""Rounds nothing, walks from the latest entry back and moves on only for a clearly better one."""

import numpy as np


class SemanticCache:
    def __init__(self, threshold):
        self._threshold, self._store = threshold, []

    def put(self, vec, answer):
        v = np.array(vec, dtype=float)
        if v.any():
            self._store.insert(0, (v / np.sqrt(v @ v), answer))

    def get(self, vec):
        v = np.array(vec, dtype=float)
        if not v.any():
            return None
        v = v / np.sqrt(v @ v)
        best, answer = -2.0, None
        for unit, stored_answer in self._store:
            cosine = unit @ v
            if cosine > best + 1e-9:
                best, answer = cosine, stored_answer
        return answer if best >= self._threshold - 1e-9 else None
