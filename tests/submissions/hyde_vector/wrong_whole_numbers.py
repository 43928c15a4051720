"""Divides lists of ints with //, which cuts the fraction off.

Fails: test-hyde_vector-lists, test-hyde_vector-precision, test-hyde_vector-oracle
"""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    rows = np.vstack([np.asarray(q_vec)[None, :], np.asarray(hyp_vecs).reshape(len(hyp_vecs), len(q_vec))])
    n = len(rows)
    if rows.dtype.kind in "iu":
        return (rows.astype(np.int64).sum(axis=0) // n).astype(np.float64)
    return rows.astype(np.float64).sum(axis=0) / n
