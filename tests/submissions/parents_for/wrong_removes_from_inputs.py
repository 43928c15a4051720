"""Marks a parent as done by removing it from the caller's dictionary.

Fails: test-parents_for-inputs
"""


def parents_for(child_scores, parent_of, parent_tokens, budget):
    best = {}
    for child, score in child_scores.items():
        parent = parent_of[child]
        best[parent] = max(score, best.get(parent, float("-inf")))
    chosen, left = [], budget
    for parent in sorted(best, key=lambda p: (-best[p], p)):
        tokens = parent_tokens.pop(parent)
        if tokens <= left:
            chosen.append(parent)
            left -= tokens
    return chosen
