"""Floor 4, what surrounds retrieval in a running system.

- ``ordering.py``: best at both ends, newest first, reading order
- ``answer_cache.py``: exact answers with expiry, scope and invalidation
- ``semantic_cache.py``: answers by closeness of vectors, and its trap
- ``rows.py``: vectors that come one at a time, as one matrix
- ``cache_gate.py``: whether two questions agree in all that one token decides
- ``guarded_cache.py``: the semantic cache with that second gate
- ``cache_pairs.py``: labelled pairs of questions that try a cache
- ``cost.py``: the price of a question, with and without a cached prefix
- ``prefill.py``: the arithmetic and the memory of a prompt
- ``self_route.py``: passages first, the long context where they do not suffice
- ``router.py``: the router over everything, its fallbacks, and its report

``self_route`` is imported from its module: as a name of this package it is a module.
"""

from ragkit.systems.answer_cache import AnswerCache, Scope, normal_form
from ragkit.systems.cache_gate import difference, holds_identifier
from ragkit.systems.cache_pairs import labelled_pairs, one_token_variant, zipf_sample
from ragkit.systems.cost import (
    Comparison,
    Prices,
    caching_pays_from,
    call_price,
    compare,
    crossover,
    growth,
    prefix_price,
)
from ragkit.systems.guarded_cache import CacheReport, GuardedSemanticCache, audit
from ragkit.systems.ordering import edge_weighted_order, parity_reorder, reading_order, recency_order, recency_scores
from ragkit.systems.prefill import ModelShape, kv_bytes, kv_bytes_per_token, prefill_flops, quadratic_overtakes
from ragkit.systems.router import RouterReport, RouterTable, answer_by_route
from ragkit.systems.self_route import SelfRouteResult, self_route_share
from ragkit.systems.semantic_cache import SemanticCache

__all__ = [
    "AnswerCache",
    "CacheReport",
    "Comparison",
    "GuardedSemanticCache",
    "ModelShape",
    "Prices",
    "RouterReport",
    "RouterTable",
    "Scope",
    "SelfRouteResult",
    "SemanticCache",
    "answer_by_route",
    "audit",
    "caching_pays_from",
    "call_price",
    "compare",
    "crossover",
    "difference",
    "edge_weighted_order",
    "growth",
    "holds_identifier",
    "kv_bytes",
    "kv_bytes_per_token",
    "labelled_pairs",
    "normal_form",
    "one_token_variant",
    "parity_reorder",
    "prefill_flops",
    "prefix_price",
    "quadratic_overtakes",
    "reading_order",
    "recency_order",
    "recency_scores",
    "self_route_share",
    "zipf_sample",
]
