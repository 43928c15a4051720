"""The scores after n steps from those after n - 1; a dead end gets edges to all seeds."""

r1 = {"A": 15 / 100, "B": 85 / 100, "C": 0.0}
r2 = {"A": 0.15, "B": 0.15 * 0.85, "C": 0.85**2}
leader_after_two = "C"
leader_at_the_end = "A"


def personalized_pagerank(edges, seeds, alpha, iterations):
    targets = {}
    for a, b in edges:
        targets.setdefault(a, []).append(b)
        targets.setdefault(b, [])
    home = [node for node in targets if node in seeds]
    if not home:
        raise ValueError("no known seed")
    for node in targets:
        targets[node] = targets[node] or home
    if iterations == 0:
        return {node: float(node in home) / len(home) for node in targets}
    before = personalized_pagerank(edges, seeds, alpha, iterations - 1)
    return {
        node: alpha * (node in home) / len(home)
        + (1 - alpha) * sum(before[other] * to.count(node) / len(to) for other, to in targets.items())
        for node in targets
    }
