"""Returns the pairs with their scores.

Fails: test-edge_weighted_order-type, test-edge_weighted_order-odd, test-edge_weighted_order-even, test-edge_weighted_order-any_order, test-edge_weighted_order-ties, test-edge_weighted_order-small, test-edge_weighted_order-inputs, test-edge_weighted_order-equal_chunks, test-edge_weighted_order-oracle
"""


def edge_weighted_order(chunks_with_scores):
    ranked = sorted(chunks_with_scores, key=lambda pair: -pair[1])
    return ranked[::2] + ranked[1::2][::-1]
