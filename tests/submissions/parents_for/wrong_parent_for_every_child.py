"""Takes a parent anew for each of its children.

Fails: test-parents_for-best_child, test-parents_for-negative, test-parents_for-oracle
"""


def parents_for(child_scores, parent_of, parent_tokens, budget):
    order = [parent_of[c] for c in sorted(child_scores, key=lambda c: (-child_scores[c], parent_of[c]))]
    chosen, left = [], budget
    for parent in order:
        if parent_tokens[parent] <= left:
            chosen.append(parent)
            left -= parent_tokens[parent]
    return chosen
