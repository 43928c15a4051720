"""Writes each child's score over the one before, so the last child decides.

Fails: test-parents_for-best_child, test-parents_for-negative, test-parents_for-oracle
"""


def parents_for(child_scores, parent_of, parent_tokens, budget):
    score_of = {parent_of[child]: score for child, score in child_scores.items()}
    chosen, left = [], budget
    for parent in sorted(score_of, key=lambda p: (-score_of[p], p)):
        if parent_tokens[parent] <= left:
            chosen.append(parent)
            left -= parent_tokens[parent]
    return chosen
