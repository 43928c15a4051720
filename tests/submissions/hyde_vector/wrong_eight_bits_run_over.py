"""Adds 8-bit vectors in their own type, where 200 + 100 is 44.

Fails: test-hyde_vector-precision
"""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    q, d = np.asarray(q_vec), np.asarray(hyp_vecs)
    if q.dtype == np.float32:
        q, d = q.astype(np.float64), d.astype(np.float64)
    total = q.copy()
    for vector in d:
        total = total + vector
    return total.astype(np.float64) / (len(d) + 1)
