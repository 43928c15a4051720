"""Subtracts the tokens before it looks whether they fit, so a skipped parent costs all the same.

Fails: test-parents_for-budget, test-parents_for-oracle
"""


def parents_for(child_scores, parent_of, parent_tokens, budget):
    best = {}
    for child, score in child_scores.items():
        parent = parent_of[child]
        best[parent] = max(score, best.get(parent, float("-inf")))
    chosen, left = [], budget
    for parent in sorted(best, key=lambda p: (-best[p], p)):
        left -= parent_tokens[parent]
        if left >= 0:
            chosen.append(parent)
    return chosen
