"""Puts rank after rank on the left or on the right half, then joins them."""


def edge_weighted_order(chunks_with_scores):
    order = sorted(range(len(chunks_with_scores)), key=lambda i: (-chunks_with_scores[i][1], i))
    left, right = [], []
    for rank, i in enumerate(order, start=1):
        (left if rank % 2 else right).append(chunks_with_scores[i][0])
    right.reverse()
    return left + right
