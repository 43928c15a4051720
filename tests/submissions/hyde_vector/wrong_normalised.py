"""Scales the average to unit length, as one does for cosine search.

Fails: test-hyde_vector-shape, test-hyde_vector-mean, test-hyde_vector-no_documents, test-hyde_vector-lists, test-hyde_vector-inputs, test-hyde_vector-precision, test-hyde_vector-oracle
"""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    rows = np.vstack([np.asarray([q_vec], dtype=np.float64), np.asarray(hyp_vecs, dtype=np.float64)])
    mean = rows.mean(axis=0)
    return mean / np.linalg.norm(mean)
