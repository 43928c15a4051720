"""ragkit.metrics against pytrec_eval, scikit-learn, scipy, the benchmarks' scripts written out, and closed forms."""

import math
import re
import string
from collections import Counter

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import ndcg_score

from ragkit import metrics
from ragkit.base import Hit
from ragkit.corpus import Question

plain = settings(max_examples=50, deadline=None)
IDS = [f"d{i:02d}" for i in range(12)]
gains = st.dictionaries(st.sampled_from(IDS), st.integers(1, 3), min_size=1)
rankings = st.permutations(IDS).flatmap(lambda ids: st.integers(0, len(ids)).map(lambda n: ids[:n]))


def trec(ranked, relevant, measure):
    """What trec_eval says. Scores fall strictly, because it would re-sort ties by id descending."""
    run = {"q": {an_id: float(len(ranked) - i) for i, an_id in enumerate(ranked)}}
    result = pytrec_eval.RelevanceEvaluator({"q": relevant}, {measure}).evaluate(run)
    return result["q"][measure.replace(".", "_")]


# Ranking ------------------------------------------------------------------------------------------------------------


@plain
@given(rankings.filter(bool), gains, st.integers(1, 12))
def test_ranking_measures_agree_with_trec_eval(ranked, relevant, k):
    assert metrics.recall_at_k(ranked, relevant, k) == pytest.approx(trec(ranked, relevant, f"recall.{k}"))
    assert metrics.ndcg_at_k(ranked, relevant, k) == pytest.approx(trec(ranked, relevant, f"ndcg_cut.{k}"))
    assert metrics.reciprocal_rank(ranked, relevant) == pytest.approx(trec(ranked, relevant, "recip_rank"))


@plain
@given(st.permutations(IDS), gains, st.integers(1, 12))
def test_both_gains_of_ndcg_agree_with_sklearn(ranked, relevant, k):
    scores = np.array([[len(ranked) - i for i in range(len(ranked))]], dtype=float)
    linear = np.array([[relevant.get(an_id, 0) for an_id in ranked]], dtype=float)
    assert metrics.ndcg_at_k(ranked, relevant, k) == pytest.approx(ndcg_score(linear, scores, k=k))
    burges = ndcg_score(2**linear - 1, scores, k=k)
    assert metrics.ndcg_at_k(ranked, relevant, k, gain="exponential") == pytest.approx(burges)


def test_ndcg_by_hand_linear_and_exponential():
    relevant, ranked = {"a": 3, "b": 2, "c": 1}, ["b", "a", "x", "c"]
    dcg = 2 / math.log2(2) + 3 / math.log2(3) + 0 / math.log2(4) + 1 / math.log2(5)
    ideal = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    assert metrics.ndcg_at_k(ranked, relevant, 4) == pytest.approx(dcg / ideal)
    assert metrics.ndcg_at_k(ranked, relevant, 4) == pytest.approx(0.907936, abs=1e-6)
    assert metrics.ndcg_at_k(ranked, relevant, 4, gain="exponential") == pytest.approx(0.835448, abs=1e-6)


def test_tied_documents_keep_the_given_order_where_trec_eval_sorts_by_id_descending():
    tied = {"q": {"d1": 1.0, "d2": 1.0, "d3": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator({"q": {"d1": 1}}, {"recip_rank"}).evaluate(tied)["q"]["recip_rank"]
    assert theirs == pytest.approx(1 / 3)
    assert metrics.reciprocal_rank(["d1", "d2", "d3"], {"d1": 1}) == 1.0


def test_recall_of_all_differs_from_mean_recall():
    relevant = ["a", "b"]
    lists = [["a", "x"], ["a", "b"]]
    assert [metrics.recall_at_k(ids, relevant, 2) for ids in lists] == [0.5, 1.0]
    assert [metrics.all_recall_at_k(ids, relevant, 2) for ids in lists] == [0.0, 1.0]


def test_any_share_and_all_are_three_measures_though_each_is_called_recall_somewhere():
    """Found at all ("hit", "pass@k"), HippoRAG's share, and fast-graphrag's "perfect retrieval", on one list."""
    ranked, relevant = ["x", "a", "y", "b"], ["a", "b", "c", "d"]
    found_at_all = metrics.reciprocal_rank(ranked, relevant, 4) > 0
    share, every = metrics.recall_at_k(ranked, relevant, 4), metrics.all_recall_at_k(ranked, relevant, 4)
    assert (float(found_at_all), share, every) == (1.0, 0.5, 0.0)


@plain
@given(rankings, gains, st.integers(0, 14))
def test_ranking_measures_stay_in_bounds_and_all_implies_full(ranked, relevant, k):
    recall = metrics.recall_at_k(ranked, relevant, k)
    assert 0 <= recall <= 1
    assert metrics.all_recall_at_k(ranked, relevant, k) == float(recall == 1)
    assert 0 <= metrics.ndcg_at_k(ranked, relevant, k) <= 1 + 1e-12
    assert metrics.recall_at_k(ranked, relevant, k + 1) >= recall


def test_a_repeated_id_counts_once_and_takes_no_second_place():
    assert metrics.recall_at_k(["a", "a", "b"], ["a", "b"], 2) == 1.0
    assert metrics.ndcg_at_k(["a", "a"], ["a", "b"], 2) < 1.0


def test_k_beyond_the_list_k_of_zero_and_an_empty_list():
    assert metrics.recall_at_k(["a"], ["a"], 99) == 1.0
    assert metrics.recall_at_k(["a"], ["a"], 0) == metrics.ndcg_at_k(["a"], ["a"], 0) == 0.0
    assert metrics.reciprocal_rank([], ["a"]) == metrics.recall_at_k([], ["a"], 3) == 0.0


@pytest.mark.parametrize("relevant", [{}, [], {"a": 0}])
def test_no_relevant_id_is_undefined(relevant):
    with pytest.raises(ValueError, match="relevant"):
        metrics.recall_at_k(["a"], relevant, 3)


def test_ranking_arguments_are_named():
    with pytest.raises(ValueError, match="k must"):
        metrics.recall_at_k(["a"], ["a"], -1)
    with pytest.raises(ValueError, match="gain"):
        metrics.ndcg_at_k(["a"], ["a"], 1, gain="cubic")
    with pytest.raises(ValueError, match="string"):
        metrics.recall_at_k(["a"], "a", 1)


# Answers ------------------------------------------------------------------------------------------------------------


def squad_tokens(source):
    """Lower, delete punctuation, delete articles, squeeze: the steps of the official script, one at a time."""
    source = "".join(char for char in source.lower() if char not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", source).split()


def squad_f1(prediction, answer):
    left, right = squad_tokens(prediction), squad_tokens(answer)
    shared = sum((Counter(left) & Counter(right)).values())
    if shared == 0:
        return 0.0
    precision, recall = shared / len(left), shared / len(right)
    return 2 * precision * recall / (precision + recall)


answers = st.lists(st.sampled_from(["the", "blue", "Aster,", "two", "years.", "yes", "no", "a", "-"]), max_size=6).map(
    " ".join
)


@plain
@given(answers, answers)
def test_squad_f1_is_the_scripts(prediction, answer):
    assert metrics.token_f1(prediction, answer, rule="squad") == pytest.approx(squad_f1(prediction, answer))
    assert metrics.exact_match(prediction, answer) == float(squad_tokens(prediction) == squad_tokens(answer))


@plain
@given(answers, answers)
def test_the_three_rules_differ_only_in_their_corners(prediction, answer):
    left, right = " ".join(squad_tokens(prediction)), " ".join(squad_tokens(answer))
    plain_f1 = metrics.token_f1(prediction, answer, rule="squad")
    closed = left != right and bool({left, right} & {"yes", "no", "noanswer"})
    assert metrics.token_f1(prediction, answer) == (0.0 if closed else plain_f1)
    empty = not left or not right
    assert metrics.token_f1(prediction, answer, rule="musique") == (float(left == right) if empty else plain_f1)


def test_hotpotqa_gives_nothing_for_words_beside_yes_no_or_noanswer():
    assert metrics.token_f1("yes, both are", "yes") == 0.0
    assert metrics.token_f1("yes, both are", "yes", rule="squad") == pytest.approx(0.5)
    assert metrics.answer_scores("no idea", "no") == (0.0, 0.0, 0.0, 0.0)
    assert metrics.token_f1("Yes!", "yes") == 1.0


def test_empty_sides_musique_against_squad():
    assert metrics.exact_match("the", "") == 1.0
    assert metrics.token_f1("the", "", rule="musique") == 1.0
    assert metrics.token_f1("the", "", rule="squad") == metrics.token_f1("the", "") == 0.0
    assert metrics.token_f1("two years", "", rule="musique") == 0.0


def test_the_best_alias_counts():
    assert metrics.token_f1("the Osprey", ["Osprey lightship", "the Osprey"]) == 1.0
    assert metrics.exact_match("the Osprey", ["Osprey lightship", "the Osprey"]) == 1.0
    assert metrics.token_f1("the Osprey", "Osprey lightship") == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="answers"):
        metrics.token_f1("x", [])


def test_support_scores_over_title_and_sentence():
    gold = [("Aster", 0), ("Founder", 1)]
    scores = metrics.support_scores([("Aster", 0), ("Aster", 1), ("Founder", 1)], gold)
    assert scores == pytest.approx((0.0, 0.8, 2 / 3, 1.0))
    assert metrics.support_scores(gold, gold) == (1.0, 1.0, 1.0, 1.0)
    assert metrics.support_scores([], gold) == (0.0, 0.0, 0.0, 0.0)


def test_support_both_empty_is_one_for_musique_and_em_only_for_hotpotqa():
    assert metrics.support_scores([], [], rule="musique") == (1.0, 1.0, 1.0, 1.0)
    assert metrics.support_scores([], []) == (1.0, 0.0, 0.0, 0.0)


def test_joint_scores_multiply_precisions_and_recalls():
    answer = metrics.answer_scores("five years on vessel", "five years")  # precision 2/4, recall 1
    support = metrics.support_scores([("Aster", 0)], [("Aster", 0), ("Founder", 1)])  # precision 1, recall 1/2
    joint = metrics.joint_scores(answer, support)
    assert joint == pytest.approx((0.0, 0.5, 0.5, 0.5))
    assert joint.f1 != pytest.approx(answer.f1 * support.f1)  # not the product of the F1s
    nothing = metrics.Scores(0, 0, 0, 0)
    assert metrics.joint_scores(answer, nothing) == nothing


@pytest.mark.parametrize(
    ("response", "silent"),
    [
        ("I don’t know.", True),
        ("The passages do not say.", True),
        ("This is not stated in the text.", True),
        ("Not enough information.", True),
        ("noanswer", True),
        ("  ", True),
        ("Two years from delivery.", False),
        ("No, only the red one.", False),
        ("You do not need a receipt.", False),
    ],
)
def test_abstains(response, silent):
    assert metrics.abstains(response) is silent


def test_abstention_accuracy_by_hand():
    result = metrics.abstention_accuracy([True, True, False, False, False], [True, False, False, False, True])
    assert result == pytest.approx((3 / 5, 1 / 3, 1 / 2, 5))
    assert metrics.abstention_accuracy([False], [False]) == (1.0, 0.0, 0.0, 1)
    with pytest.raises(ValueError, match="abstained"):
        metrics.abstention_accuracy([True], [True, False])
    with pytest.raises(ValueError, match="empty"):
        metrics.abstention_accuracy([], [])


# Statistics ---------------------------------------------------------------------------------------------------------


def test_bootstrap_width_is_that_of_the_closed_form():
    values = np.random.default_rng(3).normal(size=400)
    interval = metrics.bootstrap_interval(values, resamples=4000)
    error = values.std() / math.sqrt(len(values))  # the standard error of a resampled mean, exactly
    assert interval.mean == pytest.approx(values.mean())
    assert interval.low == pytest.approx(values.mean() - 1.959964 * error, abs=0.15 * error)
    assert interval.high == pytest.approx(values.mean() + 1.959964 * error, abs=0.15 * error)


def test_bootstrap_agrees_with_scipy():
    values = np.random.default_rng(5).exponential(size=60)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=4000, method="percentile", random_state=1)
    ours = metrics.bootstrap_interval(values, resamples=4000)
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.06 * width)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.06 * width)


def test_bootstrap_interval_covers_the_true_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(11)
    covered = 0
    for trial in range(200):
        interval = metrics.bootstrap_interval(rng.binomial(1, 0.7, size=60), seed=trial, resamples=400)
        covered += interval.low <= 0.7 <= interval.high
    assert 0.88 <= covered / 200 <= 0.99


@plain
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.integers(0, 9))
def test_bootstrap_is_seeded_ordered_and_inside_the_values(values, seed):
    once, again = (metrics.bootstrap_interval(values, seed, resamples=50) for _ in range(2))
    assert once == again
    assert min(values) - 1e-9 <= once.low <= once.high <= max(values) + 1e-9
    assert once.n == len(values)


def test_bootstrap_of_a_constant_has_no_width():
    assert metrics.bootstrap_interval([0.5] * 9) == (0.5, 0.5, 0.5, 9)
    assert metrics.bootstrap_interval([1.0]) == (1.0, 1.0, 1.0, 1)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"values": []}, "values"),
        ({"values": [1.0, math.nan]}, "finite"),
        ({"values": [1.0], "level": 1.0}, "level"),
        ({"values": [1.0], "resamples": 0}, "resamples"),
    ],
)
def test_bootstrap_names_the_bad_argument(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        metrics.bootstrap_interval(**arguments)


def test_paired_bootstrap_sees_a_difference_that_separate_intervals_hide():
    rng = np.random.default_rng(2)
    hardness = rng.uniform(0, 1, 80)  # the same questions are hard for both
    a, b = hardness + 0.03 + rng.normal(0, 0.01, 80), hardness
    apart_a, apart_b = metrics.bootstrap_interval(a), metrics.bootstrap_interval(b)
    assert apart_a.low < apart_b.high, "their own intervals overlap"
    paired = metrics.paired_bootstrap(a, b)
    assert 0 < paired.low <= paired.mean <= paired.high
    assert paired.mean == pytest.approx(np.mean(a - b))
    assert paired.wins == 1.0


def test_paired_bootstrap_agrees_with_scipys_paired_one():
    rng = np.random.default_rng(7)
    a = rng.normal(size=50)
    b = 0.8 * a + rng.normal(0.1, 0.5, size=50)

    def gap(x, y, axis):
        return np.mean(x, axis=axis) - np.mean(y, axis=axis)

    theirs = stats.bootstrap((a, b), gap, paired=True, n_resamples=4000, method="percentile", random_state=1)
    ours, low, high = metrics.paired_bootstrap(a, b, resamples=4000), *theirs.confidence_interval
    assert (ours.low, ours.high) == pytest.approx((low, high), abs=0.06 * (high - low))
    apart = stats.bootstrap((a, b), gap, paired=False, n_resamples=4000, method="percentile", random_state=1)
    assert ours.high - ours.low < 0.8 * (apart.confidence_interval.high - apart.confidence_interval.low)


def test_paired_bootstrap_of_equals_and_of_swapped_sides():
    values = [0.0, 1.0, 0.5, 0.25]
    assert metrics.paired_bootstrap(values, values) == (0.0, 0.0, 0.0, 4, 0.5)
    ahead, behind = metrics.paired_bootstrap(values, [0] * 4), metrics.paired_bootstrap([0] * 4, values)
    assert (ahead.mean, ahead.low, ahead.high) == pytest.approx((-behind.mean, -behind.high, -behind.low))
    assert ahead.wins == pytest.approx(1 - behind.wins)
    with pytest.raises(ValueError, match="aligned"):
        metrics.paired_bootstrap([1, 2], [1])


# Themes -------------------------------------------------------------------------------------------------------------


def test_theme_recall_reads_words_in_a_row_stems_and_alternatives():
    themes = ["kettle shuts off early | cut-out trips", "late delivery", "app login"]
    assert metrics.theme_recall("Kettles shutting off early; late deliveries.", themes) == pytest.approx(2 / 3)
    assert metrics.theme_recall("The cut-out trips.", themes) == pytest.approx(1 / 3)
    assert metrics.theme_recall("It was early when the kettle went off; delivery, late.", themes) == 0.0
    assert metrics.theme_recall("", themes) == 0.0
    with pytest.raises(ValueError, match="themes"):
        metrics.theme_recall("x", [])


@plain
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=9))
def test_rank_correlation_is_scipys_with_ties(pairs):
    found = {f"t{i}": float(a) for i, (a, _) in enumerate(pairs)}
    truth = {f"t{i}": float(b) for i, (_, b) in enumerate(pairs)}
    for kind, theirs in (("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        ours = metrics.rank_correlation(found, truth, kind)
        if len(set(found.values())) == 1 or len(set(truth.values())) == 1:
            assert ours == 0.0
        else:
            assert ours == pytest.approx(theirs(list(found.values()), list(truth.values())).statistic, abs=1e-9)


def test_rank_correlation_limits_and_missing_themes():
    truth = {"a": 3.0, "b": 2.0, "c": 1.0}
    assert metrics.rank_correlation(truth, truth) == 1.0
    assert metrics.rank_correlation({"a": 1, "b": 2, "c": 3}, truth, "kendall") == -1.0
    assert metrics.rank_correlation({"a": 5, "b": 1, "unknown": 9}, truth) == 1.0  # c is missing and so 0
    assert metrics.rank_correlation({}, truth) == 0.0
    with pytest.raises(ValueError, match="truth"):
        metrics.rank_correlation({}, {"a": 1.0})
    with pytest.raises(ValueError, match="kind"):
        metrics.rank_correlation(truth, truth, "pearson")


# Evaluation ---------------------------------------------------------------------------------------------------------

QUESTIONS = [
    Question("q1", "single_fact", "dev", "first", relevant={"p1": 3}),
    Question("q2", "multi_hop", "dev", "second", relevant={"p1": 2, "p2": 3}),
    Question("q3", "no_answer", "test", "third"),
    Question("q4", "single_fact", "test", "fourth", relevant={"p9": 1}),
]


def test_evaluate_gives_a_row_a_question_and_names_those_left_out():
    asked = []

    def retriever(query, k):
        asked.append((query, k))
        return [Hit("p1", "", 1.0), Hit("p3", "", 0.5), Hit("p2", "", 0.1)][:k]

    result = metrics.evaluate(retriever, QUESTIONS, k=2, depth=3)
    assert asked == [("first", 3), ("second", 3), ("fourth", 3)]
    assert [row.id for row in result.rows] == ["q1", "q2", "q4"]
    assert result.left_out == ("q3",)
    assert result.classes == ("single_fact", "multi_hop")
    assert result.values("recall") == [1.0, 0.5, 0.0]
    assert result.values("all_recall") == [1.0, 0.0, 0.0]
    assert result.values("rr", "single_fact") == [1.0, 0.0]
    assert result.rows[1].hits == ("p1", "p3", "p2")
    assert result.interval("recall", "single_fact") == metrics.bootstrap_interval([1.0, 0.0])
    assert result.interval("ndcg").n == 3


def test_queries_missing_from_a_run_score_zero_where_pytrec_eval_omits_them():
    run = {"q1": ["p1"], "q2": ["p1", "p2"]}
    result = metrics.evaluate_run(run, QUESTIONS)
    assert [row.recall for row in result.rows] == [1.0, 1.0, 0.0]
    qrels = {q.id: dict(q.relevant) for q in QUESTIONS if q.relevant}
    scored = {query: {an_id: 1.0 - i / 10 for i, an_id in enumerate(ids)} for query, ids in run.items()}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recall.5"}).evaluate(scored)
    assert len(theirs) == 2
    assert np.mean([row["recall_5"] for row in theirs.values()]) == 1.0
    assert result.interval("recall").mean == pytest.approx(2 / 3)


def test_a_gain_is_the_paired_bootstrap_of_two_runs_and_by_class_sets_their_intervals_side_by_side():
    asked = [Question(f"q{n}", "vague" if n % 2 else "single_fact", "dev", "text", relevant={"p": 3}) for n in range(6)]
    found = metrics.evaluate_run({q.id: ["p"] for q in asked}, asked)
    some = metrics.evaluate_run({q.id: ["p"] for q in asked[:3]}, asked)
    assert found.gain(some) == metrics.paired_bootstrap([1] * 6, [1, 1, 1, 0, 0, 0])
    assert found.gain(some, cls="vague") == metrics.paired_bootstrap([1, 1, 1], [1, 0, 0])
    assert some.gain(found, "rr").mean == -0.5
    rows = metrics.by_class({"all": found, "some": some})
    assert [row["class"] for row in rows] == ["single fact", "vague", "all 6"]
    assert rows[1]["all"] == found.interval("recall", "vague")
    assert rows[1]["some"] == some.interval("recall", "vague")
    assert metrics.by_class({}) == []


def test_runs_over_other_questions_are_not_compared():
    asked = [Question(f"q{n}", "vague", "dev", "text", relevant={"p": 3}) for n in range(2)]
    one, other = metrics.evaluate_run({}, asked), metrics.evaluate_run({}, asked[::-1])
    with pytest.raises(ValueError, match="over must have scored the same questions"):
        one.gain(other)
    with pytest.raises(ValueError, match="results must have scored the same questions: one, other"):
        metrics.by_class({"one": one, "other": other})


def test_evaluation_refuses_what_it_cannot_mean():
    with pytest.raises(ValueError, match="q7"):
        metrics.evaluate_run({"q7": []}, QUESTIONS)
    with pytest.raises(ValueError, match="more than once"):
        metrics.evaluate_run({}, QUESTIONS + QUESTIONS[:1])
    result = metrics.evaluate_run({}, QUESTIONS)
    with pytest.raises(ValueError, match="metric"):
        result.interval("precision")
    with pytest.raises(ValueError, match="no_answer"):
        result.interval("recall", "no_answer")
    assert metrics.evaluate_run({}, []).rows == ()


# Judging ------------------------------------------------------------------------------------------------------------

PAIRS = [("q", "long answer here", "short"), ("q", "tiny", "a longer answer"), ("q", "same", "size")]


def test_a_fair_judge_agrees_with_itself():
    def longer(question, first, second):
        if len(first) == len(second):
            return "tie"
        return "first" if len(first) > len(second) else "second"

    report = metrics.judge_pairs(longer, PAIRS)
    assert [pair.outcome for pair in report.pairs] == ["a", "b", "tie"]
    assert (report.agreement, report.position_preference, report.win_rate, report.unreadable) == (1.0, 0.0, 0.5, 0)


@pytest.mark.parametrize(("always", "lean"), [("first", 1.0), ("second", -1.0)])
def test_a_judge_that_looks_only_at_the_place_is_found_out(always, lean):
    report = metrics.judge_pairs(lambda *_: always, PAIRS)
    assert (report.agreement, report.position_preference, report.win_rate) == (0.0, lean, 0.5)
    assert all(pair.outcome == "tie" and not pair.consistent for pair in report.pairs)


def test_a_judge_biased_by_chance_shows_its_bias():
    rng = np.random.default_rng(4)
    report = metrics.judge_pairs(lambda *_: "first" if rng.random() < 0.7 else "second", PAIRS[:1] * 3000)
    assert report.position_preference == pytest.approx(0.7 - 0.3, abs=0.03)
    assert report.agreement == pytest.approx(2 * 0.7 * 0.3, abs=0.03)  # "first" then "second", or the reverse


def test_unreadable_verdicts_are_counted_and_others_refused():
    report = metrics.judge_pairs(lambda *_: None, PAIRS)
    assert (report.unreadable, report.agreement, report.win_rate, report.position_preference) == (6, 0.0, 0.5, 0.0)
    with pytest.raises(ValueError, match="'A'"):
        metrics.judge_pairs(lambda *_: "A", PAIRS)
    with pytest.raises(ValueError, match="pairs"):
        metrics.judge_pairs(lambda *_: "tie", [])
