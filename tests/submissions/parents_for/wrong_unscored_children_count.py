"""Gives children without a score a zero instead of leaving them out.

Fails: test-parents_for-best_child, test-parents_for-limits, test-parents_for-oracle
"""


def parents_for(child_scores, parent_of, parent_tokens, budget):
    best = {}
    for child, parent in parent_of.items():
        score = child_scores.get(child, 0.0)
        best[parent] = max(score, best.get(parent, score))
    chosen, left = [], budget
    for parent in sorted(best, key=lambda p: (-best[p], p)):
        if parent_tokens[parent] <= left:
            chosen.append(parent)
            left -= parent_tokens[parent]
    return chosen
