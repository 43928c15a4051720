"""Looks at the neighbours and their neighbours, and takes that for the whole component.

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
    neighbours = {}
    for (a, b), weight in edges.items():
        if weight >= min_weight:
            neighbours.setdefault(a, set()).add(b)
            neighbours.setdefault(b, set()).add(a)
    found, seen = [], set()
    for start in sorted(neighbours):
        if start not in seen:
            near = neighbours[start]
            members = {start} | near | {far for name in near for far in neighbours[name]}
            seen |= members
            found.append(sorted(members))
    return sorted(found, key=lambda members: (-len(members), members[0]))
