"""Weights the mean of no rows, which is not a number.

Fails: test-hyde_vector-no_documents, test-hyde_vector-oracle
"""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    q = np.asarray(q_vec, dtype=np.float64)
    d = np.asarray(hyp_vecs, dtype=np.float64)
    n = len(d)
    return (q + n * d.mean(axis=0)) / (n + 1)
