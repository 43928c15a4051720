"""Starts every parent at zero, so all negative scores look alike.

Fails: test-parents_for-negative, test-parents_for-oracle
"""


def parents_for(child_scores, parent_of, parent_tokens, budget):
    best = {}
    for child, score in child_scores.items():
        parent = parent_of[child]
        best[parent] = max(score, best.get(parent, 0))
    chosen, left = [], budget
    for parent in sorted(best, key=lambda p: (-best[p], p)):
        if parent_tokens[parent] <= left:
            chosen.append(parent)
            left -= parent_tokens[parent]
    return chosen
