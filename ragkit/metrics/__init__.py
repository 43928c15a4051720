"""Measures of retrieval, of answers and of judges, with intervals.

- ``ranking.py`` recall@k, all-recall@k, reciprocal rank, nDCG with linear and exponential gains
- ``answers.py`` exact match, token F1 by three benchmarks' rules, supporting facts, joint scores, abstention
- ``themes.py`` recall of known themes, rank correlation
- ``statistics.py`` bootstrap intervals, paired bootstrap
- ``evaluation.py`` a retriever over labelled questions, one row a question
- ``judging.py`` order bias of a judge of pairs
"""

from ragkit.metrics.answers import (
    Abstention,
    Scores,
    abstains,
    abstention_accuracy,
    answer_scores,
    exact_match,
    joint_scores,
    support_scores,
    token_f1,
)
from ragkit.metrics.evaluation import METRICS, Evaluation, Metric, Row, by_class, evaluate, evaluate_run
from ragkit.metrics.judging import JudgedPair, JudgeReport, PairJudge, Verdict, judge_pairs
from ragkit.metrics.ranking import all_recall_at_k, ndcg_at_k, recall_at_k, reciprocal_rank
from ragkit.metrics.statistics import Difference, Interval, bootstrap_interval, paired_bootstrap
from ragkit.metrics.themes import names_theme, rank_correlation, theme_recall

__all__ = [
    "METRICS",
    "Abstention",
    "Difference",
    "Evaluation",
    "Interval",
    "JudgeReport",
    "JudgedPair",
    "Metric",
    "PairJudge",
    "Row",
    "Scores",
    "Verdict",
    "abstains",
    "abstention_accuracy",
    "all_recall_at_k",
    "answer_scores",
    "bootstrap_interval",
    "by_class",
    "evaluate",
    "evaluate_run",
    "exact_match",
    "joint_scores",
    "judge_pairs",
    "names_theme",
    "ndcg_at_k",
    "paired_bootstrap",
    "rank_correlation",
    "recall_at_k",
    "reciprocal_rank",
    "support_scores",
    "theme_recall",
    "token_f1",
]
