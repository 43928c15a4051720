"""Computes the place of each rank and writes into a list of the final length."""


def edge_weighted_order(chunks_with_scores):
    n = len(chunks_with_scores)
    placed = [None] * n
    front, back = 0, n - 1
    for turn, pair in enumerate(sorted(chunks_with_scores, key=lambda pair: -pair[1])):
        if turn % 2 == 0:
            placed[front] = pair[0]
            front += 1
        else:
            placed[back] = pair[0]
            back -= 1
    return placed
