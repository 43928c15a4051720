"""Calibration, ROC and the trained router, each against scikit-learn or numbers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import auc, brier_score_loss, roc_auc_score, roc_curve
from sklearn.preprocessing import StandardScaler

from ragkit.corpus import load
from ragkit.loops.route_classifier import (
    best_routes,
    cross_validate,
    embedded,
    labels_by_class,
    surface,
    train_router,
)
from ragkit.loops.routes import (
    FEATURES,
    RouterCost,
    auc_interval,
    calibration,
    question_features,
    roc_auc,
    roc_points,
)

ROUTE_OF = {"no_retrieval": "direct", "theme": "global", "multi_hop": "loop", "relational": "loop"}
pairs = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 1.0]), st.booleans()), min_size=1, max_size=30)


def labelled(split):
    questions = load().select(split=split)
    return [q.text for q in questions], [ROUTE_OF.get(q.cls, "hybrid") for q in questions]


# --- calibration


@settings(max_examples=50, deadline=None)
@given(pairs)
def test_auc_and_brier_agree_with_scikit_learn(rows):
    scores, truth = zip(*rows, strict=True)
    report = calibration(scores, truth)
    if len(set(truth)) == 1:
        assert report.auc is None
    else:
        assert report.auc == pytest.approx(roc_auc_score(truth, scores))
    assert report.brier == pytest.approx(np.mean((np.array(scores) - np.array(truth)) ** 2))
    if len(set(truth)) == 2:
        assert report.brier == pytest.approx(brier_score_loss(truth, scores))
    assert report.majority >= 0.5
    assert sum(part.n for part in report.bins) == len(rows)


def test_expected_calibration_error_by_hand():
    # bins of width 0.5: (0, 0.5] holds 0.2 and 0.4, mean 0.3, half of them right; (0.5, 1] holds 0.8, right
    report = calibration([0.2, 0.4, 0.8], [True, False, True], bins=2)
    assert report.error == pytest.approx((2 * abs(0.5 - 0.3) + 1 * abs(1 - 0.8)) / 3)
    assert [(part.n, part.accuracy) for part in report.bins] == [(2, 0.5), (1, 1.0)]


@settings(max_examples=50, deadline=None)
@given(pairs, st.integers(1, 12))
def test_calibration_error_agrees_with_a_slow_sum_over_bins(rows, bins):
    total = 0.0
    for i in range(bins):
        inside = [(c, t) for c, t in rows if i / bins < c <= (i + 1) / bins or (i == 0 and c == 0)]
        if inside:
            total += abs(sum(t for _, t in inside) - sum(c for c, _ in inside))
    scores, truth = zip(*rows, strict=True)
    assert calibration(scores, truth, bins).error == pytest.approx(total / len(rows))


def test_accuracy_alone_hides_a_router_that_knows_nothing():
    always = calibration([0.9] * 20, [True] * 17 + [False] * 3)
    assert always.accuracy == always.majority == 0.85
    assert always.auc == 0.5


@pytest.mark.parametrize(
    ("given_", "name"),
    [
        (([0.5], []), "aligned"),
        (([], []), "no questions"),
        (([1.5], [True]), r"\[0, 1\]"),
        (([float("nan")], [True]), "finite"),
    ],
)
def test_bad_confidences_are_refused(given_, name):
    with pytest.raises(ValueError, match=name):
        calibration(*given_)


def test_bins_and_auc_of_one_kind():
    with pytest.raises(ValueError, match="bins"):
        calibration([0.5], [True], bins=0)
    assert roc_auc([1.0], [True]) is None


@settings(max_examples=50, deadline=None)
@given(pairs)
def test_the_curve_is_scikit_learns_and_its_area_is_the_auc(rows):
    scores, truth = zip(*rows, strict=True)
    if len(set(truth)) == 1:
        with pytest.raises(ValueError, match="both kinds"):
            roc_points(scores, truth)
        return
    points = roc_points(scores, truth)
    fall, rise, _ = roc_curve(truth, scores, drop_intermediate=False)
    assert np.array(points) == pytest.approx(np.column_stack([fall, rise]))
    assert auc(*zip(*points, strict=True)) == pytest.approx(roc_auc(scores, truth))


def test_the_interval_of_the_area_holds_it_and_shrinks_with_more_questions():
    rng = np.random.default_rng(1)
    widths = []
    for n in (20, 500):
        truth = [bool(i % 5) for i in range(n)]
        scores = (rng.normal(size=n) + np.array(truth)).tolist()
        found = auc_interval(scores, truth)
        assert found.mean == roc_auc(scores, truth)
        assert found.low < found.mean < found.high <= 1
        assert found == auc_interval(scores, truth), "seeded"
        widths.append(found.high - found.low)
    assert widths[1] < widths[0] / 2
    # one positive: it is missing from a third of the resamples, which have no area
    assert auc_interval([0.9, 0.1, 0.2], [True, False, False]).n == 3
    assert auc_interval([0.9], [True]) is None


def test_features_have_names_and_survive_any_text():
    for text in ("", "水", "What is 17 times 24?", "ORD-482913: what went wrong there?"):
        assert len(question_features(text)) == len(FEATURES)
    row = dict(zip(FEATURES, question_features("What is 17 times 24?"), strict=True))
    assert (row["numbers"], row["question word"], row["question mark"]) == (2.0, 1.0, 1.0)


# --- the classifier


@pytest.mark.parametrize("l2", [0.1, 1.0, 30.0])
def test_the_fit_equals_scikit_learns_logistic_regression(l2):
    questions, labels = labelled("dev")
    router = train_router(questions, labels, l2=l2)
    scaler = StandardScaler().fit(surface(questions))
    oracle = LogisticRegression(C=1 / l2, tol=1e-10, max_iter=20_000).fit(scaler.transform(surface(questions)), labels)
    tests, _ = labelled("test")
    expected = oracle.predict_proba(scaler.transform(surface(tests)))
    order = [list(oracle.classes_).index(route) for route in router.routes]
    assert router.probabilities(tests) == pytest.approx(expected[:, order], abs=2e-4)


def test_two_routes_and_one_route():
    two = train_router(["Write a poem", "Which kettle is red?", "Write a song"], ["direct", "search", "direct"])
    assert two("Write a joke").route == "direct"
    assert two.probabilities(["a", "b"]).sum(axis=1) == pytest.approx(1)
    one = train_router(["a", "b"], ["search", "search"])
    assert one("c").route == "search"
    assert one("c").confidence == pytest.approx(1)
    assert one.probabilities([]).shape == (0, 1)


def test_training_is_deterministic_and_reports_the_cost_of_a_decision():
    questions, labels = labelled("dev")
    first, second = train_router(questions, labels), train_router(questions, labels)
    assert np.array_equal(first.weights, second.weights)
    assert first("Which?").cost == RouterCost()
    vectors = train_router(
        ["a", "bb"], ["x", "y"], embedded(lambda texts: np.array([[len(t)] for t in texts], dtype=np.float32))
    )
    assert vectors("ccc").cost == RouterCost(embedded=1)
    assert RouterCost(1, 2, 3, 4) + RouterCost(1, 1, 1, 1) == RouterCost(2, 3, 4, 5)


def test_it_learns_more_than_the_majority_on_questions_it_has_not_seen():
    questions, labels = labelled("dev")
    tests, truth = labelled("test")
    router = train_router(questions, labels)
    right = np.mean([router(q).route == label for q, label in zip(tests, truth, strict=True)])
    assert right > max(truth.count(label) for label in set(truth)) / len(truth)


def test_cross_validation_never_judges_a_question_it_was_trained_on():
    questions, labels = [f"question {i}" for i in range(20)], ["a", "b"] * 10
    seen = []

    def spy(texts):
        seen.append(set(texts))
        return np.array([[float(t.split()[1])] for t in texts])

    decisions = cross_validate(questions, labels, spy, folds=4, seed=3)
    assert len(decisions) == 20
    training = [texts for texts in seen if len(texts) > 1]
    assert len(training) == 4
    held_out = [set(questions) - texts for texts in training]
    assert set().union(*held_out) == set(questions)
    assert all(len(fold) == 5 for fold in held_out)
    for fold in held_out:
        assert {labels[questions.index(q)] for q in fold} == {"a", "b"}
    assert [d.route for d in decisions] == [d.route for d in cross_validate(questions, labels, spy, folds=4, seed=3)]


def test_labels_come_from_the_class_and_a_table_says_which_route_is_best():
    table = {
        "hybrid": {"fact": 0.9, "theme": 0.1},
        "loop": {"fact": 0.9, "theme": 0.1},
        "global": {"fact": 0.3, "theme": 0.8},
    }
    routes = best_routes(table, {"hybrid": 1, "loop": 5, "global": 30})
    assert routes == {"fact": "hybrid", "theme": "global"}
    assert labels_by_class(["theme", "fact"], routes) == ["global", "hybrid"]
    assert best_routes({"b": {"x": 1.0}, "a": {"x": 1.0}}) == {"x": "b"}


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="labels"):
        train_router(["a"], [])
    with pytest.raises(ValueError, match="questions"):
        train_router([], [])
    with pytest.raises(ValueError, match="l2"):
        train_router(["a"], ["x"], l2=0)
    with pytest.raises(ValueError, match="featurise"):
        train_router(["a"], ["x"], lambda texts: np.ones(3))
    with pytest.raises(ValueError, match="folds"):
        cross_validate(["a"], ["x"], folds=1)
    with pytest.raises(ValueError, match="questions"):
        cross_validate(["a"], ["x"], folds=2)
    with pytest.raises(ValueError, match="route_of"):
        labels_by_class(["theme"], {})
    with pytest.raises(ValueError, match="scores"):
        best_routes({})
    with pytest.raises(ValueError, match="scores of 'b'"):
        best_routes({"a": {"x": 1.0}, "b": {"y": 1.0}})
