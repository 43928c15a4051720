"""Corrective RAG: the three actions at their thresholds, strips that lose nothing, and what evaluators reply."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit, Passage
from ragkit.loops import cut_strips, decide, keywords, model_evaluator, read_relevance, refine
from ragkit.loops.crag import LOWER, UPPER, crag, keywords_prompt
from ragkit.loops.relevance import evaluator_prompt
from ragkit.loops.strips import join
from ragkit.models.standin import StandIn
from ragkit.search import BM25
from ragkit.text import sentences

INSIDE = [
    Passage(
        "kettle", "The Aster kettle is made of steel. It holds 1.7 litres. It weighs 3.14 pounds. Wash it by hand."
    ),
    Passage("store", "The Riverside store opens at nine. It closes at six. Parking costs nothing there. Come early."),
]
OUTSIDE = [Passage("press", "Reviewers measured the Aster kettle. It boils a litre in 140 seconds. They liked it.")]


def never(*_):
    pytest.fail("called")


# --- the action


def test_the_thresholds_of_popqa_are_the_defaults_and_the_lower_one_is_negative():
    assert (UPPER, LOWER) == (0.592, -0.995)


@pytest.mark.parametrize(
    ("scores", "action"),
    [
        ([0.592, -1.0], "correct"),
        ([0.5919, -1.0], "ambiguous"),
        ([-0.995, -1.0], "ambiguous"),
        ([-0.9951, -1.0], "incorrect"),
        ([], "incorrect"),
        ([1.0], "correct"),
    ],
)
def test_one_good_document_is_correct_all_bad_ones_are_incorrect_and_the_rest_ambiguous(scores, action):
    assert decide(scores) == action


score = st.floats(-1, 1)


@settings(max_examples=50, deadline=None)
@given(st.lists(score, max_size=6), score, score)
def test_the_action_is_that_of_the_best_document(scores, one, other):
    lower, upper = sorted((one, other))
    best = max(scores, default=float("-inf"))  # flags 2, 1, 0 of the released code, and their maximum
    flag = 2 if best >= upper else 1 if best >= lower else 0
    assert decide(scores, upper, lower) == ("incorrect", "ambiguous", "correct")[flag]


def test_thresholds_the_wrong_way_round_are_refused():
    with pytest.raises(ValueError, match="lower"):
        decide([0.0], upper=-0.5, lower=0.5)


# --- strips


def test_a_strip_does_not_end_inside_3_14_or_after_dr():
    text = "Dr. Hale measured 3.14 litres in all. He wrote it down. He left. Was it right? Nobody knows that now."
    assert cut_strips(text) == [
        "Dr. Hale measured 3.14 litres in all. He wrote it down. He left.",
        "Was it right? Nobody knows that now.",
    ]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(["It is red.", "No.", "It holds 3.14 litres.", "Why not?", "水は沸く。"]), max_size=12),
    st.integers(1, 5),
)
def test_strips_lose_no_sentence_but_those_of_strips_under_four_words(parts, size):
    text = " ".join(parts)
    groups = [" ".join(sentences(text)[i : i + size]) for i in range(0, len(sentences(text)), size)]
    assert cut_strips(text, size) == [group for group in groups if len(group.split()) > 3]


def test_a_document_of_two_sentences_is_one_strip_and_short_ones_are_none():
    assert cut_strips("It is red. It holds 1.7 litres.") == ["It is red. It holds 1.7 litres."]
    assert cut_strips("Sold out.") == []
    assert cut_strips("Sold out now.") == []
    assert cut_strips("It is sold out.") == ["It is sold out."]
    assert cut_strips("") == []


HITS = [Hit("a", "This one is low. This one is high. This one is middle.", 1.0), Hit("b", "This one is best.", 0.5)]
WORTH = {"low": -0.9, "middle": 0.1, "high": 0.5, "best": 0.9}


def by_word(question, text):
    return WORTH[text.rstrip(".").split()[-1]]


def last_words(strips):
    return [strip.text.rstrip(".").split()[-1] for strip in strips]


def test_the_paper_joins_in_document_order_and_the_released_code_in_score_order():
    assert last_words(refine("?", HITS, by_word, size=1)) == ["high", "middle", "best"]
    assert last_words(refine("?", HITS, by_word, size=1, order="score")) == ["best", "high", "middle"]
    assert join(refine("?", HITS, by_word, size=1, keep=2)) == "This one is high.; This one is best."


def test_a_strip_under_the_threshold_is_dropped_and_minus_one_keeps_all_as_the_code_does():
    assert "low" not in last_words(refine("?", HITS, by_word, size=1))
    assert last_words(refine("?", HITS, by_word, size=1, threshold=-1.0)) == ["low", "high", "middle", "best"]
    assert last_words(refine("?", HITS, by_word, size=1, threshold=-0.9))[0] == "low"


@settings(max_examples=50, deadline=None)
@given(st.lists(score, min_size=1, max_size=9), st.integers(0, 9))
def test_the_kept_strips_are_the_best_ones_in_either_order(scores, keep):
    hits = [Hit(str(i), f"This is strip number {i}.", 0.0) for i in range(len(scores))]
    run = partial(refine, "?", hits, lambda q, t: scores[int(t.rstrip(".").split()[-1])], keep=keep, threshold=-1.0)
    document, best = run(), run(order="score")
    assert sorted(document, key=lambda s: int(s.passage)) == document
    assert [s.score for s in best] == sorted(scores, reverse=True)[:keep]
    assert set(document) == set(best)


def test_a_strip_met_twice_is_scored_once():
    asked = []

    def evaluate(question, text):
        asked.append(text)
        return 0.5

    strips = refine("?", [Hit("a", "This one is red.", 1.0), Hit("b", "this one  is RED.", 1.0)], evaluate)
    assert asked == ["This one is red."]
    assert [strip.passage for strip in strips] == ["a"]


def test_scores_are_clamped_and_what_is_no_number_is_refused():
    assert refine("?", HITS[1:], lambda q, t: 7.0)[0].score == 1.0
    assert refine("?", [], never) == []
    for broken in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="evaluate"):
            refine("?", HITS, lambda q, t, broken=broken: broken)


@pytest.mark.parametrize(("name", "value"), [("size", 0), ("keep", -1), ("order", "best")])
def test_a_bad_argument_of_refinement_is_named(name, value):
    with pytest.raises(ValueError, match=name):
        refine("?", HITS, by_word, **{name: value})


# --- the whole


def overlap(question, text):
    """A plain evaluator: -1 where no word of the question occurs, 1 where all do."""
    asked, held = set(question.lower().strip("?").split()), set(text.lower().replace(".", "").split())
    return 2 * len(asked & held) / len(asked) - 1


def run(question, upper=UPPER, lower=LOWER, **options):
    return crag(
        question, retriever=BM25(INSIDE), web=BM25(OUTSIDE), evaluate=overlap, upper=upper, lower=lower, **options
    )


def test_correct_refines_what_was_retrieved_and_does_not_search_elsewhere():
    result = crag("aster kettle steel?", retriever=BM25(INSIDE), web=never, evaluate=overlap)
    assert result.action == "correct"
    assert result.passages == ("kettle",)
    assert "3.14 pounds" in result.knowledge
    assert result.external == ()


def test_incorrect_discards_what_was_retrieved_and_searches_elsewhere():
    result = run("aster kettle seconds?", upper=0.9, lower=0.8)
    assert result.action == "incorrect"
    assert result.internal == ()
    assert result.passages == ("press",)


def test_ambiguous_keeps_the_strips_that_pass_and_searches_too():
    result = run("aster kettle seconds?", upper=0.9)
    assert result.action == "ambiguous"
    assert result.passages == ("kettle", "press")
    assert result.knowledge.index("1.7 litres") < result.knowledge.index("140 seconds")
    assert [step.action for step in result.trace] == [
        "retrieve",
        "evaluate",
        "decide",
        "refine",
        "search elsewhere",
        "refine",
    ]


def test_ambiguous_without_a_strip_that_passes_keeps_nothing_from_inside():
    """Only *correct* vouches for a document whose strips all fail."""
    result = crag(
        "aster kettle seconds?",
        retriever=BM25([Passage("short", "Aster: sold out.")]),
        web=BM25(OUTSIDE),
        evaluate=lambda question, text: 0.0,
        strip_threshold=-1.0,
    )
    assert (result.action, result.internal) == ("ambiguous", ())
    assert result.passages == ("press",)


def test_a_strip_from_both_sides_is_held_once():
    result = crag("aster kettle seconds?", retriever=BM25(INSIDE), web=BM25(INSIDE), evaluate=overlap, upper=0.9)
    assert result.action == "ambiguous"
    assert result.external == ()
    assert result.knowledge.count("1.7 litres") == 1


def test_an_empty_corpus_is_incorrect_and_two_empty_ones_give_no_knowledge():
    result = crag("aster kettle?", retriever=BM25([]), web=BM25(OUTSIDE), evaluate=overlap)
    assert (result.action, result.passages) == ("incorrect", ("press",))
    nothing = crag("aster kettle?", retriever=BM25([]), web=BM25([]), evaluate=overlap)
    assert (nothing.action, nothing.knowledge) == ("incorrect", "")


def test_a_correct_document_too_short_for_strips_is_kept_whole():
    result = crag("aster?", retriever=BM25([Passage("p", "Aster: sold out.")]), web=never, evaluate=lambda q, t: 1.0)
    assert result.knowledge == "Aster: sold out."


def test_the_second_search_is_asked_what_the_rewriter_says():
    asked = []

    def web(query, k):
        asked.append((query, k))
        return []

    llm = StandIn(lambda prompt: "Keywords: Aster kettle, boiling time, seconds, red")
    crag("How fast?", retriever=BM25([]), web=web, evaluate=overlap, rewrite=partial(keywords, llm=llm), web_k=3)
    assert asked == [("Aster kettle, boiling time, seconds", 3)]
    assert llm.prompts == [keywords_prompt("How fast?")]


@pytest.mark.parametrize("reply", ["", " , ,", "Keywords:"])
def test_a_rewriter_that_says_nothing_leaves_the_question(reply):
    assert keywords("How fast?", lambda p: reply) == "How fast?"


def test_a_blank_question_costs_nothing_and_bad_arguments_are_named():
    assert crag(" ", retriever=never, web=never, evaluate=never).knowledge == ""
    for name in ("k", "web_k"):
        with pytest.raises(ValueError, match="k must"):
            crag("Why?", retriever=never, web=never, evaluate=never, **{name: -1})
    with pytest.raises(ValueError, match="lower"):
        crag("Why?", retriever=never, web=never, evaluate=never, upper=-1.0, lower=1.0)


# --- a chat model as evaluator


@pytest.mark.parametrize(
    ("reply", "relevance"),
    [
        ("Relevance: 0.85/1", 0.85),
        ("85%", 0.85),
        ("85 %", 0.85),
        ("7", 1.0),
        ("8/10", 0.8),
        ("4 out of 5", 0.8),
        ("-0.3", 0.0),
        (".5", 0.5),
        ("0,4", 0.4),
        ("1e-3", 0.001),
        ("**Relevance:** 0.7", 0.7),
        ("Passage 2 has a relevance of 0.25.", 0.25),
        ("I rate it. Score = 0.9", 0.9),
        ("Relevance: high (0.9)", 0.9),
        ('{"score": 0.3}', 0.3),
        ("high", None),
        ("", None),
        ("nan", None),
    ],
)
def test_the_number_that_a_model_means_is_read_and_clamped(reply, relevance):
    found = read_relevance(reply)
    assert found == (None if relevance is None else pytest.approx(relevance))


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=60))
def test_any_reply_gives_a_number_from_0_to_1_or_none(reply):
    found = read_relevance(reply)
    assert found is None or 0.0 <= found <= 1.0


def test_a_reply_without_a_number_means_not_known_and_leads_to_ambiguous():
    evaluate = model_evaluator(lambda prompt: "I cannot say.")
    assert evaluate("q", "text") == 0.0
    result = crag("aster kettle?", retriever=BM25(INSIDE), web=BM25(OUTSIDE), evaluate=evaluate)
    assert result.action == "ambiguous"
    assert result.passages == ("kettle", "press")
    as_released = model_evaluator(lambda prompt: "I cannot say.", failure=-1.0)
    assert crag("aster kettle?", retriever=BM25(INSIDE), web=BM25([]), evaluate=as_released).action == "incorrect"


def test_a_model_scale_is_stretched_onto_that_of_the_paper_and_failure_is_checked():
    llm = StandIn({evaluator_prompt("q", "{t} for $5"): "0.75"})
    assert model_evaluator(llm)("q", "{t} for $5") == 0.5
    with pytest.raises(ValueError, match="failure"):
        model_evaluator(never, failure=2.0)
