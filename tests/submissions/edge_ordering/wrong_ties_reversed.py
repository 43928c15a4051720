"""Sorts upwards and reverses the list, which reverses equal scores too.

Fails: test-edge_weighted_order-ties, test-edge_weighted_order-oracle
"""


def edge_weighted_order(chunks_with_scores):
    ranked = [chunk for chunk, _ in sorted(chunks_with_scores, key=lambda pair: pair[1])][::-1]
    return ranked[::2] + ranked[1::2][::-1]
