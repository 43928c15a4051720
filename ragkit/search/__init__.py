"""Floor 1, searching a list of passages.

- ``bm25.py``: BM25 in five variants on a sparse matrix
- ``dense.py``: cosine similarity as a matrix product
- ``fusion.py``: Reciprocal Rank Fusion, interleaving, weighted sums of aligned scores
"""

from ragkit.search.bm25 import BM25, VARIANTS, Variant
from ragkit.search.dense import Dense, unit_rows
from ragkit.search.fusion import (
    Scored,
    fuse_hits,
    fuse_retrievers,
    interleave,
    interleave_hits,
    min_max,
    reciprocal_rank_fusion,
    weighted_fusion,
    weighted_fusion_by_id,
    weighted_retriever,
)

__all__ = [
    "BM25",
    "VARIANTS",
    "Dense",
    "Scored",
    "Variant",
    "fuse_hits",
    "fuse_retrievers",
    "interleave",
    "interleave_hits",
    "min_max",
    "reciprocal_rank_fusion",
    "unit_rows",
    "weighted_fusion",
    "weighted_fusion_by_id",
    "weighted_retriever",
]
