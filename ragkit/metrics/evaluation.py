"""Running a retriever over labelled questions, with one row a question and intervals over any class.

Two habits of the field's tools are avoided: pytrec_eval leaves out queries that are missing from a run, which lifts
the mean (here they score 0), and it re-sorts ties by id (here the order given stands). Questions without a relevant
passage have no retrieval score at all; they are counted and named, not averaged in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from ragkit.base import Retriever, check_k, check_unique
from ragkit.corpus.records import Question
from ragkit.metrics.ranking import all_recall_at_k, ndcg_at_k, recall_at_k, reciprocal_rank
from ragkit.metrics.statistics import Difference, Interval, bootstrap_interval, paired_bootstrap

Metric: TypeAlias = Literal["recall", "all_recall", "rr", "ndcg"]
METRICS: tuple[Metric, ...] = ("recall", "all_recall", "rr", "ndcg")


class Row(NamedTuple):
    """One question: its scores, and the ids that were found, best first."""

    id: str
    cls: str
    split: str
    recall: float
    all_recall: float
    rr: float
    ndcg: float
    hits: tuple[str, ...]


class Evaluation(NamedTuple):
    """Rows in the order of the questions. ``recall``, ``all_recall`` and ``ndcg`` are at ``k``, ``rr`` at ``depth``.

    ``left_out`` names the questions without relevant passages.
    """

    rows: tuple[Row, ...]
    k: int
    depth: int
    left_out: tuple[str, ...]

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that have rows, in order of first appearance."""
        return tuple(dict.fromkeys(row.cls for row in self.rows))

    def values(self, metric: Metric, cls: str | None = None) -> list[float]:
        """One value a question, in row order, for one class or all; what the bootstrap resamples."""
        if metric not in METRICS:
            raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")
        return [float(getattr(row, metric)) for row in self.rows if cls in (None, row.cls)]

    def interval(self, metric: Metric, cls: str | None = None, seed: int = 0) -> Interval:
        """Mean and 95% bootstrap interval of one metric; a class without rows is a ``ValueError``."""
        values = self.values(metric, cls)
        if not values:
            raise ValueError(f"cls has no scored question: {cls!r}" if cls else "no question was scored")
        return bootstrap_interval(values, seed)

    def gain(self, over: Evaluation, metric: Metric = "recall", cls: str | None = None, seed: int = 0) -> Difference:
        """Mean and 95% interval of what this run gains question by question; other questions are a ``ValueError``."""
        if [row.id for row in self.rows] != [row.id for row in over.rows]:
            raise ValueError("over must have scored the same questions in the same order")
        return paired_bootstrap(self.values(metric, cls), over.values(metric, cls), seed)


def evaluate(retriever: Retriever, questions: Sequence[Question], k: int = 5, depth: int = 10) -> Evaluation:
    """Ask ``retriever`` for ``max(k, depth)`` hits to every labelled question and score the lists.

    The query is the question's text; who rewrites queries wraps the retriever. nDCG uses linear gains.

    >>> from ragkit.base import Hit
    >>> question = Question("q1", "single_fact", "dev", "warranty?", relevant={"p2": 3})
    >>> result = evaluate(lambda query, k: [Hit("p1", "", 2.0), Hit("p2", "", 1.0)], [question], k=1)
    >>> result.rows[0].recall, result.rows[0].rr
    (0.0, 0.5)
    """
    check_k(k)
    check_k(depth)
    labelled = [question for question in questions if _is_labelled(question)]
    run = {question.id: [hit.id for hit in retriever(question.text, max(k, depth))] for question in labelled}
    return evaluate_run(run, questions, k, depth)


def evaluate_run(
    run: Mapping[str, Sequence[str]], questions: Sequence[Question], k: int = 5, depth: int = 10
) -> Evaluation:
    """Score stored rankings: question id to passage ids, best first. A question missing from ``run`` scores 0.

    A run for a question that is not asked is a ``ValueError``: it is a mistyped id more often than not.
    """
    check_k(k)
    check_k(depth)
    check_unique([question.id for question in questions], "questions")
    if unknown := sorted(set(run) - {question.id for question in questions}):
        raise ValueError(f"run holds results for questions that are not given: {', '.join(unknown[:5])}")
    rows = []
    for question in questions:
        if not _is_labelled(question):
            continue
        ranked, relevant = run.get(question.id, ()), question.relevant
        rows.append(
            Row(
                id=question.id,
                cls=question.cls,
                split=question.split,
                recall=recall_at_k(ranked, relevant, k),
                all_recall=all_recall_at_k(ranked, relevant, k),
                rr=reciprocal_rank(ranked, relevant, depth),
                ndcg=ndcg_at_k(ranked, relevant, k),
                hits=tuple(ranked),
            )
        )
    left_out = tuple(question.id for question in questions if not _is_labelled(question))
    return Evaluation(tuple(rows), k, depth, left_out)


def by_class(results: Mapping[str, Evaluation], metric: Metric = "recall") -> list[dict[str, str | Interval]]:
    """Table rows: one a question class and one for all, with an interval for each run of ``results``.

    The runs must have scored the same questions; that they did not is a ``ValueError``.

    >>> question = Question("q1", "single_fact", "dev", "warranty?", relevant={"p2": 3})
    >>> rows = by_class({"BM25": evaluate_run({"q1": ["p2"]}, [question])})
    >>> [(row["class"], row["BM25"].mean) for row in rows]
    [('single fact', 1.0), ('all 1', 1.0)]
    """
    if not results:
        return []
    asked = {tuple(row.id for row in result.rows) for result in results.values()}
    if len(asked) > 1:
        raise ValueError(f"results must have scored the same questions: {', '.join(results)}")
    first = next(iter(results.values()))
    groups: dict[str, str | None] = {cls.replace("_", " "): cls for cls in first.classes}
    groups[f"all {len(first.rows)}"] = None
    return [
        {"class": name} | {run: result.interval(metric, cls) for run, result in results.items()}
        for name, cls in groups.items()
    ]


def _is_labelled(question: Question) -> bool:
    return any(gain > 0 for gain in question.relevant.values())
