"""Handing over to specialists, and the agent's task as a program: choices read, fallbacks, bounds on calls."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit, Passage
from ragkit.loops.fixed_loop import UNKNOWN, classify_prompt, fixed_loop, read_yes
from ragkit.loops.routes import Decision, RouterCost
from ragkit.loops.specialists import Specialist, choice_prompt, hand_over, model_choice, read_choice
from ragkit.models import StandIn
from ragkit.search import BM25
from ragkit.text import count_tokens

TEXTS = {"passages": "policies and manuals", "sql": "counts and sums", "code": "source code"}


def never(*_):
    pytest.fail("called")


def pick(name):
    return lambda question: Decision(name, 1.0, RouterCost(calls=1))


def people(**answers):
    return [Specialist(name, TEXTS[name], answers.get(name, never)) for name in TEXTS]


def fails(question):
    raise RuntimeError("no such table")


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ("sql", "sql"),
        ("Name: **SQL**", "sql"),
        ("2", "sql"),
        ("2. sql: counts", "sql"),
        ("1, since the passages say it", "passages"),
        ("3 or so: passages", "passages"),
        ("sqlite", None),
        ("4", None),
        ("0", None),
        ("2.5", "sql"),
        ("", None),
        ("I cannot say", None),
    ],
)
def test_choices_are_read_by_name_and_then_by_number(reply, choice):
    assert read_choice(reply, list(TEXTS)) == choice


def test_a_longer_name_is_not_taken_for_one_inside_it():
    assert read_choice("code search", ["code", "code search"]) == "code search"
    assert read_choice("anything", []) is None


def test_a_model_chooses_and_its_cost_is_reported():
    llm = StandIn([("How many stores", "sql\n\nQuestion: another")])
    decision = model_choice(llm, TEXTS, "passages")("How many stores?")
    assert decision.route == "sql"
    assert decision.cost == RouterCost(
        1, count_tokens(choice_prompt("How many stores?", TEXTS)), count_tokens("sql\n\nQuestion: another")
    )
    lost = model_choice(lambda prompt: "Hm", TEXTS, "passages")("Which?")
    assert (lost.route, lost.note) == ("passages", "no choice in 'Hm'")
    with pytest.raises(ValueError, match="fallback"):
        model_choice(never, TEXTS, "nobody")


def test_the_question_goes_to_the_chosen_one_whole():
    result = hand_over("How many?", people(sql=lambda q: f"{q} 3"), pick("sql"))
    assert (result.answer, result.by, result.asked, result.cost) == (
        "How many? 3",
        "sql",
        ("sql",),
        RouterCost(calls=1),
    )


@pytest.mark.parametrize("first", [fails, lambda q: "I do not know.", lambda q: " "])
def test_where_one_fails_or_abstains_the_fallback_is_asked(first):
    result = hand_over(
        "How many?", people(sql=first, passages=lambda q: "three"), pick("sql"), fallbacks=["sql", "passages"]
    )
    assert (result.answer, result.by, result.asked) == ("three", "passages", ("sql", "passages"))


def test_nobody_is_asked_twice_and_the_number_asked_is_bounded():
    shy = people(passages=lambda q: "unknown", sql=lambda q: "unknown")
    result = hand_over("Which?", shy, pick("sql"), fallbacks=["passages", "code"], max_asked=2)
    assert (result.answer, result.by, result.asked) == ("unknown", "", ("sql", "passages"))


def test_a_choice_that_names_nobody_is_passed_over():
    result = hand_over("Which?", people(code=lambda q: "f"), pick("web"), fallbacks=["code"])
    assert (result.answer, result.asked) == ("f", ("code",))
    assert result.trace.rows()[0]["note"] == "no such specialist"
    assert hand_over("Which?", people(), pick("web")).asked == ()
    assert hand_over(" ", people(), never).answer == ""


def test_bad_specialists_are_named():
    with pytest.raises(ValueError, match="specialists"):
        hand_over("Which?", [], never)
    with pytest.raises(ValueError, match="specialists"):
        hand_over("Which?", [Specialist("a", "", never)] * 2, never)
    with pytest.raises(ValueError, match="fallbacks"):
        hand_over("Which?", people(), never, fallbacks=["web"])
    with pytest.raises(ValueError, match="max_asked"):
        hand_over("Which?", people(), never, max_asked=0)


# --- the fixed loop

DOCS = BM25([Passage("kettle", "The Aster kettle holds 1.7 litres."), Passage("lamp", "The lamp is green.")])
OUTSIDE = BM25([Passage("web", "Copperline was bought in 2019.")])
KINDS = {"documents": "about the company", "direct": "chat", "sum": "arithmetic"}
CLASSIFY, CHECK, REPHRASE, ANSWER = (
    "What kind of message",
    "Do the passages say",
    "in other words",
    "Answer the question",
)


def loop(question, rules, **options):
    llm = StandIn(rules)
    settings_ = {
        "sources": {"documents": DOCS, "outside": OUTSIDE},
        "kinds": KINDS,
        "functions": {"sum": lambda q: "408"},
    }
    return fixed_loop(question, llm=llm, **{**settings_, **options}), llm


def test_classify_retrieve_check_answer():
    result, llm = loop("What does the Aster hold?", [(CLASSIFY, "documents"), (CHECK, "Yes."), (ANSWER, "1.7 litres")])
    assert (result.answer, result.supported, result.calls) == ("1.7 litres", True, 3)
    assert [step.action for step in result.trace] == ["classify", "retrieve", "check", "answer"]
    assert [hit.id for hit in result.evidence] == ["kettle", "lamp"]
    assert "1.7 litres" in llm.prompts[2]


def test_direct_and_functions_do_not_search():
    result, llm = loop("Write a poem", [(CLASSIFY, "direct"), ("", "Rain on tin")], sources={"documents": never})
    assert (result.answer, result.calls, result.supported) == ("Rain on tin", 2, None)
    assert llm.prompts[1] == "Write a poem"
    result, _ = loop("What is 17 * 24?", [(CLASSIFY, "sum")])
    assert (result.answer, result.calls, result.kind) == ("408", 1, "sum")


def test_a_function_that_fails_falls_back_to_the_search():
    result, _ = loop("Aster?", [(CLASSIFY, "sum"), (CHECK, "yes"), (ANSWER, "1.7")], functions={"sum": fails})
    assert (result.answer, result.kind) == ("1.7", "sum")
    assert "failed" in result.trace.rows()[1]["note"]


def test_a_failed_check_searches_in_other_words_and_then_elsewhere():
    checks = iter(["no", "no", "yes"])
    rules = [(CLASSIFY, "documents"), (REPHRASE, "lamp Copperline"), (ANSWER, "2019")]
    answers = StandIn(rules)
    result = fixed_loop(
        "kettle",
        sources={"documents": DOCS, "outside": OUTSIDE},
        kinds={"documents": "all"},
        llm=lambda prompt: next(checks) if CHECK in prompt else answers(prompt),
        max_rounds=3,
    )
    assert [(s.text, s.note) for s in result.trace if s.action == "retrieve"] == [
        ("kettle", "documents"),
        ("lamp Copperline", "documents"),
        ("lamp Copperline", "outside"),
    ]
    assert [hit.id for hit in result.evidence] == ["kettle", "lamp", "web"]
    assert result.answer == "2019"


def test_without_a_passing_check_it_says_that_it_does_not_know():
    result, _ = loop("Aster?", [(CLASSIFY, "Hm"), (CHECK, "Perhaps."), (REPHRASE, "")])
    assert (result.answer, result.supported, result.kind) == (UNKNOWN, False, "documents")
    empty, _ = loop("zebra", [(CLASSIFY, "documents"), (REPHRASE, "zebra")])
    assert (empty.answer, empty.evidence) == (UNKNOWN, ())


def test_yes_and_no():
    assert [read_yes(text) for text in ("Yes, they do. No doubt.", "no", "1", "", "Yesterday")] == [
        True,
        False,
        None,
        None,
        None,
    ]


def test_a_blank_question_and_bad_arguments():
    assert fixed_loop(" ", sources={"a": never}, kinds={}, llm=never).calls == 0
    for name, options in {
        "sources": {"sources": {}},
        "kinds": {"kinds": {"web": ""}},
        "fallback": {"fallback": "web"},
        "max_rounds": {"max_rounds": 0},
        "k": {"k": -1},
    }.items():
        with pytest.raises(ValueError, match=name):
            fixed_loop("Which?", **{"sources": {"a": never}, "kinds": {}, "llm": never, **options})
    assert "documents: about the company" in classify_prompt("Which?", KINDS)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(["yes", "no", "documents", "direct", "sum", "", "outside", "{x} $y"]), max_size=12),
    st.integers(1, 5),
)
def test_calls_are_bounded_whatever_the_model_says(replies, max_rounds):
    told, calls, searches = iter(replies), itertools.count(), []

    def llm(prompt):
        next(calls)
        return next(told, "no")

    def source(query, k):
        searches.append(query)
        return [Hit(f"p{len(searches)}", f"text {len(searches)}", 1.0)][:k]

    result = fixed_loop(
        "Which?",
        sources={"documents": source, "outside": source},
        kinds={"documents": "", "direct": ""},
        llm=llm,
        max_rounds=max_rounds,
    )
    assert result.calls == next(calls) <= 1 + 3 * max_rounds
    assert len(searches) <= max_rounds
