"""Adds vector after vector to a copy, in plain Python order."""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    total = np.array([float(x) for x in q_vec])
    n = 1
    for vector in hyp_vecs:
        total += np.array([float(x) for x in vector])
        n += 1
    total /= n
    return total
