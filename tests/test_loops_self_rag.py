"""Self-RAG on stored probabilities: the score worked by hand, the gate, and the beam against brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit
from ragkit.loops import (
    Segment,
    Weights,
    closed_answer,
    group_score,
    read_segment,
    retrieval_share,
    segment_beam,
    segment_score,
    should_retrieve,
    without_tokens,
)
from ragkit.loops.self_rag import self_rag
from ragkit.loops.self_rag_beam import Path, contradicted
from ragkit.loops.self_rag_tokens import NO_RETRIEVE, RELEVANCE, RETRIEVE, SUPPORT, UTILITY
from ragkit.models.shapes import Token

FULL, PART, NONE = SUPPORT
ANCHOR = Segment(
    "Skagen",
    {"[Relevant]": 0.8, "[Irrelevant]": 0.2},
    {FULL: 0.6, PART: 0.3, NONE: 0.1},
    {f"[Utility:{n}]": p for n, p in enumerate((0.1, 0.1, 0.2, 0.3, 0.3), start=1)},
)


def never(*_):
    pytest.fail("called")


def test_the_published_score_is_1_70():
    # 1.0 * 0.8 / 1.0  +  1.0 * (0.6 + 0.5 * 0.3) / 1.0  +  0.5 * (-0.1 - 0.05 + 0 + 0.15 + 0.3)
    assert segment_score(ANCHOR) == pytest.approx(0.8 + 0.75 + 0.5 * 0.3)
    assert segment_score(ANCHOR) == pytest.approx(1.70, abs=1e-12)


def test_the_tokens_and_their_worth_are_those_of_the_paper():
    assert list(UTILITY.values()) == [-1.0, -0.5, 0.0, 0.5, 1.0]
    assert list(SUPPORT.values()) == [1.0, 0.5, 0.0]
    assert list(UTILITY) == [f"[Utility:{n}]" for n in (1, 2, 3, 4, 5)]


probability = st.floats(0.001, 1.0)


@settings(max_examples=50, deadline=None)
@given(st.lists(probability, min_size=10, max_size=10))
def test_the_score_is_the_formula_written_with_arrays(p):
    p = np.array(p) / sum(p)
    rel, sup, use = p[:2], p[2:5], p[5:]
    formula = rel[0] / rel.sum() + sup @ [1, 0.5, 0] / sup.sum() + 0.5 * (use @ [-1, -0.5, 0, 0.5, 1]) / use.sum()
    segment = Segment(
        "x",
        dict(zip(RELEVANCE, rel, strict=True)),
        dict(zip(SUPPORT, sup, strict=True)),
        dict(zip(UTILITY, use, strict=True)),
    )
    assert segment_score(segment) == pytest.approx(formula)
    assert -0.5 - 1e-9 <= segment_score(segment) <= 2.5 + 1e-9


def test_a_missing_group_counts_zero():
    assert segment_score(Segment("x")) == 0.0
    assert segment_score(Segment("x", relevance=ANCHOR.relevance)) == pytest.approx(0.8)
    assert group_score({"kettle": 0.9}, RELEVANCE) == 0.0
    assert group_score({FULL: 0.0, PART: 0.0}, SUPPORT) == 0.0


def test_an_unlisted_token_of_a_group_counts_zero_and_an_unknown_one_is_ignored():
    assert group_score({"[Relevant]": 0.3, "kettle": 0.7}, RELEVANCE) == 1.0


def test_weights_and_the_sequence_term():
    assert segment_score(ANCHOR, Weights(0.0, 0.0, 1.0)) == pytest.approx(0.3)
    with_sequence = Segment("x", log_probability=math.log(0.25))
    assert segment_score(with_sequence, sequence=True) == pytest.approx(0.25)
    with pytest.raises(ValueError, match="log_probability"):
        segment_score(ANCHOR, sequence=True)


# --- the gate


def test_the_gate_divides_probabilities_and_not_their_logarithms():
    """The released run_short_form.py divides log-probabilities, which turns the decision round."""
    sure_no = {RETRIEVE: 0.01, NO_RETRIEVE: 0.99}
    logs = {token: math.log(p) for token, p in sure_no.items()}
    assert logs[RETRIEVE] / (logs[RETRIEVE] + logs[NO_RETRIEVE]) > 0.99  # the slip: "retrieve, almost surely"
    assert retrieval_share(sure_no) == pytest.approx(0.01)
    assert not should_retrieve(sure_no, 0.2)


def test_log_probabilities_are_refused_with_a_hint():
    with pytest.raises(ValueError, match=r"\[Retrieval\].*log-probability"):
        should_retrieve({RETRIEVE: -0.1, NO_RETRIEVE: -2.0})
    with pytest.raises(ValueError, match="lie in"):
        group_score({"[Relevant]": float("nan")}, RELEVANCE)


@settings(max_examples=50, deadline=None)
@given(probability, probability, st.floats(0, 1))
def test_the_gate_is_the_share_above_the_threshold(yes, no, threshold):
    assert should_retrieve({RETRIEVE: yes / 2, NO_RETRIEVE: no / 2}, threshold) == (yes / (yes + no) > threshold)


def test_a_share_on_the_threshold_does_not_retrieve_and_neither_does_a_missing_group():
    assert not should_retrieve({RETRIEVE: 0.25, NO_RETRIEVE: 0.75}, 0.25)
    assert not should_retrieve({}, 0.0)
    assert should_retrieve({RETRIEVE: 0.4}, 0.99)
    with pytest.raises(ValueError, match="threshold"):
        should_retrieve({}, 1.5)


# --- reading what was stored


def test_a_stored_generation_is_read_where_each_group_was_written():
    tokens = [
        Token("[Relevant]", 0.8, (("[Relevant]", 0.8), ("[Irrelevant]", 0.2))),
        Token(" It", 0.9),
        Token(" is red.", 0.9),
        Token("[Partially supported]", 0.5, (("[Partially supported]", 0.5), (FULL, 0.3), ("kettle", 0.2))),
        Token("[Utility:5]", 0.6, ()),
        Token("</s>", 1.0),
    ]
    segment = read_segment(tokens, "p7")
    assert segment == Segment(
        "It is red.",
        {"[Relevant]": 0.8, "[Irrelevant]": 0.2},
        {FULL: 0.3, PART: 0.5},
        {"[Utility:5]": 0.6},
        "p7",
    )
    assert segment_score(segment) == pytest.approx(0.8 + (0.3 + 0.25) / 0.8 + 0.5)


def test_a_generation_without_reflection_tokens_has_no_groups():
    assert read_segment([Token("It is red.", 0.9)]) == Segment("It is red.")
    assert read_segment([]) == Segment("")
    assert without_tokens("[No Retrieval]Hi [1] there[Utility:4]</s>") == "Hi [1] there"


# --- choosing an answer


def scored(text, score):
    """A segment whose score is ``score`` (0 to 1), by its relevance alone."""
    return Segment(text, {"[Relevant]": score, "[Irrelevant]": 1 - score})


def test_closed_tasks_add_up_equal_answers_and_open_ones_take_the_best():
    segments = {"a": scored("Skagen", 0.9), "b": scored("The Riverside.", 0.5), "c": scored("riverside", 0.6)}

    def run(closed):
        return self_rag(
            "Where?",
            retriever=lambda q, k: [Hit(i, i, 1.0) for i in segments][:k],
            gate=lambda q: {RETRIEVE: 0.9, NO_RETRIEVE: 0.1},
            write=lambda q, hit: segments[hit.id],
            closed=closed,
        )

    assert run(closed=True).answer == "The Riverside."
    assert run(closed=False).answer == "Skagen"
    assert closed_answer(list(segments.values())) == {
        "The Riverside.": pytest.approx(1.1),
        "Skagen": pytest.approx(0.9),
    }
    assert [step.action for step in run(closed=True).trace] == ["gate", "retrieve"] + ["generate"] * 3


def test_ties_go_to_the_first_mention_and_answers_without_letters_stay_apart():
    assert list(closed_answer([scored("b", 0.5), scored("a", 0.5)])) == ["b", "a"]
    assert closed_answer([scored("?", 0.5), scored("!", 0.25), scored("水", 0.125)]) == {
        "?": 0.5,
        "!": 0.25,
        "水": 0.125,
    }
    assert closed_answer([]) == {}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["A", "a.", "B", "the b", "C"]), st.floats(0, 1)), max_size=8))
def test_the_sums_of_a_closed_task_add_up_to_the_sum_of_all(pairs):
    totals = closed_answer([scored(text, score) for text, score in pairs])
    assert sum(totals.values()) == pytest.approx(sum(segment_score(scored(*pair)) for pair in pairs))
    assert len(totals) == len({text.lower().strip(".").removeprefix("the ") for text, _ in pairs})


def test_a_shut_gate_and_an_empty_search_write_once_without_a_passage():
    written = []

    def write(question, hit):
        written.append(hit)
        return scored("from memory", 0.5)

    shut = self_rag("Hi?", retriever=never, gate=lambda q: {RETRIEVE: 0.1, NO_RETRIEVE: 0.9}, write=write)
    empty = self_rag("Hi?", retriever=lambda q, k: [], gate=lambda q: {RETRIEVE: 1.0}, write=write, closed=True)
    assert written == [None, None]
    assert (shut.answer, shut.retrieved) == (empty.answer, empty.retrieved) == ("from memory", False)


def test_a_blank_question_costs_nothing_and_a_bad_k_is_named():
    assert self_rag(" ", retriever=never, gate=never, write=never).answer == ""
    with pytest.raises(ValueError, match="k must"):
        self_rag("Why?", retriever=never, gate=never, write=never, k=-1)


# --- the long form


def table_of_scores(seed, branches, depth):
    rng = np.random.default_rng(seed)
    return {
        path: float(rng.random()) for n in range(1, depth + 1) for path in itertools.product(range(branches), repeat=n)
    }


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("combine", ["sum", "product"])
def test_a_beam_as_wide_as_the_tree_finds_the_best_path_of_all(seed, combine):
    worth = table_of_scores(seed, 3, 3)

    def extend(path):
        at = tuple(int(segment.text) for segment in path)
        return [scored(str(i), worth[(*at, i)]) for i in range(3)] if len(at) < 3 else []

    fold = sum if combine == "sum" else math.prod
    best = max(itertools.product(range(3), repeat=3), key=lambda p: fold(worth[p[: n + 1]] for n in range(3)))
    found = segment_beam(extend, width=9, combine=combine)
    assert found.text == " ".join(map(str, best))
    assert found.paths[0].score == pytest.approx(fold(worth[best[: n + 1]] for n in range(3)))
    greedy = segment_beam(extend, width=1, combine=combine)
    assert greedy.paths[0].score <= found.paths[0].score + 1e-12


def bad(text):
    return Segment(text, utility={"[Utility:1]": 1.0})  # scores -0.5


def test_a_product_of_two_bad_segments_makes_a_good_path_and_a_sum_does_not():
    def extend(path):
        if not path:
            return [bad("bad"), scored("fair", 0.2)]
        return [] if len(path) > 1 else [bad("worse") if path[0].text == "bad" else scored("good", 0.9)]

    assert segment_beam(extend).text == "fair good"
    assert segment_beam(extend, combine="product").text == "bad worse"


def test_a_finished_path_keeps_its_score_and_competes():
    def extend(path):
        texts = [segment.text for segment in path]
        return {(): [scored("short", 1.0), scored("long", 0.1)], ("long",): [scored("tail", 0.1)]}.get(tuple(texts), [])

    assert segment_beam(extend).text == "short"
    assert [path.text for path in segment_beam(extend).paths] == ["short", "long tail"]


def test_depth_is_bounded():
    result = segment_beam(lambda path: [scored("on", 0.5)], max_depth=4)
    assert result.text == "on on on on"
    assert len(result.trace) == 4


def test_the_hard_constraint_drops_a_candidate_without_support():
    unsupported = Segment("invented", {"[Relevant]": 1.0}, {NONE: 0.6, FULL: 0.4})
    supported = Segment("true", {"[Relevant]": 0.1, "[Irrelevant]": 0.9}, {FULL: 0.6, NONE: 0.4})

    def extend(path):
        return [] if path else [unsupported, supported]

    assert segment_beam(extend).text == "invented"
    assert segment_beam(extend, drop_contradicted=True).text == "true"
    assert not contradicted(Segment("x"))


def test_a_beam_without_candidates_is_empty_and_bad_arguments_are_named():
    assert segment_beam(lambda path: []).paths == ()
    assert segment_beam(lambda path: []).text == Path().text == ""
    for name, value in [("width", 0), ("max_depth", 0), ("combine", "mean")]:
        with pytest.raises(ValueError, match=name):
            segment_beam(never, **{name: value})
