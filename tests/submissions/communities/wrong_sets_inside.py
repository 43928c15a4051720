"""Returns the members as sets, which have no order.

Fails: test-communities-type, test-communities-oracle
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
    for start in neighbours:
        if start not in seen:
            members, frontier = {start}, [start]
            while frontier:
                new = neighbours[frontier.pop()] - members
                members |= new
                frontier.extend(new)
            seen |= members
            found.append(sorted(members))
    return [set(members) for members in sorted(found, key=lambda members: (-len(members), members[0]))]
