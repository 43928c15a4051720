"""Sorts by score and leaves the weakest chunk at the end.

Fails: test-edge_weighted_order-odd, test-edge_weighted_order-even, test-edge_weighted_order-any_order, test-edge_weighted_order-ties, test-edge_weighted_order-inputs, test-edge_weighted_order-oracle
"""


def edge_weighted_order(chunks_with_scores):
    return [chunk for chunk, _ in sorted(chunks_with_scores, key=lambda pair: -pair[1])]
