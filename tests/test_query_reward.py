"""The trained choice of rewriter: closed forms, limits, and that it learns what the reward rewards."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from ragkit.query import reader_reward, reward_best, surface_features

REWRITERS = {"none": str, "upper": str.upper}
QUESTIONS = ["where is ORD-1 now", "what about it then", "and that one there", "show ORD-22 please", "why is this so"]


def reward(i, rewrite):
    """Upper case helps where a code is asked for and hurts elsewhere."""
    helps = "ORD" in QUESTIONS[i]
    return float(helps) if rewrite.isupper() else 0.6


def test_the_policy_learns_which_questions_to_rewrite_and_how():
    selector = reward_best(REWRITERS, QUESTIONS, reward, ridge=0.01)
    assert selector.choose("please find ORD-777 for me") == "upper"
    assert selector("please find ORD-777 for me") == "PLEASE FIND ORD-777 FOR ME"
    assert selector.choose("is that it") == "none"


def test_without_features_it_is_the_best_on_average():
    selector = reward_best(REWRITERS, QUESTIONS, reward, features=None)
    assert selector.mean_reward == pytest.approx({"none": 0.6, "upper": 0.4})
    assert selector.expected("anything at all") == pytest.approx(dict(selector.mean_reward))
    assert selector.choose("where is ORD-1") == "none"


def test_a_huge_penalty_is_best_on_average_too():
    selector = reward_best(REWRITERS, QUESTIONS, reward, ridge=1e12)
    assert selector.expected("where is ORD-1 ") == pytest.approx({"none": 0.6, "upper": 0.4}, abs=1e-6)


def test_the_fit_equals_scikit_learns_ridge():
    selector = reward_best(REWRITERS, QUESTIONS, reward, ridge=0.7)
    x = np.array([surface_features(question) for question in QUESTIONS])
    for name, rewrite in REWRITERS.items():
        oracle = Ridge(alpha=0.7).fit(x, [reward(i, rewrite(question)) for i, question in enumerate(QUESTIONS)])
        for question in ["Is ORD-9 red?", "it", ""]:
            assert selector.expected(question)[name] == pytest.approx(oracle.predict([surface_features(question)])[0])


def test_ties_go_to_the_rewriter_given_first():
    assert reward_best({"b": str, "a": str}, QUESTIONS, lambda i, rewrite: 1.0).choose("x") == "b"


def test_every_rewriter_is_run_once_on_every_question():
    seen = []
    reward_best(REWRITERS, QUESTIONS, lambda i, rewrite: seen.append((i, rewrite)) or 0.0)
    assert seen == [(i, rewrite(question)) for i, question in enumerate(QUESTIONS) for rewrite in (str, str.upper)]


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="rewriters"):
        reward_best({}, QUESTIONS, reward)
    with pytest.raises(ValueError, match="questions"):
        reward_best(REWRITERS, [], reward)
    with pytest.raises(ValueError, match="ridge"):
        reward_best(REWRITERS, QUESTIONS, reward, ridge=0)


def test_reader_reward_is_em_plus_f1_plus_whether_the_evidence_was_found():
    pytest.importorskip("ragkit.metrics")
    assert reader_reward("The red kettle", ["red kettle"], ["A Red Kettle costs 5."]) == pytest.approx(3)
    assert reader_reward("a lamp", ["red kettle"], []) == pytest.approx(-1)
    # one of two words right: precision 1/2, recall 1, F1 2/3; no exact match; the evidence was there
    assert reader_reward("kettle lid", ["urn", "kettle"], ["the kettle"]) == pytest.approx(2 / 3 + 1)
    with pytest.raises(ValueError, match="golds"):
        reader_reward("x", [], [])


def test_surface_features_see_codes_pointers_and_capitals():
    assert surface_features("Is it in Riverside under ORD-482913 ?") == [0.7, 1, 1, 2]
    assert surface_features("") == [0, 0, 0, 0]
