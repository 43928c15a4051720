"""A weighted average with one weight for each vector, the query's among them."""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    query = np.array(q_vec, dtype=float)
    documents = np.array(hyp_vecs, dtype=float).reshape(-1, query.size)
    weights = np.full(len(documents) + 1, 1.0 / (len(documents) + 1))
    return weights[0] * query + weights[1:] @ documents
