"""Converts to float64 after the sum, when the digits are gone.

Fails: test-hyde_vector-precision
"""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    q, d = np.asarray(q_vec), np.asarray(hyp_vecs)
    return ((q + d.sum(axis=0, dtype=d.dtype)) / (len(d) + 1)).astype(np.float64)
