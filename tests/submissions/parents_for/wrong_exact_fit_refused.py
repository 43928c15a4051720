"""Compares with <, so a parent that fits exactly is left out.

Fails: test-parents_for-budget, test-parents_for-limits, test-parents_for-oracle
"""


def parents_for(child_scores, parent_of, parent_tokens, budget):
    best = {}
    for child, score in child_scores.items():
        parent = parent_of[child]
        best[parent] = max(score, best.get(parent, float("-inf")))
    chosen, left = [], budget
    for parent in sorted(best, key=lambda p: (-best[p], p)):
        if parent_tokens[parent] < left:
            chosen.append(parent)
            left -= parent_tokens[parent]
    return chosen
