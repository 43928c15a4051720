"""Keeps a pair in the order in which its chunk lists the names, so one pair has two keys.

Fails: test-entity_graph-pairs, test-entity_graph-names, test-entity_graph-oracle
"""

from itertools import combinations


def entity_graph(chunk_entities):
    counts = {}
    for names in chunk_entities:
        for pair in combinations(dict.fromkeys(names), 2):
            counts[pair] = counts.get(pair, 0) + 1
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
