"""Takes the first two ranks for the edges without asking whether there are two.

Fails: test-edge_weighted_order-small, test-edge_weighted_order-oracle
"""


def edge_weighted_order(chunks_with_scores):
    ranked = [chunk for chunk, _ in sorted(chunks_with_scores, key=lambda pair: -pair[1])]
    first, last = ranked[0], ranked[1]
    middle = ranked[2:]
    return [first] + middle[::2] + middle[1::2][::-1] + [last]
