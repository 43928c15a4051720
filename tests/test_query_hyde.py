"""HyDE: the mean counts the query, empty samples do not, and the limits are plain dense search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragkit.base import Passage
from ragkit.query import hyde_search, hyde_vector, hypothetical_document_prompt, hypothetical_documents
from ragkit.search import Dense

VECTORS = {"question": [1.0, 0.0], "made up": [0.0, 1.0], "answer": [0.1, 1.0], "another question": [1.0, 0.1]}
finite = st.floats(-1e6, 1e6)


def embed(texts):
    return np.array([VECTORS[text] for text in texts], dtype=np.float32)


def dense():
    return Dense([Passage("q", "another question"), Passage("a", "answer")], embed)


@settings(max_examples=50, deadline=None)
@given(data=st.data(), n=st.integers(0, 4), d=st.integers(1, 5))
def test_the_mean_includes_the_query_so_it_divides_by_n_plus_1(data, n, d):
    query, documents = data.draw(arrays(float, d, elements=finite)), data.draw(arrays(float, (n, d), elements=finite))
    before = query.copy(), documents.copy()
    mean = hyde_vector(query, documents)
    np.testing.assert_allclose(mean, np.mean(np.vstack([query[None], documents]), axis=0), atol=1e-9 * 1e6)
    assert mean.dtype == np.float64
    assert not np.shares_memory(mean, query)
    np.testing.assert_array_equal(query, before[0])
    np.testing.assert_array_equal(documents, before[1])


def test_hyde_vector_takes_lists_of_ints_and_is_not_normalised():
    assert hyde_vector([2, 0], [[0, 4]]).tolist() == [1.0, 2.0]
    assert hyde_vector([2, 0], np.zeros((0, 2))).tolist() == [2.0, 0.0]


def test_hyde_vector_sums_small_floats_in_double_precision():
    vectors = np.full((1000, 1), 0.1, dtype=np.float32)
    assert hyde_vector(vectors[0], vectors)[0] == pytest.approx(float(np.float32(0.1)), abs=1e-12)


@pytest.mark.parametrize(
    ("query", "documents", "name"), [([[1]], [[1]], "q_vec"), ([1], [1], "hyp_vecs"), ([1], [[1, 2]], "hyp_vecs")]
)
def test_wrong_shapes_are_named(query, documents, name):
    with pytest.raises(ValueError, match=name):
        hyde_vector(query, documents)


def test_samples_come_from_one_prompt_and_empty_ones_are_left_out():
    replies, prompts = iter(["made up ", "", "made up"]), []
    documents = hypothetical_documents("question", lambda prompt: prompts.append(prompt) or next(replies), n=3)
    assert documents == ["made up", "made up"]
    assert prompts == [hypothetical_document_prompt("question")] * 3
    assert hypothetical_documents(" ", lambda prompt: pytest.fail("called"), n=3) == []


def test_a_hypothetical_answer_finds_what_the_question_alone_does_not():
    assert dense()("question", 1)[0].id == "q"
    assert [hit.id for hit in hyde_search("question", 2, dense=dense(), llm=lambda prompt: "made up", n=2)] == [
        "a",
        "q",
    ]


def test_no_samples_is_plain_dense_search():
    for llm, n in ((lambda prompt: pytest.fail("called"), 0), (lambda prompt: "", 3)):
        assert hyde_search("question", 2, dense=dense(), llm=llm, n=n) == dense()("question", 2)


def test_blank_questions_and_empty_corpora_find_nothing():
    assert hyde_search(" ", 2, dense=dense(), llm=lambda prompt: "made up") == []
    assert hyde_search("question", 2, dense=Dense([], embed), llm=lambda prompt: "made up") == []
