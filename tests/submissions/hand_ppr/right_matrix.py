"""A dense transition matrix in NumPy; dead ends get a row that leads to the seeds."""

import numpy as np

r1 = {"A": 3 / 20, "B": 17 / 20, "C": 0}
r2 = {"A": 0.15, "B": 0.128, "C": 0.722}
leader_after_two, leader_at_the_end = "C", "A"


def personalized_pagerank(edges, seeds, alpha, iterations):
    nodes = list(dict.fromkeys(node for edge in edges for node in edge))
    place = {node: i for i, node in enumerate(nodes)}
    home = np.zeros(len(nodes))
    home[[place[seed] for seed in set(seeds) if seed in place]] = 1
    if not home.any():
        raise ValueError("seeds must hold a node of the graph")
    home /= home.sum()
    moves = np.zeros((len(nodes), len(nodes)))
    for source, target in edges:
        moves[place[source], place[target]] += 1
    for row in moves:
        row[:] = row / row.sum() if row.sum() else home
    r = home.copy()
    for _ in range(iterations):
        r = alpha * home + (1 - alpha) * (r @ moves)
    return dict(zip(nodes, r))
