"""Floor 1, searching a list of passages.

- ``bm25.py``: BM25 in five variants on a sparse matrix
- ``dense.py``: cosine similarity as a matrix product
- ``batched.py``: many queries at once in PyTorch, on a processor or a graphics card
- ``fusion.py``: Reciprocal Rank Fusion, interleaving, weighted sums of aligned scores
- ``rerank.py``: wide first, narrow second; what the rerankers below have in common
- ``cross_encoder.py``: any sentence-transformers ``CrossEncoder``
- ``cross_encoder_head.py``, ``train_head.py``: a small trained one on frozen MiniLM
- ``pointwise.py``, ``listwise.py``: a language model grades each passage, or orders many (RankGPT)
- ``query_likelihood.py``: how probable the query is after the passage
- ``late_interaction.py``: MaxSim over token vectors (ColBERT)
"""

from ragkit.search.batched import Batched, TopK, batched_rrf
from ragkit.search.bm25 import BM25, VARIANTS, Variant
from ragkit.search.cross_encoder import cross_encoder
from ragkit.search.cross_encoder_head import cross_encoder_head
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
from ragkit.search.late_interaction import LateInteraction, maxsim
from ragkit.search.listwise import listwise, permutation_prompt, rank_windows, read_permutation
from ragkit.search.pointwise import pointwise, read_score, relevance_prompt
from ragkit.search.query_likelihood import query_likelihood, question_prompt
from ragkit.search.rerank import Reranker, by_scores, full_texts, rerank, scoring

__all__ = [
    "BM25",
    "VARIANTS",
    "Batched",
    "Dense",
    "LateInteraction",
    "Reranker",
    "Scored",
    "TopK",
    "Variant",
    "batched_rrf",
    "by_scores",
    "cross_encoder",
    "cross_encoder_head",
    "full_texts",
    "fuse_hits",
    "fuse_retrievers",
    "interleave",
    "interleave_hits",
    "listwise",
    "maxsim",
    "min_max",
    "permutation_prompt",
    "pointwise",
    "query_likelihood",
    "question_prompt",
    "rank_windows",
    "read_permutation",
    "read_score",
    "reciprocal_rank_fusion",
    "relevance_prompt",
    "rerank",
    "scoring",
    "unit_rows",
    "weighted_fusion",
    "weighted_fusion_by_id",
    "weighted_retriever",
]
