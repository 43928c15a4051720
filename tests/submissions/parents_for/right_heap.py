"""A heap of parents by negative best score and id."""

import heapq


def parents_for(child_scores, parent_of, parent_tokens, budget):
    best = {}
    for child, score in child_scores.items():
        best[parent_of[child]] = max(score, best.get(parent_of[child], float("-inf")))
    heap = [(-score, parent) for parent, score in best.items()]
    heapq.heapify(heap)
    out = []
    while heap:
        _, parent = heapq.heappop(heap)
        if parent_tokens[parent] <= budget:
            out.append(parent)
            budget = budget - parent_tokens[parent]
    return out
