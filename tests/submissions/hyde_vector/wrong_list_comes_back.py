"""Works in plain Python and forgets to make an array of the result.

Fails: test-hyde_vector-type, test-hyde_vector-oracle
"""

import numpy as np


def hyde_vector(q_vec, hyp_vecs):
    return [sum(map(float, column)) / len(column) for column in zip(q_vec, *hyp_vecs)]
