"""asarray makes no copy of a float64 array, so += writes the sum into the caller's query.

Fails: test-hyde_vector-inputs, test-hyde_vector-oracle
"""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    q = np.asarray(q_vec, dtype=np.float64)
    d = np.asarray(hyp_vecs, dtype=np.float64)
    for vector in d:
        q += vector
    return q / (len(d) + 1)
