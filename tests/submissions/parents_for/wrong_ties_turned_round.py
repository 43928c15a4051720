"""Sorts pairs of score and id with reverse=True, which turns the ids round as well.

Fails: test-parents_for-ties, test-parents_for-oracle
"""


def parents_for(child_scores, parent_of, parent_tokens, budget):
    best = {}
    for child, score in child_scores.items():
        parent = parent_of[child]
        best[parent] = max(score, best.get(parent, float("-inf")))
    chosen, left = [], budget
    for parent in [parent for _, parent in sorted(((s, p) for p, s in best.items()), reverse=True)]:
        if parent_tokens[parent] <= left:
            chosen.append(parent)
            left -= parent_tokens[parent]
    return chosen
