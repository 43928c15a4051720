"""Fusion: closed forms, limits (one list, no list, weight 0 and 1), and the slips of published code."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit, Passage
from ragkit.search import (
    BM25,
    Dense,
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

ids = st.lists(st.sampled_from("abcdefgh"), max_size=8)
rankings = st.lists(ids, max_size=4)
numbers = st.lists(st.integers(-1000, 1000).map(lambda n: n / 8), min_size=1, max_size=12)


def letters(texts):
    return np.array([[text.count(c) + 0.01 for c in "abcdefgh"] for text in texts], dtype=np.float32)


def test_rrf_values_of_the_worked_example():
    fused = dict(reciprocal_rank_fusion([["a", "b", "c"], ["b", "d", "a"]], k=60))
    assert fused == pytest.approx({"b": 0.0325225, "a": 0.0322665, "d": 0.0161290, "c": 0.0158730}, abs=5e-8)


def test_rrf_ranks_count_from_1_not_from_0():
    assert reciprocal_rank_fusion([["a"]], k=60) == [("a", 1 / 61)]
    assert reciprocal_rank_fusion([["a", "b"]], k=0) == [("a", 1.0), ("b", 0.5)]


def test_rrf_gives_an_absent_item_nothing_rather_than_a_last_rank():
    assert dict(reciprocal_rank_fusion([["a"], ["b"], ["b"]]))["a"] == 1 / 61


def test_rrf_deduplicates_inside_a_ranking_first_and_closes_up_the_ranks():
    assert reciprocal_rank_fusion([["a", "a", "a", "b"]]) == [("a", 1 / 61), ("b", 1 / 62)]


def test_rrf_ties_go_to_the_better_best_rank_then_to_the_item_met_first():
    assert [item for item, _ in reciprocal_rank_fusion([["x", "y"], ["y", "x"]])] == ["x", "y"]
    # k = 0: x once at rank 1; y twice at rank 2. Equal sums, and x has the better best rank though it is met last.
    fused = reciprocal_rank_fusion([["p", "y"], ["q", "y"], ["x"]], k=0)
    assert [item for item, _ in fused] == ["p", "q", "x", "y"]
    assert [score for _, score in fused] == [1, 1, 1, 1]


def test_rrf_of_one_list_keeps_its_order_and_of_none_is_empty():
    assert [item for item, _ in reciprocal_rank_fusion([list("hgfa")])] == list("hgfa")
    assert reciprocal_rank_fusion([]) == reciprocal_rank_fusion([[], []]) == []


@settings(max_examples=50, deadline=None)
@given(lists=rankings, k=st.integers(0, 100))
def test_rrf_equals_exact_fractions_and_does_not_depend_on_the_order_of_rankings(lists, k):
    exact: dict[str, Fraction] = {}
    for ranking in lists:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            exact[item] = exact.get(item, Fraction(0)) + Fraction(1, k + rank)
    fused = reciprocal_rank_fusion(lists, k)
    assert dict(fused) == pytest.approx({item: float(score) for item, score in exact.items()}, abs=1e-15)
    assert dict(fused) == dict(reciprocal_rank_fusion(lists[::-1], k))
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)


@pytest.mark.parametrize("k", [-1, float("nan"), float("inf")])
def test_rrf_refuses_a_bad_k(k):
    with pytest.raises(ValueError, match="k must"):
        reciprocal_rank_fusion([["a"]], k)


def naive_interleave(lists, k):
    """The contract, played out turn by turn."""
    taken, pointers = [], [list(items) for items in lists]
    while any(pointers) and len(taken) < k:
        for queue in pointers:
            while queue and queue[0] in taken:
                queue.pop(0)
            if queue and len(taken) < k:
                taken.append(queue.pop(0))
    return taken


@settings(max_examples=100, deadline=None)
@given(lists=rankings, k=st.integers(-1, 12))
def test_interleave_equals_its_contract_and_leaves_the_inputs_alone(lists, k):
    before = [list(items) for items in lists]
    assert interleave(lists, k) == naive_interleave(lists, k)
    assert lists == before


def test_interleave_treats_0_and_empty_and_none_as_items():
    assert interleave([[0, "", None], [None, 1]], 9) == [0, None, "", 1]


def test_interleave_starves_no_list_where_one_fused_list_would():
    long, short = [f"a{i}" for i in range(10)], ["b0"]
    assert "b0" in interleave([long, short], 3)
    fused = [item for item, _ in reciprocal_rank_fusion([long, long[::-1], short])]
    assert fused.index("b0") > 3


def test_min_max_of_constant_scores_is_zero_and_divides_by_nothing():
    assert min_max([3.0, 3.0]).tolist() == [0, 0]
    assert min_max([]).tolist() == []


@settings(max_examples=50, deadline=None)
@given(first=numbers, data=st.data())
def test_weight_1_orders_as_first_and_weight_0_as_second(first, data):
    second = data.draw(st.lists(st.integers(-1000, 1000).map(float), min_size=len(first), max_size=len(first)))
    assert (
        np.argsort(-weighted_fusion(first, second, 1), kind="stable").tolist()
        == np.argsort(-np.array(first), kind="stable").tolist()
    )
    assert (
        np.argsort(-weighted_fusion(first, second, 0), kind="stable").tolist()
        == np.argsort(-np.array(second), kind="stable").tolist()
    )


def test_weighted_fusion_closed_form_and_refusals():
    np.testing.assert_allclose(weighted_fusion([0, 1, 2], [5, 5, 10], 0.25), [0, 0.125, 1])
    with pytest.raises(ValueError, match="not aligned"):
        weighted_fusion([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="weight"):
        weighted_fusion([1], [1], 1.5)
    with pytest.raises(ValueError, match="finite"):
        weighted_fusion([1, float("nan")], [1, 2])


def test_weighted_by_id_equals_the_aligned_sum_whatever_order_the_ids_come_in():
    first, second = {"a": 0.9, "b": 0.1, "c": 0.4}, {"c": 7.0, "b": 1.0}
    aligned = weighted_fusion([0.9, 0.1, 0.4], [0.0, 1.0, 7.0], 0.3)
    shuffled = weighted_fusion_by_id(dict(reversed(first.items())), second, 0.3)
    assert dict(shuffled) == pytest.approx(dict(zip("abc", aligned, strict=True)))
    assert weighted_fusion_by_id({}, {}) == []


def test_weighted_by_id_keeps_the_credit_of_a_lone_lexical_match():
    assert weighted_fusion_by_id({"a": 0.4, "b": 0.3, "c": 0.0}, {"c": 7.0}, 0.4)[0][0] == "c"


TEXTS = ["abba", "cab bed", "dad", "fed egg", "bag", "head", "cab bed", "", "ace"]
PASSAGES = [Passage(f"p{i}", text) for i, text in enumerate(TEXTS)]


@settings(max_examples=50, deadline=None)
@given(query=st.lists(st.sampled_from([*TEXTS, "zzz"]), max_size=3).map(" ".join), k=st.integers(0, 12))
def test_alignment_weight_1_is_dense_search_and_weight_0_is_bm25(query, k):
    dense, bm25 = Dense(PASSAGES, letters), BM25(PASSAGES)
    assert [h.id for h in weighted_retriever(dense, bm25, 1)(query, k)] == [h.id for h in dense(query, k)]
    assert [h.id for h in weighted_retriever(dense, bm25, 0)(query, k)] == [h.id for h in bm25(query, k)]


def test_alignment_scores_held_in_another_order_are_refused():
    with pytest.raises(ValueError, match="not aligned"):
        weighted_retriever(Dense(PASSAGES, letters), BM25(PASSAGES[::-1]))
    with pytest.raises(ValueError, match="weight"):
        weighted_retriever(Dense(PASSAGES, letters), BM25(PASSAGES), 2)


def test_fuse_retrievers_merges_by_rank_and_counts_only_what_was_found():
    def one(query, k):
        return [Hit("a", "text a", 9.0), Hit("b", "text b", 8.0)][:k]

    def two(query, k):
        return [Hit("b", "text b", 0.3)][:k]

    assert fuse_retrievers([one, two])("q", 5) == [
        Hit("b", "text b", 1 / 62 + 1 / 61),
        Hit("a", "text a", 1 / 61),
    ]
    assert fuse_retrievers([])("q", 5) == []
    assert fuse_retrievers([one, two])("q", 0) == []


def test_fuse_retrievers_fetches_at_least_what_is_asked_for():
    asked = []
    fuse_retrievers([lambda query, k: asked.append(k) or []], depth=50)("q", 80)
    fuse_retrievers([lambda query, k: asked.append(k) or []], depth=50)("q", 5)
    assert asked == [80, 50]


def test_documents_that_match_no_term_earn_no_rank_credit():
    bm25 = BM25([Passage("a", "kettle"), Passage("b", "lamp")])
    assert [hit.id for hit in fuse_retrievers([bm25])("lamp", 5)] == ["b"]


def test_equal_texts_under_different_ids_are_not_merged():
    first, second = (
        [Hit("2023", "Same words.", 2.0), Hit("2024", "Same words.", 1.0)],
        [Hit("2024", "Same words.", 5.0)],
    )
    for merge in (lambda: fuse_hits([first, second], 5), lambda: interleave_hits([first, second], 5)):
        assert {hit.id for hit in merge()} == {"2023", "2024"}
    assert [hit.id for hit in fuse_hits([first, second], 5)] == ["2024", "2023"]  # only one of them was found twice


def test_k_is_60_wherever_rankings_are_fused():
    one = [Hit("a", "A", 1.0)]
    assert reciprocal_rank_fusion([["a"]])[0][1] == fuse_hits([one], 1)[0].score == 1 / 61
    assert fuse_retrievers([lambda query, k: one])("q", 1)[0].score == 1 / 61


def test_interleaved_hits_carry_one_over_rank():
    merged = interleave_hits([[Hit("a", "A", 0.1)], [Hit("a", "A", 30.0), Hit("b", "B", 20.0)]], 5)
    assert merged == [Hit("a", "A", 1.0), Hit("b", "B", 0.5)]
