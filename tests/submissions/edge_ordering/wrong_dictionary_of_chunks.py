"""Keeps the scores in a dictionary by chunk, so equal chunks become one.

Fails: test-edge_weighted_order-equal_chunks, test-edge_weighted_order-oracle
"""


def edge_weighted_order(chunks_with_scores):
    score_of = {str(chunk): score for chunk, score in chunks_with_scores}
    chunk_of = {str(chunk): chunk for chunk, _ in chunks_with_scores}
    ranked = [chunk_of[key] for key in sorted(score_of, key=lambda key: -score_of[key])]
    return ranked[::2] + ranked[1::2][::-1]
