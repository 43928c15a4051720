"""The prompts, the bill and the arrivals of the chapter on graphs in production, against counts made another way."""

import numpy as np
import pytest

from ragkit import corpus
from ragkit.graph import Update, merge
from ragkit.graph.extract import extract_all, extraction_prompt
from ragkit.graph.keyword_query import read_keywords
from ragkit.models import Recording
from ragkit.recorded import keyword_graph as course
from ragkit.text import count_tokens


def no_vectors(texts: list[str]) -> np.ndarray:
    return np.zeros((len(texts), 1), dtype=np.float32)


def test_each_prompt_shows_its_question_and_every_hand_answer_names_keywords() -> None:
    asked = {question.id: question for question in course.questions()}
    prompts = dict(course.query_keywords())
    assert list(prompts) == list(asked)
    hand = Recording("query_keywords")
    for item, prompt in prompts.items():
        assert prompt.rstrip().endswith(f"Question: {asked[item].text}")
        found = read_keywords(hand(prompt))
        assert found.low, item
        assert found.high, item


def test_the_first_row_of_the_bill_is_the_recorded_extraction() -> None:
    some = corpus.load().passages[:20]
    steps = {step.name: step for step in course.bill(some)}
    prompts = [extraction_prompt(passage.full_text) for passage in some]
    answers = [Recording("extraction")(prompt) for prompt in prompts]
    assert steps["extraction"][1:] == (20, sum(map(count_tokens, prompts)), sum(map(count_tokens, answers)))
    assert steps["one gleaning"].calls == 20
    assert steps["one gleaning"].read > steps["extraction"].read + steps["extraction"].written


def test_a_report_for_every_community_costs_more_calls_than_for_large_ones() -> None:
    some = corpus.load().passages[:60]
    few, many = (course.bill(some, *how)[-1] for how in ((), (10, 1, None)))
    assert 0 < few.calls < many.calls
    assert many.written == many.calls * course.report_tokens()


def test_the_price_is_linear_in_both_kinds_of_tokens() -> None:
    step = course.Step("x", 1, 3_000_000, 2_000_000)
    assert step.price(1, 4) == 11
    assert step.price(2, 8) == 22
    assert step.price(0, 0) == 0


def test_a_graph_without_passages_lacks_exactly_what_only_they_held() -> None:
    world = corpus.load()
    late = world.documents[-1].passages
    gone = {passage.id for passage in late}
    graph = course.graph(no_vectors, late)
    assert graph.sources.keys() == {p.id for p in world.passages} - gone
    graph.insert_all({name: course.extractions()[name] for name in gone})
    whole = course.graph(no_vectors)
    assert (graph.entities, graph.edges) == (whole.entities, whole.edges)


def test_the_keyword_graph_and_graphrags_have_the_same_names_and_pairs() -> None:
    merged = merge(extract_all(corpus.load().passages, Recording("extraction")))
    graph = course.graph(no_vectors)
    assert graph.entities.keys() == merged.nodes.keys()
    assert {pair: edge.weight for pair, edge in graph.edges.items()} == pytest.approx(merged.weights)


def test_communities_are_touched_by_the_names_and_by_both_ends_of_pairs() -> None:
    division = [("a", "b"), ("c", "d"), ("e",)]
    assert course.touched(division, [Update(added=("new", ("a", "new")))]) == 1
    assert course.touched(division, [Update(changed=("c",)), Update(added=(("b", "e"),))]) == 3
    assert course.touched(division, [Update()]) == 0
