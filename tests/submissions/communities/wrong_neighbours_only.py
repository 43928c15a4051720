"""Pairs only names that stand side by side in a chunk.

Fails: test-entity_graph-pairs, test-entity_graph-oracle
"""

from collections import Counter


def entity_graph(chunk_entities):
    counts = Counter()
    for names in chunk_entities:
        unique = sorted(set(names))
        counts.update(zip(unique, unique[1:]))
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
