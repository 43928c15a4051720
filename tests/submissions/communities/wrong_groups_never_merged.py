"""Adds an edge to the first group it touches, and never merges two groups that an edge joins.

Fails: test-communities-paths, test-communities-chain, test-communities-oracle
"""

from collections import Counter
from itertools import combinations


def entity_graph(chunk_entities):
    counts = Counter()
    for names in chunk_entities:
        counts.update(combinations(sorted(set(names)), 2))
    return dict(counts)


def communities(edges, min_weight):
    groups = []
    for (a, b), weight in edges.items():
        if weight >= min_weight:
            for group in groups:
                if a in group or b in group:
                    group |= {a, b}
                    break
            else:
                groups.append({a, b})
    return sorted((sorted(group) for group in groups), key=lambda group: (-len(group), group[0]))
