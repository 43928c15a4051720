"""Sorts by score and then by chunk, though chunks are not to be compared.

Fails: test-edge_weighted_order-ties, test-edge_weighted_order-oracle
"""


def edge_weighted_order(chunks_with_scores):
    ranked = [chunk for chunk, score in sorted(chunks_with_scores, key=lambda pair: (-pair[1], pair[0]))]
    return ranked[::2] + ranked[1::2][::-1]
