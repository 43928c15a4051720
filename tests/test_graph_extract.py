"""Extraction: the prompt, the gleaning loop, and a parser that survives what models write."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Passage
from ragkit.graph.extract import (
    Claim,
    Entity,
    Extraction,
    Relation,
    completion,
    continue_prompt,
    extract,
    extract_all,
    extraction_prompt,
    loop_prompt,
    parse,
)

DATA = Path(os.environ.get("RAGKIT_DATA") or Path(__file__).resolve().parents[1] / "../shared/data")
MOCK = DATA / "nano_graphrag" / "mock_cache.json"

GOOD = (
    "(entity<|>Maren Oakes<|>person<|>Founder of Larkfield Goods)##\n"
    "(relation<|>Maren Oakes<|>Larkfield Goods<|>founded it<|>9)##\n"
    "(claim<|>Maren Oakes<|>Larkfield Goods<|>founding<|>TRUE<|>1998-01-01<|><|>She founded it in 1998)<|COMPLETE|>"
)
ENTITY = Entity("Maren Oakes", "person", "Founder of Larkfield Goods")
RELATION = Relation("Maren Oakes", "Larkfield Goods", "founded it", 9.0)


class Script:
    """A model that gives its answers in turn and keeps the prompts."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return self.answers.pop(0)


def test_a_clean_completion_is_read_without_faults() -> None:
    found = parse(GOOD)
    assert found.entities == (ENTITY,)
    assert found.relations == (RELATION,)
    assert found.claims == (
        Claim("Maren Oakes", "Larkfield Goods", "founding", "TRUE", "1998-01-01", "", "She founded it in 1998"),
    )
    assert found.faults == ()


def test_the_prompt_is_filled_and_safe_for_braces_and_dollars() -> None:
    prompt = extraction_prompt('The {kettle} costs $5: {"a": 1}')
    assert 'The {kettle} costs $5: {"a": 1}' in prompt
    assert "$" not in prompt.replace("$5", "")
    assert "delimiter" not in prompt  # an old bug left the name of the placeholder in the prompt
    assert "claim" not in prompt
    assert "(claim<|>" in extraction_prompt("x", claims=True)


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("##\n", "\n"),  # glued: no separator at all
        GOOD.replace("##\n", ""),  # glued without a line break
        "## \n" + GOOD.replace("##", "##\n##"),  # leading and doubled separators
        f"```\n{GOOD}\n```",
        "**Entities:**\n\n1. " + GOOD.replace("##\n", "##\n\n**Relationships:**\n\n2. "),
        GOOD.replace("(entity", "entity").replace("Goods)##", "Goods##").replace("(relation", "relation"),
        GOOD.replace("(entity", '("entity"').replace("(relation", '("relationship"'),
        GOOD.replace("entity", "“entity”").replace("Maren Oakes<|>person", "“Maren Oakes”<|>person"),
        GOOD.replace("<|>9", "|>9"),  # half a separator
        GOOD.replace("COMPLETE", "complete"),
        GOOD.replace("Maren Oakes", "&quot;Maren Oakes&quot;"),
        GOOD.replace("<|>9)", '<|>"9/10")'),
        GOOD.replace(")<|COMPLETE|>", ")<|COMPLETE|>\n##\n(entity<|>"),
    ],
)
def test_every_malformation_gives_the_same_records(text: str) -> None:
    found = parse(text)
    assert found.entities == (ENTITY,)
    assert found.relations == (RELATION,)


def test_glued_records_are_kept_and_reported() -> None:
    assert [fault.kind for fault in parse(GOOD.replace("##\n", "")).faults] == ["glued", "glued"]


def test_a_record_cut_short_is_kept_as_far_as_it_goes() -> None:
    found = parse("(entity<|>A<|>person<|>He (the clerk) went out and")
    assert found.entities == (Entity("A", "person", "He (the clerk) went out and"),)
    assert [fault.kind for fault in found.faults] == ["truncated", "incomplete"]
    found = parse("(entity<|>A<|>person<|>x)##(entity<|>B<|>per")
    assert [entity.name for entity in found.entities] == ["A"]
    assert [fault.kind for fault in found.faults] == ["fields", "truncated", "incomplete"]


def test_a_missing_or_unreadable_strength_is_one_and_a_fault() -> None:
    found = parse("(relation<|>A<|>B<|>linked)##(relation<|>A<|>B<|>linked<|>strong)<|COMPLETE|>")
    assert [relation.strength for relation in found.relations] == [1.0, 1.0]
    assert [fault.kind for fault in found.faults] == ["strength", "strength"]


def test_a_type_that_is_called_entity_starts_no_record() -> None:
    assert parse('(entity<|>A<|>"entity"<|>x)<|COMPLETE|>').entities == (Entity("A", "entity", "x"),)


def test_parentheses_and_quotes_inside_a_description_stay() -> None:
    assert parse('(entity<|>A<|>place<|>A "grey" house (old))<|COMPLETE|>').entities[0].description == (
        'A "grey" house (old)'
    )


def test_empty_names_and_refusals_are_faults_not_records() -> None:
    assert parse("(entity<|>  <|>person<|>x)<|COMPLETE|>").faults[0].kind == "fields"
    assert parse("I am sorry, I cannot do that.").faults[0].kind == "stray"
    assert parse("") == Extraction()


def test_json_replies_are_read_and_two_objects_are_not_spanned() -> None:
    one = json.dumps({"entities": [{"name": "A", "type": "person", "description": "x"}], "relations": []})
    two = json.dumps({"relationships": [{"source": "A", "target": "B", "description": "y", "strength": "7"}]})
    found = parse(f"```json\n{one}\n```\nand {two}")
    assert found.entities == (Entity("A", "person", "x"),)
    assert found.relations == (Relation("A", "B", "y", 7.0),)
    assert found.faults == ()


def test_json_that_was_cut_off_gives_what_arrived() -> None:
    assert parse('{"entities": [{"name": "A", "type": "t", "description": "x"}, {"name": "B"').entities == (
        Entity("A", "t", "x"),
    )
    assert parse('{"entities": ["A"]}').faults[0].kind == "fields"
    assert parse('{"answer": 42}').faults[0].kind == "fields"


def test_gleaning_is_off_by_default_and_one_costs_two_calls_without_the_loop_question() -> None:
    llm = Script(GOOD)
    assert completion("text", llm) == GOOD
    llm = Script(GOOD, "(entity<|>B<|>place<|>x)<|COMPLETE|>")
    found = extract("text", llm, max_gleanings=1)
    prompt = extraction_prompt("text")
    assert llm.prompts == [prompt, continue_prompt(prompt, GOOD)]
    assert [entity.name for entity in found.entities] == ["Maren Oakes", "B"]
    assert found.faults == ()


def test_gleaned_pieces_are_joined_by_a_separator_so_none_is_glued() -> None:
    llm = Script("(entity<|>A<|>t<|>no mark and no separator)", "(entity<|>B<|>t<|>x)")
    found = parse(completion("text", llm, max_gleanings=1))
    assert [entity.name for entity in found.entities] == ["A", "B"]
    assert "glued" not in [fault.kind for fault in found.faults]


@pytest.mark.parametrize(("reply", "calls"), [("Y", 4), (" Y\n", 4), ("YES", 3), ("N", 3), ("y", 3), ("Y.", 3)])
def test_only_the_exact_answer_y_asks_again_and_the_last_gleaning_is_not_asked_about(reply: str, calls: int) -> None:
    llm = Script(GOOD, GOOD, reply, GOOD)
    completion("text", llm, max_gleanings=2)
    assert len(llm.prompts) == calls
    so_far = f"{GOOD}\n##\n{GOOD}"
    assert llm.prompts[2] == loop_prompt(extraction_prompt("text"), so_far)


def test_blank_passages_cost_no_call_and_negative_gleanings_are_refused() -> None:
    assert extract(" \n", Script()) == Extraction()
    assert extract_all([], Script()) == {}
    with pytest.raises(ValueError, match="max_gleanings"):
        completion("x", Script(), max_gleanings=-1)


def test_extract_all_reads_title_and_text() -> None:
    llm = Script(GOOD)
    assert list(extract_all([Passage("p", "body", title="Head")], llm)) == ["p"]
    assert llm.prompts == [extraction_prompt("Head\nbody")]


@given(st.text(alphabet='ab(<|>)#"\n{}:,0 ٣東', max_size=120))
@settings(max_examples=50, deadline=None)
def test_nothing_that_a_model_writes_makes_the_parser_raise(text: str) -> None:
    parse(text)
    parse("(entity<|>" + text)
    parse(text + "relation<|>" + text)


@pytest.mark.parametrize("filler", ["\n", " ", "#", "1. ", "(", "a:", "\n- ", "additional "])
def test_long_junk_is_read_in_linear_time(filler: str) -> None:
    started = time.process_time()
    found = parse("(entity<|>A<|>t<|>" + filler * 20000 + "!")
    assert time.process_time() - started < 8  # a tenth of a second; minutes where a pattern steps back
    assert [entity.name for entity in found.entities] == ["A"]


@pytest.mark.skipif(not MOCK.is_file(), reason="the stored completions are not there")
def test_the_parser_survives_84_stored_completions_of_a_large_model() -> None:
    replies = [value["return"] for value in json.loads(MOCK.read_text()).values()]
    completions = [text for text in replies if "<|>" in text]
    assert len(completions) == 84
    assert sum("<|COMPLETE|>" in text for text in completions) == 73
    assert sum(text.lstrip().startswith("##") for text in completions) == 17
    assert sum("```" in text for text in completions) == 2
    found = [parse(text) for text in completions]
    # The independent count: every place where a tag stands between an opening parenthesis and a separator.
    tag = r"\(\s*[\"“]{}[\"”]<\|>"
    assert sum(len(x.entities) for x in found) == sum(len(re.findall(tag.format("entity"), t)) for t in completions)
    assert sum(len(x.relations) for x in found) == sum(
        len(re.findall(tag.format("relation(?:ship)?"), t)) for t in completions
    )
    pieces = [piece.strip() for text in completions for piece in re.split(r"##|<\|COMPLETE\|>", text)]
    pieces = [piece for piece in pieces if piece]
    bare = [piece for piece in pieces if not re.search(r"\(.*\)", piece, re.DOTALL)]
    assert (len(pieces), len(bare)) == (1159, 8)
    assert {piece.strip("*`") for piece in bare} == {"Entities:", "Relationships:", "<|complete|>", ""}
    # Some pieces hold several records that no separator parts: 26 in 3 of them, glued at 23 places.
    several = [n for piece in pieces if (n := len(re.findall(tag.format("(?:entity|relationship)"), piece))) > 1]
    assert sorted(several) == [2, 9, 15]
    assert sum(fault.kind == "glued" for x in found for fault in x.faults) == sum(several) - len(several)
    kinds = {fault.kind for x in found for fault in x.faults}
    assert kinds == {"glued", "incomplete"}
    assert sum(fault.kind == "incomplete" for x in found for fault in x.faults) == 10  # one wrote it in lower case
    assert all(1 <= relation.strength <= 10 for x in found for relation in x.relations)
    assert not any(set('"<|>#') & set(entity.name) for x in found for entity in x.entities)
