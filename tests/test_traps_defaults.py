"""Settings that a paper or released code fixes: what a function does when nothing is said must be what they did.

A test of the technique usually gives its own small settings, so a default that drifts from the source goes unseen
there. Here each is set beside the place it comes from.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from ragkit.base import Passage
from ragkit.graph import HippoRAG, KeywordSearch, hierarchy, primer_reports
from ragkit.graph.drift import drift
from ragkit.graph.keyword_query import SHORT_QUERY
from ragkit.graph.pagerank import pagerank
from ragkit.index import Raptor, context_cost, raptor
from ragkit.index.raptor_clusters import clusters
from ragkit.loops import Weights, crag, flare, ircot, refine, segment_beam, self_rag, should_retrieve
from ragkit.query import sparse_query
from ragkit.search import BM25, batched_rrf, fuse_retrievers, listwise, query_likelihood, rank_windows, rerank
from ragkit.search import reciprocal_rank_fusion as rrf
from ragkit.structured import Database, code_chunks
from ragkit.systems import Prices
from ragkit.text import count_tokens

# (function or class, parameter, value, where the value stands)
FIXED: list[tuple[Any, str, Any, str]] = [
    (rrf, "k", 60, "Cormack et al. (2009)"),
    (fuse_retrievers, "k", 60, "Cormack et al. (2009)"),
    (batched_rrf, "k", 60, "Cormack et al. (2009)"),
    (BM25, "k1", 1.5, "the usual 1.2 to 2.0; rank-bm25 and bm25s"),
    (BM25, "b", 0.75, "Robertson and Zaragoza (2009)"),
    (BM25, "variant", "lucene", "bm25s"),
    (rerank, "depth", 50, "a wide first stage of 30 to 50"),
    (listwise, "window", 20, "Sun et al. (2023), section 3"),
    (listwise, "step", 10, "Sun et al. (2023), section 3"),
    (rank_windows, "window", 20, "Sun et al. (2023), section 3"),
    (rank_windows, "step", 10, "Sun et al. (2023), section 3"),
    (query_likelihood, "aggregate", "mean", "Sachan et al. (2022), section 2"),
    (sparse_query, "repeat", 5, "Wang et al. (2023), section 2"),
    (clusters, "dimensions", 10, "RAPTOR, cluster_utils.py: reduction_dimension"),
    (clusters, "threshold", 0.1, "RAPTOR, cluster_utils.py: threshold"),
    (clusters, "token_limit", 3500, "RAPTOR, cluster_utils.py: max_length_in_cluster"),
    (clusters, "max_components", 50, "RAPTOR, cluster_utils.py: max_clusters"),
    (Raptor, "dimensions", 10, "RAPTOR, cluster_utils.py: reduction_dimension"),
    (Raptor, "token_limit", 3500, "RAPTOR, cluster_utils.py: max_length_in_cluster"),
    (Raptor, "max_layers", 5, "RAPTOR, tree_builder.py: num_layers"),
    (Raptor, "words", 100, "RAPTOR, tree_builder.py: summarization_length"),
    (Raptor.collapsed, "budget", 2000, "Sarthi et al. (2024), section 3"),
    (hierarchy, "max_size", 10, "GraphRAG, cluster_graph: max_cluster_size"),
    (hierarchy, "seed", 0xDEADBEEF, "GraphRAG, cluster_graph: seed"),
    (primer_reports, "k", 20, "GraphRAG, drift_search: drift_k_followups, which also bounds the reports"),
    (drift, "folds", 5, "GraphRAG, drift_search: primer_folds"),
    (drift, "depth", 3, "GraphRAG, drift_search: n_depth"),
    (drift, "per_round", 20, "GraphRAG, drift_search: drift_k_followups"),
    (KeywordSearch, "min_score", 0.2, "LightRAG: cosine_better_than_threshold"),
    (pagerank, "restart", 0.15, "textbooks: damping 0.85"),
    (HippoRAG, "restart", 0.5, "HippoRAG, all experiments: --damping 0.5"),
    (HippoRAG, "synonym_threshold", 0.8, "HippoRAG: synonyms from cosine 0.8 on"),
    (HippoRAG, "max_synonyms", 100, "HippoRAG, create_graph.py: about 100 neighbours a phrase"),
    (self_rag.self_rag, "threshold", 0.2, "Self-RAG, run_short_form.py: --threshold 0.2"),
    (should_retrieve, "threshold", 0.2, "Self-RAG, run_short_form.py: --threshold 0.2"),
    (Weights, "relevance", 1.0, "Asai et al. (2024), section 3.3: w_rel"),
    (Weights, "support", 1.0, "Asai et al. (2024), section 3.3: w_sup"),
    (Weights, "utility", 0.5, "Asai et al. (2024), section 3.3: w_use"),
    (segment_beam, "width", 2, "Asai et al. (2024), inference settings: beam width 2"),
    (crag.crag, "upper", 0.592, "CRAG, run_crag_inference.sh: PopQA"),
    (crag.crag, "lower", -0.995, "CRAG, run_crag_inference.sh: PopQA, negated there"),
    (crag.crag, "size", 3, "CRAG, internal_knowledge_preparation.py: strips of three sentences"),
    (crag.crag, "keep", 5, "Yan et al. (2024), appendix B.2: top-k 5"),
    (crag.crag, "strip_threshold", -0.5, "Yan et al. (2024), appendix B.2: filtering threshold -0.5"),
    (crag.crag, "order", "document", "Yan et al. (2024), section 4.4: concatenation in order"),
    (refine, "size", 3, "CRAG, internal_knowledge_preparation.py: strips of three sentences"),
    (refine, "keep", 5, "Yan et al. (2024), appendix B.2: top-k 5"),
    (refine, "threshold", -0.5, "Yan et al. (2024), appendix B.2: filtering threshold -0.5"),
    (ircot.ircot, "max_sentences", 10, "IRCoT, max_num_sentences"),
    (ircot.ircot, "max_paragraphs", 15, "Trivedi et al. (2023): at most 15 paragraphs"),
    (flare.flare, "threshold", 0.8, "FLARE, 2wikihop_flare_config.json: look_ahead_filter_prob"),
    (flare.flare, "mask_below", 0.4, "FLARE, 2wikihop_flare_config.json: look_ahead_mask_prob"),
    (flare.flare, "form", "masked", "Jiang et al. (2023), section 3.2: implicit queries by masking"),
    (Prices, "cache_write", 1.25, "Anthropic, prompt caching (2024)"),
    (Prices, "cache_read", 0.1, "Anthropic, prompt caching (2024)"),
    (context_cost.price, "write", 1.25, "Anthropic, prompt caching (2024)"),
    (context_cost.price, "read", 0.1, "Anthropic, prompt caching (2024)"),
    (code_chunks, "max_lines", 200, "functions over 200 lines are split"),
    (Database, "max_rows", 50, "a result cut at 50 rows must say so"),
]  # fmt: skip


@pytest.mark.parametrize(("thing", "parameter", "value", "source"), FIXED)
def test_what_a_source_fixes_is_the_default(thing: Any, parameter: str, value: Any, source: str) -> None:
    given = inspect.signature(thing).parameters[parameter].default
    assert given == value, f"{source} has {value!r}"
    assert type(given) is type(value)


def test_the_short_question_of_lightrag_is_below_50_characters() -> None:
    assert SHORT_QUERY == 50


def test_drift_goes_three_rounds_deep_where_questions_never_end() -> None:
    count = iter(range(10_000))

    def llm(prompt: str) -> str:
        return f'{{"intermediate_answer": "a", "score": 1, "follow_up_queries": ["question {next(count)}?"]}}'

    found = drift("Why?", [], lambda query: "notes", llm)
    assert max(step.round for step in found.steps) == 3


def flat(texts: list[str]) -> Any:
    import numpy as np

    return np.tile(np.array([[1.0, 0.0]], dtype=np.float32), (len(texts), 1))


@pytest.mark.parametrize(("words", "found"), [(2000, 1), (2001, 0)])
def test_the_collapsed_tree_fills_2000_tokens(words: int, found: int) -> None:
    text = "word " * words
    assert count_tokens(text) == words
    assert len(Raptor([Passage("p", text)], flat, str).collapsed("q")) == found


def test_eleven_passages_are_a_tree_of_one_layer_and_twelve_are_clustered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def cut(vectors: Any, tokens: Any, **options: Any) -> list[tuple[int, ...]]:
        asked.append(options)
        return [tuple(range(len(tokens)))]

    monkeypatch.setattr(raptor, "clusters", cut)
    for n, layers in ((11, 1), (12, 2)):
        tree = Raptor([Passage(str(i), f"text {i}") for i in range(n)], flat, lambda prompt: "a summary")
        assert len(tree.layers) == layers
    assert asked == [{"dimensions": 10, "token_limit": 3500}]
