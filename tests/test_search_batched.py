"""Batched search against numpy's stable sort and faiss' flat index; batched RRF against the one-query function."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Passage
from ragkit.search import Batched, Dense, batched_rrf, reciprocal_rank_fusion, unit_rows


def devices() -> list[str]:
    import torch

    return ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


DEVICES = devices()


@pytest.mark.parametrize("device", DEVICES)
@settings(max_examples=50, deadline=None)
@given(st.integers(0, 30), st.integers(0, 4), st.integers(0, 40), st.integers(1, 12), st.integers(0, 999))
def test_top_k_is_numpys_stable_order_with_many_ties(
    device: str, n: int, q: int, k: int, chunk: int, seed: int
) -> None:
    """Small whole numbers: products are exact, and most scores are tied."""
    rng = np.random.default_rng(seed)
    vectors, queries = rng.integers(-2, 3, (n, 3)).astype(float), rng.integers(-2, 3, (q, 3)).astype(float)
    found = Batched(vectors, device=device, chunk=chunk).search(queries, k)
    scores = queries @ vectors.T
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    assert found.positions.tolist() == expected.tolist()
    assert found.scores.tolist() == np.take_along_axis(scores, expected, 1).tolist()
    assert found.scores.shape == found.positions.shape == (q, min(k, n))


@pytest.mark.parametrize("device", DEVICES)
def test_the_same_neighbours_as_faiss_flat_index(device: str) -> None:
    faiss = pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    vectors, queries = unit_rows(rng.normal(size=(5_000, 64))), unit_rows(rng.normal(size=(40, 64)))
    index = faiss.IndexFlatIP(64)
    index.add(vectors)
    scores, positions = index.search(queries, 10)
    found = Batched(vectors, device=device, chunk=777).search(queries, 10)
    np.testing.assert_allclose(found.scores, scores, atol=1e-5)
    assert (found.positions == positions).mean() > 0.99, "only scores within rounding may change places"
    np.testing.assert_allclose(np.sum(vectors[found.positions] * queries[:, None], axis=2), found.scores, atol=1e-5)


def test_copies_of_a_document_tie_exactly_and_come_by_position_whatever_the_chunk() -> None:
    rng = np.random.default_rng(1)
    vectors = np.tile(rng.normal(size=(50, 33)), (7, 1))
    queries = rng.normal(size=(9, 33))
    first = Batched(vectors).search(queries, 14)
    for chunk in (1, 13, 64):
        assert Batched(vectors, chunk=chunk).search(queries, 14).positions.tolist() == first.positions.tolist()
    for scores, positions in zip(first.scores, first.positions, strict=True):
        assert len(set(scores[:7].tolist())) == 1
        assert [p - positions[0] for p in positions[:7]] == [0, 50, 100, 150, 200, 250, 300]


def test_the_answer_does_not_depend_on_chunk_or_batch_beyond_rounding() -> None:
    rng = np.random.default_rng(2)
    vectors, queries = rng.normal(size=(500, 16)), rng.normal(size=(30, 16))
    whole = Batched(vectors).search(queries, 7)
    for chunk in (1, 100, 499):
        np.testing.assert_allclose(Batched(vectors, chunk=chunk).search(queries, 7).scores, whole.scores, atol=1e-5)
    alone = np.concatenate([Batched(vectors).search(query[None], 7).scores for query in queries])
    np.testing.assert_allclose(alone, whole.scores, atol=1e-5)


def test_a_batch_finds_what_the_dense_index_finds_one_by_one() -> None:
    rng = np.random.default_rng(3)
    vectors = unit_rows(rng.normal(size=(60, 8)))
    dense = Dense([Passage(str(i), f"text {i}") for i in range(60)], lambda texts: pytest.fail("embedded"), vectors)
    queries = unit_rows(rng.normal(size=(5, 8)))
    found = Batched(dense.vectors).search(queries, 6)
    for query, positions in zip(queries, found.positions, strict=True):
        assert [hit.id for hit in dense.by_vector(query, 6)] == [str(p) for p in positions]


def test_a_block_of_scores_is_all_the_memory_a_search_needs() -> None:
    """Peak of a search over 20,000 documents in blocks of 500: far below the whole score matrix of 320 MB."""
    resource = pytest.importorskip("resource")
    rng = np.random.default_rng(4)
    index = Batched(rng.normal(size=(20_000, 8)), chunk=500)
    queries = rng.normal(size=(4_000, 8))
    index.search(queries[:10], 5)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    index.search(queries, 5)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 120_000, f"{grown} kB"


def test_bad_vectors_queries_and_settings_are_named() -> None:
    index = Batched([[1.0, 0.0]])
    with pytest.raises(ValueError, match="queries have 3 dimensions, the index 2"):
        index.search([[1.0, 2.0, 3.0]], 1)
    with pytest.raises(ValueError, match="queries must have two"):
        index.search([1.0, 2.0], 1)
    with pytest.raises(ValueError, match="vectors must have two"):
        Batched([1.0])
    with pytest.raises(ValueError, match="vectors holds a value"):
        Batched([[np.nan, 0.0]])
    with pytest.raises(ValueError, match="chunk"):
        Batched([[1.0]], chunk=0)
    with pytest.raises(ValueError, match="k must be"):
        index.search([[1.0, 0.0]], -1)


Lists = st.lists(st.lists(st.integers(0, 8), unique=True, max_size=5), min_size=1, max_size=4)


@pytest.mark.parametrize("device", DEVICES)
@settings(max_examples=50, deadline=None)
@given(st.lists(Lists, min_size=1, max_size=4), st.sampled_from([0.0, 1.0, 60.0]))
def test_batched_rrf_is_the_one_query_function_with_its_ties(
    device: str, batch: list[list[list[int]]], k: float
) -> None:
    lists = max(len(query) for query in batch)
    table = np.full((lists, len(batch), 5), -1)
    for q, query in enumerate(batch):
        for i, ranking in enumerate(query):
            table[i, q, : len(ranking)] = ranking
    found = batched_rrf(table, 12, k, device)
    for q, query in enumerate(batch):
        expected = reciprocal_rank_fusion(query, k)
        assert found.positions[q, : len(expected)].tolist() == [item for item, _ in expected]
        np.testing.assert_allclose(found.scores[q, : len(expected)], [score for _, score in expected], atol=1e-12)
        assert set(found.positions[q, len(expected) :].tolist()) <= {-1}
        assert not found.scores[q, len(expected) :].any()


def test_rrf_worked_by_hand() -> None:
    """a, b, c and b, d, a with k 60: b 0.0325225, a 0.0322665, d 0.0161290, c 0.0158730."""
    found = batched_rrf([[[0, 1, 2]], [[1, 3, 0]]], 3)
    assert found.positions.tolist() == [[1, 0, 3]]
    assert found.scores[0].round(7).tolist() == [0.0325225, 0.0322665, 0.0161290]


def test_rrf_of_nothing_and_bad_rankings() -> None:
    assert batched_rrf(np.zeros((0, 2, 3), int), 2).positions.tolist() == [[-1, -1], [-1, -1]]
    assert batched_rrf(np.zeros((1, 0, 3), int), 2).positions.shape == (0, 2)
    assert batched_rrf([[[1, 2]]], 0).positions.shape == (1, 0)
    with pytest.raises(ValueError, match="more than once in one list"):
        batched_rrf([[[1, 2, 1]]], 2)
    with pytest.raises(ValueError, match="rankings must be"):
        batched_rrf([[1, 2]], 2)
    with pytest.raises(ValueError, match="rankings must be"):
        batched_rrf([[[1.5]]], 2)
    with pytest.raises(ValueError, match="k must be a finite"):
        batched_rrf([[[1]]], 2, k=-1)
