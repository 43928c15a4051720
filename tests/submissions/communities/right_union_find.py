"""Counts pairs in nested loops, and joins entities by union-find."""


def entity_graph(chunk_entities):
    counts = {}
    for names in chunk_entities:
        unique = sorted(set(names))
        for i in range(len(unique)):
            for j in range(i + 1, len(unique)):
                key = (unique[i], unique[j])
                counts[key] = counts.get(key, 0) + 1
    return counts


def communities(edges, min_weight):
    parent = {}

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for (a, b), weight in edges.items():
        if weight < min_weight:
            continue
        for name in (a, b):
            parent.setdefault(name, name)
        parent[find(a)] = find(b)
    groups = {}
    for name in parent:
        groups.setdefault(find(name), []).append(name)
    result = [sorted(group) for group in groups.values()]
    result.sort()
    result.sort(key=len, reverse=True)
    return result
