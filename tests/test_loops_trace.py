"""What the loops share: the log of steps, evidence, a context whose newest part survives, and the first sentence."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit
from ragkit.loops import Trace, check_bound, cumulate, cut_to_first_sentence, first_sentence, fit_newest
from ragkit.loops.context import same_text
from ragkit.loops.sentence import geometric_mean, lowest_probability, mean_log_probability
from ragkit.models.shapes import Completion, Token
from ragkit.show import table
from ragkit.text import count_tokens

# --- the log


def test_a_trace_prints_as_a_table_with_the_columns_that_are_used():
    trace = Trace()
    trace.add("retrieve", "Who founded it?", [Hit("p1", "text", 1.0), "p2"])
    trace.add("gate", score=0.25, note="shut")
    assert trace.rows() == [
        {"step": 1, "action": "retrieve", "text": "Who founded it?", "passages": "p1, p2", "score": None, "note": ""},
        {"step": 2, "action": "gate", "text": "", "passages": "", "score": 0.25, "note": "shut"},
    ]
    assert "Who founded it?" in repr(table(trace.rows(), "steps"))
    assert trace.count("gate") == 1
    assert [step.action for step in trace] == ["retrieve", "gate"]


def test_columns_that_no_step_fills_are_left_out_and_a_score_of_zero_fills_one():
    trace = Trace()
    trace.add("gate", score=0.0)
    assert trace.rows() == [{"step": 1, "action": "gate", "score": 0.0}]
    assert Trace().rows() == []


def test_a_trace_is_bounded_and_says_so():
    trace = Trace(limit=2)
    trace.add("a")
    trace.add("b")
    with pytest.raises(RuntimeError, match="more than 2 steps"):
        trace.add("c")
    assert len(trace) == 2


def test_a_trace_of_width_0_is_refused():
    with pytest.raises(ValueError, match="width"):
        Trace().rows(width=0)


@pytest.mark.parametrize("value", [0, -1, 101, 2.0, True, None, "3"])
def test_every_loop_refuses_a_bound_that_is_none(value):
    with pytest.raises(ValueError, match="max_hops"):
        check_bound("max_hops", value)


# --- the context

words = st.lists(
    st.sampled_from(["kettle", "3.14", "ORD-482913", "Møller", "水", "red", "the"]), min_size=1, max_size=12
).map(" ".join)


@settings(max_examples=50, deadline=None)
@given(st.lists(words, max_size=6), st.integers(0, 60))
def test_a_growing_context_limits_tokens_and_not_items_and_keeps_the_newest(parts, budget):
    kept = fit_newest(parts, budget, "\n")
    assert count_tokens(kept) <= budget
    whole = "\n".join(parts)
    if count_tokens(whole) <= budget:
        assert kept == whole
    elif parts and count_tokens(parts[-1]) <= budget:
        assert kept.endswith(parts[-1])
        assert whole.endswith(kept)
    elif parts:
        assert parts[-1].startswith(kept)


def test_the_newest_hop_survives_where_a_cut_at_the_end_would_drop_it():
    parts = [f"hop {n}: " + "word " * 30 for n in range(5)] + ["hop 5: the founder is Ida Falk"]
    budget = count_tokens("\n\n".join(parts)) // 2
    assert "Ida Falk" not in "\n\n".join(parts)[: len("\n\n".join(parts)) // 2]
    assert "Ida Falk" in fit_newest(parts, budget)


def test_joining_so_many_items_limits_nothing():
    parts = ["word " * 400] * 3
    assert count_tokens("\n".join(parts[:5000])) == 1200
    assert count_tokens(fit_newest(parts, 500)) <= 500


def test_a_context_of_nothing_and_a_budget_of_nothing():
    assert fit_newest([], 10) == ""
    assert fit_newest(["", "  "], 10) == ""
    assert fit_newest(["one two"], 0) == ""
    assert fit_newest(["old", "newest of all"], 2) == "newest of"
    with pytest.raises(ValueError, match="budget"):
        fit_newest(["one"], -1)


hits = st.lists(st.builds(Hit, st.sampled_from("abcdef"), st.sampled_from(["x", "X ", "y", "z"]), st.just(1.0)))


@settings(max_examples=50, deadline=None)
@given(hits, hits, st.integers(0, 6))
def test_cumulated_evidence_holds_nothing_twice_and_never_pushes_out(first, second, most):
    held = cumulate([], first, most)
    both = cumulate(held, second, most)
    assert both[: len(held)] == held
    assert len(both) <= max(most, len(held))
    assert len({hit.id for hit in both}) == len({same_text(hit.text) for hit in both}) == len(both)


# --- the first sentence


def completion(*tokens, finish="stop"):
    return Completion("".join(text for text, _ in tokens), tuple(Token(t, p) for t, p in tokens), finish=finish)


def test_the_first_sentence_has_its_own_tokens_and_not_those_after_it():
    found = cut_to_first_sentence(completion(("\n", 0.2), ("It", 0.9), (" boils", 0.5), (".", 0.8), (" Rarely", 0.01)))
    assert found.text == "It boils."
    assert [token.text for token in found.tokens] == ["It", " boils", "."]
    assert not found.ends
    assert lowest_probability(found.tokens) == 0.5


def test_the_end_of_text_token_is_no_word_and_is_not_judged():
    found = cut_to_first_sentence(completion(("It", 0.9), (" boils.", 0.8), ("", 0.01)))
    assert lowest_probability(found.tokens) == 0.8
    assert found.ends
    assert not cut_to_first_sentence(completion(("It", 0.9), (" boils.", 0.8), finish="length")).ends


def test_an_empty_completion_and_one_without_tokens():
    assert cut_to_first_sentence(Completion("")) == ("", (), False)
    assert cut_to_first_sentence(Completion("It boils. It is red.")) == ("It boils.", (), False)
    assert lowest_probability([]) == 1.0
    assert mean_log_probability([]) == 0.0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.001, 1.0), min_size=1, max_size=9))
def test_the_mean_is_the_geometric_one(probabilities):
    tokens = [Token("a", p) for p in probabilities]
    assert geometric_mean(tokens) == pytest.approx(math.prod(probabilities) ** (1 / len(probabilities)))
    assert lowest_probability(tokens) <= geometric_mean(tokens) + 1e-12


def test_a_probability_of_zero_has_a_finite_logarithm():
    assert math.isfinite(mean_log_probability([Token("a", 0.0)]))


def test_a_line_break_ends_a_sentence_and_the_text():
    found = cut_to_first_sentence(
        completion(("\n", 0.1), (" Skagen", 0.9), ("\n", 0.2), ("Question: Why", 0.1), finish="length")
    )
    assert found == ("Skagen", (Token(" Skagen", 0.9),), True)
    assert first_sentence("\n \nSkagen\nQuestion: Why?") == "Skagen"
    assert not cut_to_first_sentence(completion(("It boils. It", 0.9), ("\n", 0.2))).ends


def test_the_first_sentence_does_not_end_inside_a_decimal_or_a_name():
    assert first_sentence("Dr. Hale measured 3.14 litres. Then he left.") == "Dr. Hale measured 3.14 litres."
    assert first_sentence("水は百度で沸く。赤い。") == "水は百度で沸く。"
