"""Groups the scores, then sorts twice: by id, and stably by best score."""

from collections import defaultdict


def parents_for(child_scores, parent_of, parent_tokens, budget):
    scores = defaultdict(list)
    for child in child_scores:
        scores[parent_of[child]].append(child_scores[child])
    ranking = sorted(scores)
    ranking.sort(key=lambda parent: max(scores[parent]), reverse=True)
    used, out = 0, []
    for parent in ranking:
        if used + parent_tokens[parent] > budget:
            continue
        used += parent_tokens[parent]
        out.append(parent)
    return out
