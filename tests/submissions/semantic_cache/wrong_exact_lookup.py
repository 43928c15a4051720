"""Finds a vector only when it is asked exactly as it was put: an exact cache, no semantic one.

Fails: test-SemanticCache-threshold, test-SemanticCache-nearest, test-SemanticCache-norms, test-SemanticCache-latest, test-SemanticCache-zero, test-SemanticCache-any_norm, test-SemanticCache-oracle
"""


class SemanticCache:
    def __init__(self, threshold):
        self.threshold = threshold
        self.answers = {}

    def put(self, vec, answer):
        self.answers[tuple(float(x) for x in vec)] = answer

    def get(self, vec):
        return self.answers.get(tuple(float(x) for x in vec))
