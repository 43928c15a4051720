"""Writes into the scores it still reads, so later nodes of a step give what they just got.

Fails: test-personalized_pagerank-steps, test-personalized_pagerank-dead_ends, test-personalized_pagerank-repeats, test-personalized_pagerank-extremes, test-personalized_pagerank-fixed_point, test-personalized_pagerank-oracle
"""

r1 = {"A": 0.15, "B": 0.85, "C": 0.0}
r2 = {"A": 0.15, "B": 0.1275, "C": 0.7225}
leader_after_two = "C"
leader_at_the_end = "A"


def personalized_pagerank(edges, seeds, alpha, iterations):
    nodes = sorted({node for edge in edges for node in edge})
    out = {node: [] for node in nodes}
    for source, target in edges:
        out[source].append(target)
    known = sorted(set(seeds) & set(nodes))
    if not known:
        raise ValueError("no seed is in the graph")
    start = {node: (1 / len(known) if node in known else 0.0) for node in nodes}
    scores = dict(start)
    for _ in range(iterations):
        for node in nodes:
            score, scores[node] = scores[node], 0.0
            for target in out[node]:
                scores[target] += (1 - alpha) * score / len(out[node])
            for seed in known:
                scores[seed] += (alpha if out[node] else 1) * score / len(known)
    return scores
