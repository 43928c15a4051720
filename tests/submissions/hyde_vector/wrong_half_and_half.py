"""Averages the query with the mean of the documents, so the query weighs as much as all of them.

Fails: test-hyde_vector-mean, test-hyde_vector-lists, test-hyde_vector-inputs, test-hyde_vector-precision, test-hyde_vector-oracle
"""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    q = np.array(q_vec, dtype=np.float64)
    d = np.asarray(hyp_vecs, dtype=np.float64)
    return (q + d.mean(axis=0)) / 2 if len(d) else q
