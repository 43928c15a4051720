"""Gives the score of dead ends to all nodes alike, as ordinary PageRank does.

Fails: test-personalized_pagerank-dead_ends, test-personalized_pagerank-extremes, test-personalized_pagerank-fixed_point, test-personalized_pagerank-oracle
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
        after = {node: alpha * start[node] for node in nodes}
        dangling = sum(scores[node] for node in nodes if not out[node])
        for node in nodes:
            for target in out[node]:
                after[target] += (1 - alpha) * scores[node] / len(out[node])
            after[node] += (1 - alpha) * dangling / len(nodes)
        scores = after
    return scores
