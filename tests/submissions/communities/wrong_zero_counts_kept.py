"""Makes an entry for every two names of the corpus, also for those that no chunk holds together.

Fails: test-entity_graph-names, test-entity_graph-oracle
"""

from itertools import combinations


def entity_graph(chunk_entities):
    names = sorted({name for chunk in chunk_entities for name in chunk})
    counts = dict.fromkeys(combinations(names, 2), 0)
    for chunk in chunk_entities:
        for pair in combinations(sorted(set(chunk)), 2):
            counts[pair] += 1
    return counts


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
