"""Dense search against scikit-learn's cosine and against a made-up embedder whose vectors are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

from ragkit.base import Passage
from ragkit.search import Dense

AXES = {"north": [0.0, 1.0], "east": [1.0, 0.0], "north-east": [3.0, 3.0], "south": [0.0, -2.0]}


def compass(texts):
    return np.array([AXES[text] for text in texts], dtype=np.float32)


def letters(texts):
    """Counts of letters: a deterministic embedder for any text, not of unit length on purpose."""
    return np.array([[text.count(c) + 0.01 for c in "abcdefgh"] for text in texts], dtype=np.float32)


def passages(texts):
    return [Passage(str(i), text) for i, text in enumerate(texts)]


def test_nearest_directions_come_first():
    hits = Dense(passages(["east", "north", "south", "north-east"]), compass)("north", 3)
    assert [hit.text for hit in hits] == ["north", "north-east", "east"]
    np.testing.assert_allclose([hit.score for hit in hits], [1, 0.5**0.5, 0], atol=1e-7)


@settings(max_examples=50, deadline=None)
@given(
    texts=st.lists(st.text("abcdefgh", min_size=1, max_size=9), min_size=1, max_size=9),
    query=st.text("abc", min_size=1),
)
def test_scores_equal_scikit_learns_cosine_in_the_order_of_passages(texts, query):
    dense = Dense(passages(texts), letters)
    np.testing.assert_allclose(dense.scores(query), cosine_similarity(letters([query]), letters(texts))[0], atol=1e-6)
    ids = [hit.id for hit in dense(query, len(texts))]
    assert ids == [str(i) for i in np.argsort(-dense.scores(query), kind="stable")]


def test_equal_texts_are_embedded_once_and_tie_exactly_by_position():
    seen = []

    def counting(texts):
        seen.extend(texts)
        return letters(texts)

    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abcdefgh"), 30)) for _ in range(7)] * 5
    dense = Dense(passages(texts), counting)
    assert len(seen) == 7
    assert dense.vectors.shape == (35, 8)
    scores = dense.scores("abcabc")
    for start in range(7):
        assert len(set(scores[start::7])) == 1
    best = [int(hit.id) for hit in dense("abcabc", 5)]
    assert best == sorted(best)
    assert len({texts[i] for i in best}) == 1


def test_given_vectors_are_used_and_must_be_aligned():
    dense = Dense(passages(["x", "y", "x"]), compass, vectors=[[1, 0], [0, 5], [1, 0]])
    assert [hit.id for hit in dense.by_vector([0, 1], 1)] == ["1"]
    with pytest.raises(ValueError, match="vectors has 2 rows for 3"):
        Dense(passages(["x", "y", "z"]), compass, vectors=[[1, 0], [0, 1]])


def test_by_vector_takes_any_length_and_a_zero_vector_finds_nothing():
    dense = Dense(passages(["east", "north"]), compass)
    assert dense.by_vector([0.0, 1e-30], 1)[0].score == pytest.approx(1)
    assert dense.by_vector([0.0, 7.0], 1)[0].text == "north"
    assert dense.by_vector([0.0, 0.0], 2) == []


def test_query_vector_can_be_replaced():
    dense = Dense(passages(["east", "south"]), compass, query_vector=lambda query: -compass([query])[0])
    assert dense("north", 1)[0].text == "south"


@pytest.mark.parametrize("query", ["", "  \n"])
def test_a_blank_query_finds_nothing(query):
    dense = Dense(passages(["east"]), compass)
    assert dense(query, 3) == []
    assert dense.scores(query).tolist() == [0]
    assert not dense.matches(query).any()


def test_an_empty_corpus_finds_nothing_and_embeds_nothing():
    dense = Dense([], lambda texts: pytest.fail("embedded"))
    assert dense("north", 3) == []
    assert dense.scores("north").shape == (0,)
    assert dense.by_vector([1.0], 3) == []


def test_k_beyond_the_corpus_gives_all_and_0_gives_none():
    dense = Dense(passages(["east", "north"]), compass)
    assert len(dense("south", 9)) == 2
    assert dense("south", 0) == []


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match="1 vectors for 2 texts"):
        Dense(passages(["east", "north"]), lambda texts: compass(texts)[:1])
    with pytest.raises(ValueError, match="two dimensions"):
        Dense(passages(["east"]), lambda texts: compass(texts)[0])
    with pytest.raises(ValueError, match="not finite"):
        Dense(passages(["east"]), lambda texts: compass(texts) * np.nan)
    with pytest.raises(ValueError, match="vector has 3 dimensions, the index 2"):
        Dense(passages(["east"]), compass).by_vector([1, 2, 3], 1)
    with pytest.raises(ValueError, match="more than once"):
        Dense([Passage("x", "east"), Passage("x", "north")], compass)
