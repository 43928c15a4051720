"""Part 1: gives percentages, where shares of 1 are asked for.

Fails: test-hand_ppr-form, test-hand_ppr-first_step, test-hand_ppr-second_step
"""

r1 = {"A": 15, "B": 85, "C": 0}
r2 = {"A": 15, "B": 12.75, "C": 72.25}
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
            after[node] += (1 - alpha) * dangling * start[node]
        scores = after
    return scores
