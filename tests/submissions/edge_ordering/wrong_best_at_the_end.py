"""Swaps the two ends: the best chunk comes last.

Fails: test-edge_weighted_order-odd, test-edge_weighted_order-even, test-edge_weighted_order-any_order, test-edge_weighted_order-ties, test-edge_weighted_order-small, test-edge_weighted_order-inputs, test-edge_weighted_order-oracle
"""


def edge_weighted_order(chunks_with_scores):
    ranked = [chunk for chunk, _ in sorted(chunks_with_scores, key=lambda pair: -pair[1])]
    return ranked[1::2] + ranked[::2][::-1]
