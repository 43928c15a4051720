"""Takes the input as if it came best first.

Fails: test-edge_weighted_order-any_order, test-edge_weighted_order-ties, test-edge_weighted_order-small, test-edge_weighted_order-inputs, test-edge_weighted_order-oracle
"""


def edge_weighted_order(chunks_with_scores):
    chunks = [chunk for chunk, _ in chunks_with_scores]
    return chunks[::2] + chunks[1::2][::-1]
