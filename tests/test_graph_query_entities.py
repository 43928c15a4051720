"""The entities of a question."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.graph.extract import extraction_prompt
from ragkit.graph.query_entities import capitalised_spans, known_names, model_entities


@pytest.mark.parametrize(
    ("question", "entities"),
    [
        ("Who founded Larkfield Goods?", ["Larkfield Goods"]),
        ("Where did the founder of Larkfield Goods grow up?", ["Larkfield Goods"]),
        ("Is the University of Tarnmouth in Maren Oakes's county?", ["University of Tarnmouth", "Maren Oakes"]),
        ("Are the EARBUDS-AIR2 in Riverside?", ["EARBUDS-AIR2", "Riverside"]),
        ("Riverside sells what?", ["Riverside"]),
        ("Which store sold ORD-482913 in 2024?", ["ORD-482913", "2024"]),
        ("what does the red kettle cost?", []),
        ("誰が創業者ですか", []),
        ("", []),
        ("?!", []),
    ],
)
def test_capitalised_spans(question: str, entities: list[str]) -> None:
    assert capitalised_spans(question) == entities


@given(st.text(max_size=60))
@settings(max_examples=50, deadline=None)
def test_spans_are_made_of_the_questions_words(question: str) -> None:
    for span in capitalised_spans(question):
        assert span.strip()
        assert all(word in question for word in span.split(" "))


def test_known_names_match_whole_words_longest_first_in_any_case() -> None:
    find = known_names(["Aster", "Aster kettle", "EARBUDS-AIR2", "東京", "!!"])
    assert find("Is the ASTER KETTLE, the Aster, or earbuds-air2 sold?") == ["Aster kettle", "Aster", "EARBUDS-AIR2"]
    assert find("Asters and disasters") == []
    assert find("aster aster") == ["Aster"]
    assert find("") == []
    assert known_names([])("anything") == []


def test_a_model_is_asked_with_the_extraction_prompt() -> None:
    prompts: list[str] = []

    def llm(prompt: str) -> str:
        prompts.append(prompt)
        return (
            "(entity<|>Oakes<|>person<|>x)##(entity<|>Oakes<|>person<|>y)##(entity<|>Riverside<|>place<|>)<|COMPLETE|>"
        )

    find = model_entities(llm)
    assert find("Who is Oakes?") == ["Oakes", "Riverside"]
    assert prompts == [extraction_prompt("Who is Oakes?")]
    assert find(" ") == []
    assert model_entities(lambda prompt: "none")("q") == []
