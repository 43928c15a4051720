"""Sorts the caller's list.

Fails: test-edge_weighted_order-inputs
"""


def edge_weighted_order(chunks_with_scores):
    chunks_with_scores.sort(key=lambda pair: -pair[1])
    ranked = [chunk for chunk, _ in chunks_with_scores]
    return ranked[::2] + ranked[1::2][::-1]
