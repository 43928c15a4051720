"""Walks the list of edges in every step; the numbers come from the function itself."""

from collections import Counter


class NoSeed(ValueError):
    pass


def personalized_pagerank(edges, seeds, alpha, iterations):
    degree = Counter(source for source, _ in edges)
    nodes = {node for edge in edges for node in edge}
    home = {seed for seed in seeds if seed in nodes}
    if len(home) == 0:
        raise NoSeed("nowhere to start")
    scores = {node: 1 / len(home) if node in home else 0.0 for node in nodes}
    for _ in range(iterations):
        back = sum(score * (alpha if node in degree else 1) for node, score in scores.items())
        step = {node: back / len(home) if node in home else 0.0 for node in nodes}
        for source, target in edges:
            step[target] += (1 - alpha) * scores[source] / degree[source]
        scores = step
    return scores


ring = [("A", "B"), ("B", "C"), ("C", "A")]
r1 = personalized_pagerank(ring, ["A"], 0.15, 1)
r2 = personalized_pagerank(ring, ["A"], 0.15, 2)
leader_after_two = max(r2, key=r2.get)
last = personalized_pagerank(ring, ["A"], 0.15, 500)
leader_at_the_end = max(last, key=last.get)
