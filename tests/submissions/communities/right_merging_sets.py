"""A Counter comes back as it is, and each strong edge merges the sets it touches."""

from collections import Counter


def entity_graph(chunk_entities):
    return Counter((a, b) for names in chunk_entities for a in set(names) for b in set(names) if a < b)


def communities(edges, min_weight):
    groups = []
    for pair in (set(pair) for pair, n in edges.items() if n >= min_weight):
        touched = [group for group in groups if group & pair]
        groups = [group for group in groups if not group & pair] + [pair.union(*touched)]
    return sorted((sorted(group) for group in groups), key=lambda group: (-len(group), group))
