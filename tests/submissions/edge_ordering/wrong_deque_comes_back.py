"""Fills a deque from both ends and returns it as it is.

Fails: test-edge_weighted_order-type, test-edge_weighted_order-odd, test-edge_weighted_order-even, test-edge_weighted_order-any_order, test-edge_weighted_order-ties, test-edge_weighted_order-small, test-edge_weighted_order-inputs, test-edge_weighted_order-equal_chunks, test-edge_weighted_order-oracle
"""

from collections import deque


def edge_weighted_order(chunks_with_scores):
    ranked = [chunk for chunk, _ in sorted(chunks_with_scores, key=lambda pair: -pair[1])]
    line = deque(ranked[::2])
    line.extend(reversed(ranked[1::2]))
    return line
