"""Collects the parents in a set, which has no order.

Fails: test-parents_for-type, test-parents_for-best_child, test-parents_for-ties, test-parents_for-budget, test-parents_for-limits, test-parents_for-inputs, test-parents_for-negative, test-parents_for-oracle
"""


def parents_for(child_scores, parent_of, parent_tokens, budget):
    best = {}
    for child, score in child_scores.items():
        parent = parent_of[child]
        best[parent] = max(score, best.get(parent, float("-inf")))
    chosen, left = set(), budget
    for parent in sorted(best, key=lambda p: (-best[p], p)):
        if parent_tokens[parent] <= left:
            chosen.add(parent)
            left -= parent_tokens[parent]
    return chosen
