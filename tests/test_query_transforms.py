"""Query transforms: what is asked of the model, how its reply is read, and which searches follow."""

import importlib
import re
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit import query as q
from ragkit.base import Hit, Passage
from ragkit.models import read_records
from ragkit.query.replies import without_label
from ragkit.search import BM25

NASTY = 'What is {x} for $5, "$question" and ${n}?'


def never(prompt):
    pytest.fail("the model was called")


def answers(reply, seen=None):
    def llm(prompt):
        if seen is not None:
            seen.append(prompt)
        return reply

    return llm


def recording(results, asked):
    """A retriever that notes what it was asked and answers from a table of ids."""

    def search(text, k):
        asked.append(text)
        return [Hit(i, f"text of {i}", 1 / (n + 1)) for n, i in enumerate(results.get(text, []))][:k]

    return search


# --- reading replies


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        ("Is it red?", "Is it red?"),
        ("  Question: Is it red?\nBecause you asked.", "Is it red?"),
        ("Sure! Here is the standalone question:\n\n**Is it red?**", "Is it red?"),
        ("```\nIs it red?\n```", "Is it red?"),
        ("“Is it red?”", "Is it red?"),
        ("1. Is it red?\n2. Is it blue?", "Is it red?"),
        ("1.7 litres or 3.14?", "1.7 litres or 3.14?"),
        ("24-hour returns?", "24-hour returns?"),
        ("Who said 'no'?", "Who said 'no'?"),
        ("", "fallback"),
        ("\n```\n```\n", "fallback"),
    ],
)
def test_one_line_reads_the_first_line_that_says_something(reply, line):
    assert q.one_line(reply, "fallback") == line


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("Question: Is it red?", "Is it red?"),
        ("Particular: Is it red?\nGeneral:", "Is it red?"),
        ("**Step-back question:** Is it red?", "Is it red?"),
        ("Rewritten query: red kettle", "red kettle"),
        ("The user’s query is: red kettle", "red kettle"),
        ("The answer to this question is: Question: Is it red?", "Is it red?"),
        ("Better query:\nred kettle", "red kettle"),
        ("ACME: revenue 2019?", "ACME: revenue 2019?"),
        ("12:30", "12:30"),
        ("Open at 12:30: which store?", "Open at 12:30: which store?"),
        ("Lid: description and cleaning", "Lid: description and cleaning"),
        ("The error message is: E40", "The error message is: E40"),
        ("price match policy: will it match?", "price match policy: will it match?"),
        ("ORD-482913: original answer?", "ORD-482913: original answer?"),
        ("the: what does it mean", "the: what does it mean"),
        ("What is the question: red or blue?", "What is the question: red or blue?"),
    ],
)
def test_a_label_goes_and_content_before_a_colon_stays(line, kept):
    assert q.one_line(line, "fallback") == kept


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(exclude_characters=":\n\r"), max_size=30), st.text(max_size=30))
def test_no_digit_and_no_code_is_ever_taken_for_a_label(word, rest):
    for head in (f"7{word}", f"{word} ORD-482913", f"question {word} E40"):
        assert without_label(f"{head}:{rest}") == f"{head}:{rest}"


@pytest.mark.parametrize("module", ["conversational", "decompose", "multi_query", "rewrite", "step_back"])
def test_every_label_of_a_prompt_is_known_as_one(module):
    """A small model goes on with the frame of its prompt, so its labels come back in the reply."""
    prompt = importlib.import_module(f"ragkit.query.{module}").PROMPT
    labels = re.findall(r"^([A-Z][\w']*(?: [\w']+){0,2}):(?= |$)", prompt, re.M)
    assert labels
    for label in labels:
        assert without_label(f"{label}: red kettle") == "red kettle", label


def test_no_answer_written_by_hand_loses_a_word_to_a_label():
    for task in ("standalone", "rewrite", "step_back"):
        for record in read_records(task):
            if record.answerer == "hand":
                assert q.one_line(record.response, "") == record.response, record.item


@pytest.mark.parametrize(
    "reply",
    [
        "1. red one\n2. blue one",
        "1) red one\n2) blue one",
        "(1) red one\n(2) blue one",
        "- red one\n* blue one",
        "• red one\n– blue one",
        "red one\nblue one",
        "Here are two wordings:\n\n1. red one\n\n2. blue one\n\nHope this helps!",
        'Q1: "red one"\nQ2: "blue one"',
        "1. **red one**\n2. **blue one**\n3. Red  ONE",
        "```text\nred one\nblue one\n```",
        "1. red one\r\n2. blue one\r\n",
    ],
)
def test_lists_are_read_whatever_marks_them_and_preambles_are_not_items(reply):
    assert q.list_items(reply) == ["red one", "blue one"]


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200))
def test_any_reply_is_read_without_error_into_clean_distinct_lines(reply):
    items = q.list_items(reply)
    assert all(item == item.strip() and "\n" not in item and item for item in items)
    assert len({" ".join(item.casefold().split()) for item in items}) == len(items)
    assert "\n" not in q.one_line(reply, "x")


# --- prompts


@pytest.mark.parametrize(
    "prompt",
    [
        q.rewrite_query_prompt,
        q.paraphrases_prompt,
        q.step_back_prompt,
        q.sub_questions_prompt,
        q.hypothetical_document_prompt,
        q.pseudo_document_prompt,
        partial(q.standalone_question_prompt, [{"role": "user", "content": "{hi} $history"}]),
        partial(q.few_shot_prompt, examples=[("{a}", "$b")], instruction="Mend {this}."),
        partial(q.read_prompt, hits=[Hit("a", 'JSON {"answer": "$x"}', 1.0)]),
    ],
)
def test_braces_and_dollars_in_a_users_text_reach_the_prompt_as_they_are(prompt):
    assert NASTY in prompt(NASTY)
    assert prompt(f"  {NASTY}\n") == prompt(NASTY)


# --- conversational


HISTORY = [
    {"role": "user", "content": "Is the red Aster kettle under warranty?"},
    {"role": "assistant", "content": "Yes,\nfor two years."},
]


def test_a_follow_up_is_rewritten_from_the_history_in_order():
    seen = []
    llm = answers("Question: Is the blue Aster kettle under warranty?", seen)
    assert q.standalone_question(HISTORY, "And the blue one?", llm) == "Is the blue Aster kettle under warranty?"
    first, second = seen[0].index("user: Is the red"), seen[0].index("assistant: Yes, for two years.")
    assert first < second < seen[0].index("Newest message: And the blue one?")


def test_a_long_history_loses_its_oldest_turns_never_the_newest():
    turns = [{"role": "user", "content": f"turn {i}."} for i in range(20)]
    prompt = q.standalone_question_prompt(turns, "why?", turns=3)
    assert "turn 17." in prompt
    assert "turn 19." in prompt
    assert "turn 16." not in prompt


def test_without_history_no_call_is_made_and_an_empty_reply_keeps_the_question():
    assert q.standalone_question([], "Is it red?", never) == "Is it red?"
    assert q.standalone_question(HISTORY, "  ", never) == "  "
    assert q.standalone_question(HISTORY, "And blue?", answers(" \n")) == "And blue?"


def test_conversational_search_searches_with_the_rewrite():
    asked = []
    search = recording({"Is the blue kettle under warranty?": ["w"]}, asked)
    llm = answers("Is the blue kettle under warranty?")
    hits = q.conversational_search("and blue?", 3, history=HISTORY, retriever=search, llm=llm)
    assert [hit.id for hit in hits] == ["w"]
    assert asked == ["Is the blue kettle under warranty?"]


# --- rewrite


def test_rewrite_retrieve_read_searches_with_the_rewrite_and_reads_the_original_question():
    asked, seen = [], []
    search = recording({"silicone ear tips": ["tips", "box"]}, asked)
    rewrite = partial(q.rewrite_query, llm=answers("silicone ear tips"))
    reading = q.rewrite_retrieve_read(
        "rubber thingies?", 2, rewrite=rewrite, retriever=search, reader=answers(" three sizes \n", seen)
    )
    assert (reading.query, reading.answer) == ("silicone ear tips", "three sizes")
    assert asked == ["silicone ear tips"]
    assert "Question: rubber thingies?" in seen[0]
    assert seen[0].index("[1] text of tips") < seen[0].index("[2] text of box")


def test_rewrite_search_gives_the_hits_of_the_rewrite_in_their_order():
    asked = []
    table = {"silicone ear tips": ["tips", "box"], "rubber thingies?": ["lamp"]}
    search = partial(q.rewrite_search, retriever=recording(table, asked), llm=answers("Query: silicone ear tips"))
    assert [hit.id for hit in search("rubber thingies?", 2)] == ["tips", "box"]
    assert asked == ["silicone ear tips"]


def test_a_blank_question_is_not_read_and_a_bad_k_is_named_before_any_call():
    blank = q.rewrite_retrieve_read(" ", 2, rewrite=never, retriever=recording({}, []), reader=never)
    assert blank == (" ", [], "")
    with pytest.raises(ValueError, match="k must"):
        q.rewrite_retrieve_read("kettle?", -1, rewrite=never, retriever=recording({}, []), reader=never)


def test_rewrite_of_a_blank_question_makes_no_call_and_an_empty_reply_keeps_it():
    assert q.rewrite_query(" ", never) == " "
    assert q.rewrite_query("kettle?", answers("")) == "kettle?"
    assert "(no passages)" in q.read_prompt("kettle?", [])


# --- multi-query


def test_paraphrases_keep_the_original_first_and_drop_its_echo():
    llm = answers("Sure, three wordings:\n1. Is it red?\n2. is IT  red?\n3. What colour is it?\n4. A\n5. B")
    assert q.paraphrases("Is it red?", llm, n=2) == ["Is it red?", "What colour is it?", "A"]


def test_paraphrases_survive_a_useless_reply():
    assert q.paraphrases("Is it red?", answers("")) == ["Is it red?"]
    assert q.paraphrases("  ", never) == []
    assert q.paraphrases("Is it red?", never, n=0) == ["Is it red?"]


def test_multi_query_raises_the_passage_on_which_wordings_agree():
    table = {"q": ["a", "x"], "r": ["b", "x"], "s": ["c", "x"]}
    hits = q.multi_query_search("q", 2, retriever=recording(table, []), llm=answers("1. r\n2. s"))
    assert [hit.id for hit in hits] == ["x", "a"]
    assert hits[0].score == pytest.approx(3 / 62)


def test_a_transform_with_its_parts_bound_is_a_retriever():
    search = partial(q.multi_query_search, retriever=recording({"q": ["a"]}, []), llm=answers(""))
    assert [hit.id for hit in search("q", 5)] == ["a"]
    assert search("", 5) == []
    assert search("q", 0) == []
    with pytest.raises(ValueError, match="k must"):
        search("q", -1)


# --- step-back and decomposition


def test_step_back_takes_the_specific_question_first_and_the_general_in_turn():
    asked = []
    table = {"Can I return my lamp?": ["s1", "s2"], "What is the return policy?": ["g1", "s1", "g2"]}
    llm = answers("General: What is the return policy?")
    hits = q.step_back_search("Can I return my lamp?", 4, retriever=recording(table, asked), llm=llm)
    assert [hit.id for hit in hits] == ["s1", "g1", "s2", "g2"]
    assert asked == ["Can I return my lamp?", "What is the return policy?"]


def test_step_back_without_a_new_question_is_one_plain_search():
    asked = []
    q.step_back_search("policy?", 4, retriever=recording({}, asked), llm=answers("policy?"))
    q.step_back_search("policy?", 4, retriever=recording({}, asked), llm=answers(""))
    assert asked == ["policy?", "policy?"]


def test_a_compound_question_is_split_and_no_part_is_starved():
    table = {"warranty?": [f"w{i}" for i in range(9)], "returns?": ["r0"]}
    hits = q.decompose_search("Compare.", 3, retriever=recording(table, []), llm=answers("1. warranty?\n2. returns?"))
    assert [hit.id for hit in hits] == ["w0", "r0", "w1"]
    assert [hit.score for hit in hits] == [1, 1 / 2, 1 / 3]


def test_sub_questions_fall_back_to_the_question_and_respect_the_limit():
    assert q.sub_questions("Is it red?", answers("")) == ["Is it red?"]
    assert q.sub_questions("Is it red?", answers("1. a\n2. b\n3. c"), limit=2) == ["a", "b"]
    assert q.sub_questions(" ", never) == []
    with pytest.raises(ValueError, match="limit"):
        q.sub_questions("Is it red?", never, limit=0)


# --- few-shot


def test_a_base_model_that_goes_on_to_invent_examples_is_cut():
    llm = answers(" blue lamp\n\nQuestion: gren kettle\nQuery: green kettle")
    rewrite = q.few_shot(llm, [("red kettel", "red kettle")], "Mend the spelling.")
    assert rewrite("bleu lamp") == "blue lamp"


def test_few_shot_examples_come_in_order_and_end_with_the_open_question():
    prompt = q.few_shot_prompt("c\nd", [("a", "A"), ("b", "B")], "Upper case.")
    assert prompt.endswith("Question: a\nQuery: A\n\nQuestion: b\nQuery: B\n\nQuestion: c d\nQuery:")
    with pytest.raises(ValueError, match="examples"):
        q.few_shot_prompt("c", [], "Upper case.")


def test_an_empty_completion_gives_the_question_back():
    assert q.few_shot(answers("\n\nQuestion: x"), [("a", "A")], "Upper case.")("b") in {"b", "Question: x"}
    assert q.first_completion("Query: red\nQuestion: x") == "red"
    assert q.first_completion("") == ""


# --- Query2doc


def test_query2doc_sparse_repeats_the_query_five_times_and_dense_uses_a_separator():
    assert q.sparse_query("red kettle", "It boils.") == "red kettle " * 5 + "It boils."
    assert q.dense_query("red kettle", "It boils.") == "red kettle [SEP] It boils."
    assert q.sparse_query("red kettle", "") == q.dense_query("red kettle", "") == "red kettle"


def test_query2doc_repeats_weigh_five_to_one_in_bm25():
    bm25 = BM25([Passage("a", "kettle"), Passage("b", "boils water")])
    scores = bm25.scores(q.sparse_query("kettle", "boils"))
    assert scores[0] == pytest.approx(5 * bm25.scores("kettle")[0])
    assert scores[1] == pytest.approx(bm25.scores("boils")[1])


def test_query2doc_search_bridges_a_vocabulary_gap_and_survives_an_empty_reply():
    bm25 = BM25([Passage("tips", "Silicone ear tips in three sizes."), Passage("lamp", "The lamp dims.")])
    search = partial(q.query2doc_search, retriever=bm25, llm=answers("Silicone\n tips fit the ear."))
    assert bm25("rubber thingies", 3) == []
    assert [hit.id for hit in search("rubber thingies", 1)] == ["tips"]
    assert [hit.id for hit in q.query2doc_search("dims", 3, retriever=bm25, llm=answers(""))] == ["lamp"]
    assert q.query2doc_search("", 3, retriever=bm25, llm=never) == []
