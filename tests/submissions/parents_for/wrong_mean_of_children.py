"""Takes the mean of the children's scores, so one weak child pulls a good parent down.

Fails: test-parents_for-best_child, test-parents_for-negative, test-parents_for-oracle
"""


def parents_for(child_scores, parent_of, parent_tokens, budget):
    scores = {}
    for child, score in child_scores.items():
        scores.setdefault(parent_of[child], []).append(score)
    mean = {parent: sum(values) / len(values) for parent, values in scores.items()}
    chosen, left = [], budget
    for parent in sorted(mean, key=lambda p: (-mean[p], p)):
        if parent_tokens[parent] <= left:
            chosen.append(parent)
            left -= parent_tokens[parent]
    return chosen
