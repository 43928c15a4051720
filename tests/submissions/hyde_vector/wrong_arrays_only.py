"""Relies on arrays: with lists, + puts one behind the other and len counts the wrong thing.

Fails: test-hyde_vector-lists, test-hyde_vector-precision, test-hyde_vector-oracle
"""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    total = q_vec
    for vector in hyp_vecs:
        total = total + vector
    return np.array(total, dtype=np.float64) / (len(hyp_vecs) + 1)
