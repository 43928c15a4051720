"""Reranking's common shape: wide first, narrow second, new scores, ties in old order; and a tiny real cross-encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit, Passage
from ragkit.search import by_scores, cross_encoder, full_texts, rerank, scoring
from ragkit.search.cross_encoder import load

HITS = [Hit("a", "red kettle", 0.9), Hit("b", "blue kettle", 0.8), Hit("c", "earbuds", 0.7), Hit("d", "", 0.6)]


def first(n: int) -> Any:
    """A retriever that remembers how many hits it was asked for."""
    asked: list[int] = []

    def retriever(query: str, k: int) -> list[Hit]:
        asked.append(k)
        return HITS[:n][:k]

    retriever.asked = asked  # type: ignore[attr-defined]
    return retriever


by_length = scoring(lambda query, texts: [len(text) for text in texts])


def test_the_best_of_a_wide_search_comes_first_with_its_new_score() -> None:
    retriever = first(4)
    assert rerank(retriever, by_length, depth=3)("kettle", 2) == [
        Hit("b", "blue kettle", 11.0),
        Hit("a", "red kettle", 10.0),
    ]
    assert retriever.asked == [3]


def test_what_the_first_search_misses_no_reranker_can_bring_back() -> None:
    assert "b" not in [hit.id for hit in rerank(first(4), by_length, depth=1)("kettle", 1)]


def test_k_beyond_the_depth_widens_the_search_and_k_0_searches_nothing() -> None:
    retriever = first(4)
    assert len(rerank(retriever, by_length, depth=1)("kettle", 9)) == 4
    assert rerank(retriever, by_length)("kettle", 0) == []
    assert retriever.asked == [9]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-3, 3), max_size=12))
def test_scores_order_the_hits_and_ties_keep_the_old_order(scores: list[int]) -> None:
    hits = [Hit(str(i), "", 1.0) for i in range(len(scores))]
    ranked = by_scores(hits, scores)
    assert [hit.id for hit in ranked] == [str(i) for i in sorted(range(len(scores)), key=lambda i: (-scores[i], i))]
    assert [hit.score for hit in ranked] == sorted(map(float, scores), reverse=True)


@pytest.mark.parametrize("scores", [[1.0], [1.0, float("nan"), 0, 0], [1.0, float("inf"), 0, 0], [[1.0]] * 4])
def test_scores_of_another_shape_or_not_finite_are_refused(scores: Any) -> None:
    with pytest.raises(ValueError, match="scores"):
        by_scores(HITS, scores)


def test_no_hits_and_a_blank_query_cost_no_call() -> None:
    reranker = scoring(lambda query, texts: pytest.fail("called"))
    assert reranker("kettle", []) == []
    assert reranker("  ", HITS) == HITS
    assert rerank(lambda query, k: [], reranker)("kettle", 3) == []


def test_hits_of_one_text_are_scored_once_and_tie_exactly() -> None:
    seen: list[str] = []

    def noisy(query: str, texts: list[str]) -> Any:
        seen.extend(texts)
        return np.random.default_rng(0).random(len(texts))

    ranked = scoring(noisy)("q", [Hit("1", "same", 0), Hit("2", "other", 0), Hit("3", "same", 0)])
    assert seen == ["same", "other"]
    score = {hit.id: hit.score for hit in ranked}
    assert score["1"] == score["3"]
    assert [hit.id for hit in ranked if hit.text == "same"] == ["1", "3"]
    with pytest.raises(ValueError, match="score must give one number a text"):
        scoring(lambda query, texts: [1.0])("q", HITS)


def test_a_reranker_reads_the_title_too_and_hits_keep_their_own_text() -> None:
    texts = full_texts([Passage("a", "red kettle", title="The Aster kettle in red, owner's manual"), Passage("z", "?")])
    seen: list[str] = []

    def score(query: str, given: list[str]) -> list[int]:
        seen.extend(given)
        return [len(text) for text in given]

    hits = rerank(first(2), scoring(score), texts=texts)("kettle", 2)
    assert seen == ["The Aster kettle in red, owner's manual\nred kettle", "blue kettle"]
    assert [(hit.id, hit.text) for hit in hits] == [("a", "red kettle"), ("b", "blue kettle")]
    with pytest.raises(ValueError, match="more than once"):
        full_texts([Passage("a", "x"), Passage("a", "y")])


@pytest.mark.parametrize(
    "slip",
    [lambda q, h: h[:-1], lambda q, h: [*h, h[0]], lambda q, h: [h[0], h[0]], lambda q, h: [Hit("x", "", 1), h[0]]],
)
def test_a_reranker_that_drops_repeats_or_invents_hits_is_refused(slip: Any) -> None:
    with pytest.raises(ValueError, match="reranker must return the 2 hits"):
        rerank(first(2), slip)("kettle", 1)


@pytest.mark.parametrize("bad", [-1, 1.5, True])
def test_a_bad_depth_or_k_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="k must be"):
        rerank(first(2), by_length, depth=bad)
    with pytest.raises(ValueError, match="k must be"):
        rerank(first(2), by_length)("q", bad)


# A cross-encoder of two tiny layers with seeded random weights, made here: no download.

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "red",
    "blue",
    "kettle",
    "earbuds",
    "which",
    "?",
    "##s",
    "is",
    "it",
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("cross-encoder")
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(WORDS), num_labels=1, max_position_embeddings=32, initializer_range=0.5, **sizes)
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=32).save_pretrained(folder)
    return folder


def test_a_cross_encoder_by_folder_or_object_scores_each_pair_as_the_network_alone_does(tiny: Path) -> None:
    """The oracle: the same network run by hand, one pair at a time, without padding."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny, local_files_only=True)
    network = AutoModelForSequenceClassification.from_pretrained(tiny, local_files_only=True).eval()
    query, hits = "which kettle is red ?", [*HITS[:3], Hit("e", "red red red kettles ? is it", 0.1)]
    expected = {}
    for hit in hits:
        with torch.no_grad():
            expected[hit.id] = float(torch.sigmoid(network(**tokenizer(query, hit.text, return_tensors="pt")).logits))
    assert len({round(score, 4) for score in expected.values()}) == 4, "the random network tells the passages apart"
    for model in (tiny, str(tiny), load(tiny)):
        ranked = cross_encoder(model, batch_size=3)(query, hits)
        assert [hit.id for hit in ranked] == sorted(expected, key=lambda i: -expected[i])
        assert [hit.score for hit in ranked] == pytest.approx([expected[hit.id] for hit in ranked], abs=1e-6)


def test_a_cross_encoder_reads_query_and_passage_together(tiny: Path) -> None:
    """A score that were a sum of one of the query and one of the passage would have equal differences."""
    model = load(tiny)
    table = model.predict([(q, p) for q in ("red kettle", "earbuds") for p in ("red kettle", "earbuds is it")])
    logits = np.log(table / (1 - table))
    assert abs((logits[0] - logits[1]) - (logits[2] - logits[3])) > 1e-3


def test_a_long_passage_is_cut_and_no_error(tiny: Path) -> None:
    [hit] = cross_encoder(tiny)("red ?", [Hit("long", "kettle " * 500, 1.0)])
    assert 0 < hit.score < 1


def test_a_model_of_another_kind_is_refused(tiny: Path) -> None:
    class Three:
        def predict(self, pairs: list[tuple[str, str]], **options: Any) -> Any:
            return np.zeros((len(pairs), 3))

    with pytest.raises(ValueError, match="one number a text"):
        cross_encoder(Three())("q", HITS)
    for bad in (None, 3, "", " "):
        with pytest.raises(ValueError, match="model must be"):
            cross_encoder(bad)
    with pytest.raises(ValueError, match="batch_size"):
        cross_encoder(Three(), batch_size=0)
