"""Puts ranks 2, 4, 6 behind the others without turning them round.

Fails: test-edge_weighted_order-odd, test-edge_weighted_order-even, test-edge_weighted_order-any_order, test-edge_weighted_order-ties, test-edge_weighted_order-oracle
"""


def edge_weighted_order(chunks_with_scores):
    ranked = [chunk for chunk, _ in sorted(chunks_with_scores, key=lambda pair: -pair[1])]
    return ranked[::2] + ranked[1::2]
