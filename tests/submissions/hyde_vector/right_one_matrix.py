"""Stacks the query on the documents and takes the mean of the rows."""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    rows = np.vstack([np.asarray(q_vec, dtype=np.float64)[None, :], np.asarray(hyp_vecs, dtype=np.float64)])
    return rows.mean(axis=0)
