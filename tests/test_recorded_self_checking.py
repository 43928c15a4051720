"""The evaluator, the pairs and the stored runs of the chapter on retrieval that checks itself."""

import pytest

from ragkit import corpus
from ragkit.loops import cut_strips, decide
from ragkit.recorded import self_checking as course

POWER = next(q for q in corpus.load().questions if q.id == "no_answer-14")


def test_the_stored_search_holds_every_asked_question_and_known_passages() -> None:
    found = course.stored("candidates")["questions"]
    assert list(found) == [question.id for question in course.asked()]
    assert all(len(ids) == len(set(ids)) == course.DEPTH for ids in found.values())
    assert {name for ids in found.values() for name in ids} <= {passage.id for passage in corpus.load().index}


def test_items_are_the_texts_of_sampled_questions_each_once() -> None:
    pairs = list(course.prompts())
    assert len({item for item, _ in pairs}) == len({prompt for _, prompt in pairs}) == len(pairs)
    assert {item.rsplit("/", 1)[0] for item, _ in pairs} == {question.id for question in course.sample()}


def test_a_strip_is_shown_under_the_title_of_its_document() -> None:
    passage = corpus.load().passage("energy-report-2024/by-store")
    for text in (passage.text, *cut_strips(passage.text)):
        assert course.titled(text) == f"{passage.title}\n{text}"
    assert course.titled("a text of nobody") == "a text of nobody"


def test_features_of_a_question_that_a_text_repeats_and_of_one_that_it_does_not() -> None:
    share, weight, ticket = course.features("kettle warranty", "The warranty of a kettle")
    assert share == pytest.approx(1.0)
    assert weight > 0
    assert ticket == 0
    assert course.features("kettle warranty", "Support ticket 1\nrain") == [0.0, 0.0, 1.0]
    assert course.features("is it", "it is") == [0.0, 0.0, 0.0]


def test_a_short_question_shares_little_weight_even_where_it_shares_all() -> None:
    long_one, short = "kettle warranty receipt lid", "kettle"
    text = "receipt, lid, warranty and kettle"
    assert course.features(long_one, text)[0] == pytest.approx(course.features(short, text)[0]) == 1.0
    assert course.features(long_one, text)[1] > course.features(short, text)[1]


def test_the_evaluator_is_fitted_on_dev_and_scores_lie_in_range() -> None:
    share, weight, ticket, _ = course.weights()
    assert share + weight > 0 > ticket
    rule = course.trained()
    scores = [rule(POWER.text, text) for text in course.texts(POWER)]
    assert all(-1 <= score <= 1 for score in scores)
    assert len(set(scores)) > 3


def test_the_action_follows_from_the_thresholds_of_the_module() -> None:
    result = course.corrected(POWER)
    assert result.action == decide([score for _, score in result.scored], course.UPPER, course.LOWER)
    assert set(corpus.load().outside_answers[POWER.id].passages) & set(result.passages)


def test_the_readers_prompt_shows_five_passages_or_the_knowledge() -> None:
    five = course.reader_prompt(POWER, "five")
    assert all(hit.text in five for hit in course.inside(POWER.text, 5))
    assert all(strip.text in course.reader_prompt(POWER, "corrected") for strip in course.corrected(POWER).external)
    with pytest.raises(ValueError, match="way must be"):
        course.reader_prompt(POWER, "none")


def test_a_stored_look_ahead_has_probabilities_and_five_hits() -> None:
    for row in course.stored("flare")["questions"].values():
        assert all(0 <= token.probability <= 1 for token in course.looked_ahead(row))
        assert len(row["masked_hits"]) == len(row["sentence_hits"]) == course.K
