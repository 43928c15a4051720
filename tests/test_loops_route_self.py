"""Routers by self-assessment and by token uncertainty: what models really write, thresholds by brute force, sklearn."""

from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from ragkit.loops.route_self import (
    Assessment,
    assess,
    needs,
    probability_router,
    read_assessment,
    self_assessment_prompt,
    self_router,
    yes_share,
)
from ragkit.loops.route_uncertainty import (
    choose_threshold,
    closed_book_prompt,
    detection_auc,
    log_probability,
    uncertainty_answer,
    uncertainty_router,
)
from ragkit.loops.routes import Decision, RouterCost
from ragkit.models.shapes import Completion, Token
from ragkit.text import count_tokens


def never(*_):
    pytest.fail("called")


@pytest.mark.parametrize(
    ("reply", "search", "sure"),
    [
        ("Yes, 90%", True, 0.9),
        ("no (85 per cent)", False, 0.85),
        ("**No.** I am 0.7 sure.", False, 0.7),
        ("Search: yes\nConfidence: 95/100", True, 0.95),
        ("It must be searched... yes, 100%", True, 1.0),
        ("The documents need to be searched.", True, None),
        ("It can be answered without a search.", False, None),
        ("You don't need to search.", False, None),
        ("I'm not sure. Yes.", True, None),
        ("Yes, 150%", True, 1.0),
        ("0,6 yes", True, 0.6),
        ("No", False, None),
        ("Perhaps", None, None),
        ("", None, None),
        ("noon, 90%", None, 0.9),
        ("42", None, None),
    ],
)
def test_verdicts_are_read_from_what_models_write(reply, search, sure):
    assert read_assessment(reply) == Assessment(search, sure)


def test_the_stated_need_is_the_confidence_turned_the_right_way():
    assert Assessment(True, 0.9).need == 0.9
    assert Assessment(False, 0.9).need == pytest.approx(0.1)
    assert Assessment(False, None).need == 0.0
    assert Assessment(None, 0.9).need is None


def test_the_router_reports_its_own_cost():
    decision = self_router(lambda prompt: "No, 80%")("Which?")
    assert (decision.route, decision.confidence) == ("direct", 0.8)
    assert decision.cost == RouterCost(1, count_tokens(self_assessment_prompt("Which?")), count_tokens("No, 80%"))


def test_a_reply_without_a_verdict_searches():
    decision = self_router(lambda prompt: "Well.")("Which?")
    assert (decision.route, decision.confidence, decision.note) == ("search", None, "no verdict")
    assert needs([decision]) == [0.5]


def test_the_threshold_moves_the_route_and_not_the_confidence():
    assert self_router(lambda prompt: "yes, 60%", threshold=0.7)("Which?").route == "direct"
    decision = self_router(lambda prompt: "yes, 60%", threshold=0.6, search="look", direct="talk")("Which?")
    assert decision.route == "look"
    assert needs([decision], "look") == [0.6]
    with pytest.raises(ValueError, match="threshold"):
        self_router(never, threshold=1.5)


def test_the_share_of_yes_adds_the_variants_of_a_word():
    top = ((" Yes", 0.3), ("yes", 0.1), ("No", 0.2), ("Maybe", 0.4))
    assert yes_share(Completion("Maybe", (Token("Maybe", 0.4, top),))) == pytest.approx(0.4 / 0.6)
    assert yes_share(Completion("**No", (Token("**", 0.9, (("**", 0.9),)), Token("No", 0.8)))) == 0.0
    assert yes_share(Completion("Well", (Token("Well", 0.9),))) is None
    assert yes_share(Completion("")) is None


def test_a_router_by_probabilities_counts_what_the_model_reports():
    completion = Completion(
        "yes", (Token("yes", 0.6, (("yes", 0.6), ("no", 0.2))),), prompt_tokens=40, completion_tokens=1
    )
    decision = probability_router(lambda prompt: completion)("Which?")
    assert (decision.route, decision.cost) == ("search", RouterCost(1, 40, 1))
    assert decision.confidence == pytest.approx(0.75)


def test_self_assessment_is_judged_by_calibration_and_not_by_accuracy_alone():
    decisions = [self_router(lambda prompt: "yes, 90%")("Which?")] * 10
    report = assess(decisions, [True] * 7 + [False] * 3)
    assert report.accuracy == report.majority == 0.7
    assert report.error == pytest.approx(0.2)
    assert report.auc == 0.5
    assert [(part.n, part.accuracy) for part in report.bins] == [(10, 0.7)]


# --- token uncertainty


def said(*probabilities, text="x"):
    return Completion(text * len(probabilities), tuple(Token(text, p) for p in probabilities))


def test_lowest_and_mean_log_probability():
    assert log_probability(said(0.5, 0.125)) == pytest.approx(log(0.125))
    assert log_probability(said(0.5, 0.125), "mean") == pytest.approx(log(0.25))
    assert log_probability(Completion("a", (Token("a", 0.5), Token("", 1e-9), Token("\n", 1e-9)))) == pytest.approx(
        log(0.5)
    )
    assert log_probability(Completion("")) == -inf
    with pytest.raises(ValueError, match="measure"):
        log_probability(said(0.5), "median")
    with pytest.raises(ValueError, match="completion"):
        log_probability(Completion("words"))


def test_a_sure_answer_is_kept_and_an_unsure_one_is_looked_up():
    kept = uncertainty_answer("Which?", generate=lambda p: said(0.9, 0.8), retrieve=never, threshold=log(0.5))
    assert kept.answer == kept.first == "xx"
    assert kept.decision.confidence == pytest.approx(0.8)
    looked = uncertainty_answer(
        "Which?", generate=lambda p: said(0.9, 0.4), retrieve=lambda q: "found", threshold=log(0.5)
    )
    assert (looked.answer, looked.first, looked.decision.route) == ("found", "xx", "search")
    assert [step.action for step in looked.trace] == ["generate", "retrieve"]
    assert looked.decision.cost == RouterCost(1, count_tokens(closed_book_prompt("Which?")), 2)


def test_limits_of_the_threshold():
    assert uncertainty_router(lambda p: said(0.01), -inf)("Which?")[0].route == "direct"
    assert uncertainty_router(lambda p: said(0.99), inf)("Which?")[0].route == "search"
    assert uncertainty_router(lambda p: Completion(""), -inf)("Which?")[0].route == "search"
    with pytest.raises(ValueError, match="threshold"):
        uncertainty_router(never, float("nan"))
    assert uncertainty_answer(" ", generate=never, retrieve=never, threshold=0).answer == ""


rows = st.lists(
    st.tuples(
        st.sampled_from([-inf, -5.0, -2.0, -1.0, -0.5, 0.0]),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.sampled_from([0.0, 1.0]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=100, deadline=None)
@given(rows, st.sampled_from([0.0, 0.1, 0.6]))
def test_the_threshold_is_the_best_of_all_by_brute_force(table, price):
    confidences, direct, searched = zip(*table, strict=True)

    def earned(threshold):
        low = [c < threshold for c in confidences]
        return np.mean([s - price if under else d for under, d, s in zip(low, direct, searched, strict=True)])

    best = choose_threshold(confidences, direct, searched, price)
    tried = [-inf, inf, *(c + d for c in confidences if c > -inf for d in (-0.1, 0.1)), -6.0]
    assert best.mean == pytest.approx(max(earned(t) for t in tried))
    assert best.mean == pytest.approx(earned(best.value))
    assert best.retrieved == pytest.approx(np.mean([c < best.value for c in confidences]))


def test_ties_go_to_the_threshold_that_retrieves_less():
    assert choose_threshold([-1.0, -2.0], [1, 1], [1, 1]) == (-inf, 1.0, 0.0)


def test_detection_auc_agrees_with_scikit_learn_and_reads_low_confidence_as_wrong():
    confidences, wrong = [-0.1, -3.0, -2.0, -0.1, -inf], [False, True, False, True, True]
    finite = [max(c, -1e9) for c in confidences]
    assert detection_auc(confidences, wrong) == pytest.approx(roc_auc_score(wrong, [-c for c in finite]))
    assert detection_auc([-1.0], [True]) is None


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (([], [], []), "aligned"),
        (([-1.0], [1.0], []), "aligned"),
        (([0.5], [1], [1]), "confidences"),
        (([-1.0], [1], [1], -1), "price"),
    ],
)
def test_bad_thresholds_are_refused(arguments, name):
    with pytest.raises(ValueError, match=name):
        choose_threshold(*arguments)


@pytest.mark.model
def test_both_routers_run_on_the_local_model():
    from functools import partial

    from ragkit.models import Local

    model = Local(max_tokens=8)
    decision = probability_router(partial(model.generate, top=20))("What is 17 times 24?")
    assert decision.cost.calls == 1
    assert decision.cost.prompt_tokens > 40
    answer = uncertainty_answer(
        "What is the capital of France?", generate=model.generate, retrieve=never, threshold=-inf
    )
    assert 0 < answer.decision.confidence <= 1
    assert exp(log_probability(model.generate(closed_book_prompt("Who?")), "mean")) <= 1
    assert isinstance(decision, Decision)
