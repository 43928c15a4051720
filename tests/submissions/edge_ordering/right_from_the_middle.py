"""Builds from the worst outwards with a deque."""

from collections import deque


def edge_weighted_order(chunks_with_scores):
    ranked = sorted(chunks_with_scores, key=lambda pair: pair[1], reverse=True)
    line = deque()
    for rank in range(len(ranked), 0, -1):
        if rank % 2 == 1:
            line.appendleft(ranked[rank - 1][0])
        else:
            line.append(ranked[rank - 1][0])
    return list(line)
