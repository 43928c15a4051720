"""The stand-in: three ways to give answers, and a loud miss."""

from __future__ import annotations

import pytest

from ragkit.models import StandIn, StandInMiss


def test_a_mapping_answers_whole_prompts_only() -> None:
    llm = StandIn({"Why?": "Because."})
    assert llm("Why?") == "Because."
    with pytest.raises(StandInMiss):
        llm("Why? ")


def test_the_first_rule_whose_substring_occurs_answers() -> None:
    llm = StandIn([("kettle", "first"), ("red kettle", "second"), ("", "rest")])
    assert [llm("a red kettle"), llm("earbuds")] == ["first", "rest"]


def test_a_function_answers_and_none_from_it_is_a_miss() -> None:
    llm = StandIn(lambda prompt: prompt.upper())
    assert llm("loud") == "LOUD"
    with pytest.raises(StandInMiss):
        StandIn(lambda prompt: None)("x")  # type: ignore[arg-type, return-value]


def test_a_miss_shows_the_whole_prompt_and_what_is_known() -> None:
    prompt = "x" * 5000 + " the end"
    with pytest.raises(StandInMiss) as caught:
        StandIn({"Why?": "Because."})(prompt)
    assert prompt in str(caught.value)
    assert "'Why?'" in str(caught.value)
    assert caught.value.prompt == prompt


def test_prompts_are_kept_in_order() -> None:
    llm = StandIn([("", "yes")])
    llm("one")
    llm.chat([{"role": "user", "content": "two"}])
    llm.chat([{"role": "system", "content": "three"}])
    assert llm.prompts == ["one", "two", '[{"role": "system", "content": "three"}]']


@pytest.mark.parametrize("bad", [None, "text", 3, {"a": 1}, [("a",)], ["ab"], [("a", None)]])
def test_answers_of_another_shape_are_refused(bad: object) -> None:
    with pytest.raises(ValueError, match="answers must"):
        StandIn(bad)  # type: ignore[arg-type]


def test_a_function_that_gives_no_str_is_refused() -> None:
    with pytest.raises(ValueError, match="must give a str, got int"):
        StandIn(lambda prompt: 3)("x")  # type: ignore[arg-type, return-value]
