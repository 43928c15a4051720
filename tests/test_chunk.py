"""ragkit.chunk by its promises: nothing lost, overlap exact, budget kept."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Passage
from ragkit.chunk import fixed_chunks, parent_child, sentence_chunks
from ragkit.text import count_tokens, sentences, token_spans, word_spans

plain = settings(max_examples=50, deadline=None)
sources = st.text(alphabet="abcdeXY. !?\n13水-é", max_size=150)
TEXT = "The kettle holds 1.7 litres. Fill it to the line.  Ask Dr. Hale!\n\nPi is 3.14, roughly. No. 5 is next."


@plain
@given(sources, st.integers(1, 12), st.sampled_from(["words", "tokens"]))
def test_fixed_chunks_without_overlap_join_to_the_source(source, size, unit):
    spans = word_spans(source) if unit == "words" else token_spans(source)
    assert "".join(fixed_chunks(source, size, unit=unit)) == (source if spans else "")


@plain
@given(st.lists(st.text("abc", min_size=1, max_size=4), max_size=40), st.data())
def test_fixed_chunks_overlap_exactly(words, data):
    size = data.draw(st.integers(1, 10))
    overlap = data.draw(st.integers(0, size - 1))
    chunks = [chunk.split() for chunk in fixed_chunks(" ".join(words), size, overlap)]
    assert all(len(chunk) == size for chunk in chunks[:-1])
    assert all(len(chunk) <= size for chunk in chunks)
    for left, right in pairwise(chunks):
        assert left[len(left) - overlap :] == right[:overlap]
        assert len(right) > overlap, "the last window must bring something new"
    rebuilt = chunks[0] + [word for chunk in chunks[1:] for word in chunk[overlap:]] if chunks else []
    assert rebuilt == words


def test_fixed_chunks_by_tokens_share_word_pieces():
    chunks = fixed_chunks(TEXT, 10, 4, unit="tokens")
    pieces = token_spans(TEXT)
    assert chunks[0].startswith("The kettle")
    starts = [pieces[i][0] for i in range(0, len(pieces) - 4, 6)]
    assert [TEXT.index(chunk, start) for chunk, start in zip(chunks, [0, *starts[1:]], strict=True)] == [0, *starts[1:]]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [({"size": 0}, "size"), ({"size": 3, "overlap": 3}, "overlap"), ({"size": 3, "overlap": -1}, "overlap")],
)
def test_fixed_chunks_name_the_bad_argument(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        fixed_chunks(TEXT, **arguments)


def test_fixed_chunks_refuse_an_unknown_unit():
    with pytest.raises(ValueError, match="unit"):
        fixed_chunks(TEXT, 3, unit="pages")


@plain
@given(sources, st.integers(1, 20))
def test_sentence_chunks_lose_nothing_and_keep_the_budget(source, budget):
    chunks = sentence_chunks(source, budget)
    assert "".join(chunks) == (source if source.strip() else "")
    for chunk in chunks:
        assert count_tokens(chunk) <= budget or len(chunk.split()) == 1


def test_splitting_at_every_full_stop_would_cut_decimals_and_this_does_not():
    chunks = sentence_chunks(TEXT, budget=12)
    assert "".join(chunks) == TEXT  # RAPTOR's splitter deletes the marks it cuts at
    assert any("1.7 litres" in chunk for chunk in chunks)
    assert any("Dr. Hale!" in chunk for chunk in chunks)
    assert any("3.14" in chunk for chunk in chunks)


def test_sentence_chunks_pack_greedily():
    source = "One two. Three four. Five six. Seven eight."
    assert sentence_chunks(source, budget=6) == ["One two. Three four. ", "Five six. Seven eight."]
    assert sentence_chunks(source, budget=1000) == [source]


def test_a_sentence_over_the_budget_is_cut_between_words():
    chunks = sentence_chunks("alpha beta gamma delta epsilon zeta.", budget=3, count=lambda text: len(text.split()))
    assert [chunk.split() for chunk in chunks] == [["alpha", "beta", "gamma"], ["delta", "epsilon", "zeta."]]


def test_sentence_overlap_repeats_whole_sentences_and_never_stalls():
    source = "One two. Three four. Five six. Seven eight."
    chunks = sentence_chunks(source, budget=6, overlap=1)
    assert chunks == ["One two. Three four. ", "Three four. Five six. ", "Five six. Seven eight."]
    assert sentence_chunks(source, budget=3, overlap=5) == ["One two. ", "Three four. ", "Five six. ", "Seven eight."]


@plain
@given(sources, st.integers(1, 15), st.integers(0, 3))
def test_sentence_chunks_with_overlap_cover_every_sentence(source, budget, overlap):
    chunks = sentence_chunks(source, budget, overlap)
    at = 0
    for chunk in chunks:  # each chunk is a slice that starts no later than where the last one ended
        start = source.index(chunk, max(0, at - len(chunk)))
        assert start <= at
        at = max(at, start + len(chunk))
    assert at == (len(source) if source.strip() else 0)


def test_parent_child_points_back_and_keeps_provenance():
    parent = Passage("kettle/use", TEXT, "Aster kettle", {"doc": "kettle", "date": "2024-03-01"})
    children = parent_child(parent, budget=12)
    assert len(children) > 1
    assert [child.id for child in children] == [f"kettle/use#{i}" for i in range(len(children))]
    assert "".join(child.text for child in children) == parent.text
    for child in children:
        assert child.title == "Aster kettle"
        assert child.meta == {"doc": "kettle", "date": "2024-03-01", "parent": "kettle/use"}
    assert "parent" not in parent.meta


def test_parent_child_takes_another_splitter_and_blank_text():
    assert [child.text for child in parent_child(Passage("p", TEXT), split=sentences)] == sentences(TEXT)
    assert parent_child(Passage("p", " \n")) == []


@pytest.mark.parametrize("arguments", [{"budget": 0}, {"overlap": -1}])
def test_sentence_chunks_name_the_bad_argument(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        sentence_chunks(TEXT, **arguments)
