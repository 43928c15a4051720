"""Adds up the children's scores, so a parent with many mediocre children wins.

Fails: test-parents_for-best_child, test-parents_for-negative, test-parents_for-oracle
"""


def parents_for(child_scores, parent_of, parent_tokens, budget):
    total = {}
    for child, score in child_scores.items():
        total[parent_of[child]] = total.get(parent_of[child], 0) + score
    chosen, left = [], budget
    for parent in sorted(total, key=lambda p: (-total[p], p)):
        if parent_tokens[parent] <= left:
            chosen.append(parent)
            left -= parent_tokens[parent]
    return chosen
