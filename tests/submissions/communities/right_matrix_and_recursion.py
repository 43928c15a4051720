"""Counts with a matrix of chunks by names; walks the graph by recursion."""

import numpy as np


def entity_graph(chunk_entities):
    names = sorted({name for chunk in chunk_entities for name in chunk})
    if not names:
        return {}
    holds = np.array([[name in chunk for name in names] for chunk in chunk_entities], dtype=int)
    together = holds.T @ holds
    n = len(names)
    return {(names[i], names[j]): together[i, j] for i in range(n) for j in range(i + 1, n) if together[i, j]}


def communities(edges, min_weight):
    strong = [pair for pair in edges if edges[pair] >= min_weight]

    def walk(name, reached):
        reached.add(name)
        for a, b in strong:
            if a == name and b not in reached:
                walk(b, reached)
            elif b == name and a not in reached:
                walk(a, reached)
        return reached

    left, found = {name for pair in strong for name in pair}, []
    while left:
        members = walk(min(left), set())
        left -= members
        found.append(sorted(members))
    return sorted(found, key=lambda members: (-len(members), members[0]))
