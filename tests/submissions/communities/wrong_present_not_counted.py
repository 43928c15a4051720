"""Notes that a pair occurs and does not count in how many chunks.

Fails: test-entity_graph-pairs, test-entity_graph-oracle
"""

from itertools import combinations


def entity_graph(chunk_entities):
    return {pair: 1 for names in chunk_entities for pair in combinations(sorted(set(names)), 2)}


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
