"""Floor 4, what surrounds retrieval in a running system.

- ``ordering.py``: best at both ends, newest first, reading order
- ``answer_cache.py``: exact answers with expiry, scope and invalidation
- ``semantic_cache.py``: answers by closeness of vectors, and its trap
- ``cache_gate.py``: whether two questions agree in all that one token decides
- ``guarded_cache.py``: the semantic cache with that second gate
- ``cache_pairs.py``: labelled pairs of questions that try a cache
"""

from ragkit.systems.answer_cache import AnswerCache, Scope, normal_form
from ragkit.systems.cache_gate import difference, holds_identifier
from ragkit.systems.cache_pairs import labelled_pairs, one_token_variant, zipf_sample
from ragkit.systems.guarded_cache import CacheReport, GuardedSemanticCache, audit
from ragkit.systems.ordering import edge_weighted_order, parity_reorder, reading_order, recency_order, recency_scores
from ragkit.systems.semantic_cache import SemanticCache

__all__ = [
    "AnswerCache",
    "CacheReport",
    "GuardedSemanticCache",
    "Scope",
    "SemanticCache",
    "audit",
    "difference",
    "edge_weighted_order",
    "holds_identifier",
    "labelled_pairs",
    "normal_form",
    "one_token_variant",
    "parity_reorder",
    "reading_order",
    "recency_order",
    "recency_scores",
    "zipf_sample",
]
