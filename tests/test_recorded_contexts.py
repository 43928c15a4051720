"""Contexts of passages: prompts that hold the whole document, a seeded sample, and stored orders of today's corpus."""

from __future__ import annotations

from ragkit import corpus
from ragkit.index import document_prefix
from ragkit.recorded import contexts


def test_a_prompt_shows_title_date_and_every_section_before_the_passage() -> None:
    prompts = dict(contexts.passage_contexts())
    assert list(prompts) == [p.id for document in corpus.load().documents for p in document.passages]
    texts = contexts.document_texts()
    for document in corpus.load().documents:
        assert texts[document.id].startswith(f"{document.title}\n{document.date}\n\n")
        assert all(passage.text in texts[document.id] for passage in document.passages)
        for passage in document.passages:
            prefix = document_prefix(texts[document.id])
            assert prompts[passage.id].startswith(prefix)
            assert passage.text in prompts[passage.id][len(prefix) :]


def test_the_sample_is_drawn_by_its_seed_from_all_prompts() -> None:
    everything, sample = dict(contexts.passage_contexts()), dict(contexts.contexts_sample())
    assert len(sample) == 40
    assert sample.items() <= everything.items()
    assert sample == dict(contexts.contexts_sample())
    assert sample != dict(contexts.contexts_sample(seed=9))


def test_stored_orders_are_of_the_questions_and_passages_of_today() -> None:
    known, asked = {passage.id for passage in corpus.load().index}, [question.id for question in contexts.asked()]
    for name in ("titles", "contexts"):
        kept = contexts.reranked(name)
        assert list(kept) == asked
        assert all(len(set(ids)) == contexts.KEPT and set(ids) <= known for ids in kept.values())
