"""Looks for repeats beside each other only, and forgets that they may stand apart in a chunk.

Fails: test-entity_graph-repeats, test-entity_graph-oracle
"""


def entity_graph(chunk_entities):
    counts = {}
    for chunk in chunk_entities:
        names = [name for i, name in enumerate(chunk) if i == 0 or name != chunk[i - 1]]
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                if a != b:
                    pair = (min(a, b), max(a, b))
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
