"""Without documents it gives the caller's own array back.

Fails: test-hyde_vector-inputs
"""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    q = np.asarray(q_vec, dtype=np.float64)
    d = np.asarray(hyp_vecs, dtype=np.float64)
    if len(d) == 0:
        return q
    return (q + d.sum(axis=0)) / (len(d) + 1)
