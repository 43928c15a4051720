"""Lists and math only: vectors as they came, cosines by the formula."""

import math


class SemanticCache:
    def __init__(self, threshold):
        self.threshold = threshold
        self.entries = []

    def put(self, vec, answer):
        self.entries.append(([float(x) for x in vec], answer))

    def get(self, vec):
        asked = [float(x) for x in vec]
        best, scored = None, []
        for stored, answer in self.entries:
            cosine = self.cosine(stored, asked)
            if cosine is not None:
                scored.append((cosine, answer))
                best = cosine if best is None else max(best, cosine)
        if best is None or best < self.threshold - 1e-9:
            return None
        return [answer for cosine, answer in scored if cosine >= best - 1e-9][-1]

    @staticmethod
    def cosine(a, b):
        length_a, length_b = math.hypot(*a), math.hypot(*b)
        if length_a == 0 or length_b == 0:
            return None
        return sum(x / length_a * (y / length_b) for x, y in zip(a, b))
