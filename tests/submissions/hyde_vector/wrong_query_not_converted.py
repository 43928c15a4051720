"""Converts the documents alone: a query of a wider type decides the type of the result.

Fails: test-hyde_vector-precision
"""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    documents = np.asarray(hyp_vecs, dtype=np.float64)
    return (np.asarray(q_vec) + documents.sum(axis=0)) / (len(documents) + 1)
