"""Uses frozensets as keys, which have no direction.

Fails: test-entity_graph-type, test-entity_graph-pairs, test-entity_graph-repeats, test-entity_graph-names, test-entity_graph-oracle
"""

from collections import Counter
from itertools import combinations


def entity_graph(chunk_entities):
    counts = Counter()
    for names in chunk_entities:
        counts.update(frozenset(pair) for pair in combinations(set(names), 2))
    return dict(counts)


def communities(edges, min_weight):
    neighbours = {}
    for (a, b), weight in edges.items():
        if weight >= min_weight:
            neighbours.setdefault(a, set()).add(b)
            neighbours.setdefault(b, set()).add(a)
    found, seen = [], set()
    for start in neighbours:
        if start not in seen:
            members, frontier = {start}, [start]
            while frontier:
                new = neighbours[frontier.pop()] - members
                members |= new
                frontier.extend(new)
            seen |= members
            found.append(sorted(members))
    return sorted(found, key=lambda members: (-len(members), members[0]))
