"""The router over everything: the technique with the best expected score for the question's class, and fallbacks.

A table says how each technique does on each class of question, measured on the development split; a classifier gives
the probability of every class; the technique with the highest expected score, less a price for its cost, is asked. If
it fails (raises, finds nothing, abstains), the next one is, and the long context last. The comparison that counts is
with the best *single* technique, chosen on the development split as the router was, and the router's own cost is part
of the bill.

The rule is the expected-utility form of Adaptive-RAG's routing (Jeong et al., NAACL 2024), with a table in the place of
one label a class. Left out: learning while it runs (bandits).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from ragkit.loops.routes import RouterCost
from ragkit.loops.trace import Trace, check_bound
from ragkit.metrics import Difference, Interval, abstains, bootstrap_interval, paired_bootstrap

Classify = Callable[[str], Mapping[str, float]]
"""A question in, the probability of every class out; weights that do not sum to 1 are brought to it."""


@dataclass(frozen=True)
class RouterTable:
    """Scores by technique and class (0 to 1), and the cost of each technique in units of ``price``."""

    scores: Mapping[str, Mapping[str, float]]
    cost: Mapping[str, float] = field(default_factory=dict)
    price: float = 0.0

    def __post_init__(self) -> None:
        if not self.scores or not next(iter(self.scores.values())):
            raise ValueError("scores must hold at least one technique with one class")
        classes = set(next(iter(self.scores.values())))
        for name, row in self.scores.items():
            if set(row) != classes:
                raise ValueError(f"scores of {name!r} are of other classes than those of the first technique")
            if not all(isfinite(score) for score in row.values()):
                raise ValueError(f"scores of {name!r} hold a number that is not finite")
        if unknown := sorted(set(self.cost) - set(self.scores)):
            raise ValueError(f"cost names {unknown[0]!r}, which has no scores")
        if not (isfinite(self.price) and self.price >= 0):
            raise ValueError(f"price must be a finite number of at least 0, got {self.price!r}")

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(next(iter(self.scores.values())))

    def value(self, technique: str, classes: Mapping[str, float]) -> float:
        """The expected score of a technique, less ``price`` times its cost. A class without scores is a `ValueError`.

        All weights 0 count as no knowledge: every class alike.
        """
        row = self.scores[technique]
        if unknown := sorted(set(classes) - set(row)):
            raise ValueError(f"classify gave the class {unknown[0]!r}, which the table does not have")
        weights = classes if sum(classes.values()) > 0 else dict.fromkeys(row, 1.0)
        expected = sum(weight * row[cls] for cls, weight in weights.items()) / sum(weights.values())
        return expected - self.price * self.cost.get(technique, 0.0)

    def order(self, classes: Mapping[str, float]) -> list[str]:
        """Techniques from the best expected value to the worst; ties to the cheaper, then to the one given first.

        >>> table = RouterTable({"hybrid": {"fact": 0.9, "theme": 0.1}, "global": {"fact": 0.2, "theme": 0.7}})
        >>> table.order({"fact": 0.3, "theme": 0.7})
        ['global', 'hybrid']
        """
        return sorted(self.scores, key=lambda name: (-round(self.value(name, classes), 12), self.cost.get(name, 0.0)))

    def best_single(self, weights: Mapping[str, float] | None = None) -> str:
        """The technique to use for everything; ``weights`` are the classes' shares (default: alike)."""
        return self.order(dict.fromkeys(self.classes, 1.0) if weights is None else weights)[0]


@dataclass(frozen=True)
class Routed:
    """The answer, the technique that gave it (``""`` if none could), those tried in order, the router's cost, log."""

    answer: str
    technique: str
    tried: tuple[str, ...]
    cost: RouterCost
    trace: Trace


def answer_by_route(
    question: str,
    *,
    table: RouterTable,
    classify: Classify,
    techniques: Mapping[str, Callable[[str], str | None]],
    last_resort: str | None = None,
    max_tried: int = 3,
    cost: RouterCost | None = None,
) -> Routed:
    """Ask the technique with the best expected value, and the next ones where it fails; ``max_tried`` in all.

    A technique fails by raising, by giving None (it found nothing), or by abstaining. ``last_resort``, such as the long
    context, takes the last of the ``max_tried`` places, unless its turn comes before. If all fail the answer is the
    last abstention, or ``""``. ``cost`` is what one classification costs. A blank question costs nothing.
    """
    check_bound("max_tried", max_tried)
    if missing := sorted(set(table.scores) - set(techniques)):
        raise ValueError(f"techniques lacks {missing[0]!r}, which the table has")
    if last_resort is not None and last_resort not in techniques:
        raise ValueError(f"last_resort must be one of the techniques, got {last_resort!r}")
    trace, tried, last = Trace(), list[str](), ""
    if not question.strip():
        return Routed("", "", (), RouterCost(), trace)
    classes = classify(question)
    order = table.order(classes)
    trace.add("route", order[0], score=table.value(order[0], classes), note=f"class {_likeliest(classes)}")
    if last_resort is not None and last_resort not in order[:max_tried]:
        order = [*order[: max_tried - 1], last_resort]
    for name in order[:max_tried]:
        tried.append(name)
        try:
            answer = techniques[name](question)
        except Exception as error:  # a technique that breaks is one that found nothing
            trace.add("fail", name, note=str(error))
            continue
        if answer is not None and not abstains(answer):
            trace.add("answer", answer, note=name)
            return Routed(answer, name, tuple(tried), cost or RouterCost(), trace)
        trace.add("fail", name, note="nothing found" if answer is None else "abstained")
        last = answer or last
    return Routed(last, "", tuple(tried), cost or RouterCost(), trace)


def _likeliest(classes: Mapping[str, float]) -> str:
    return max(classes, key=lambda cls: classes[cls], default="unknown")


@dataclass(frozen=True)
class RouterReport:
    """The router on a test split beside the best single technique and the oracle that knows every outcome.

    ``gain`` is router less single, paired by question; its ``low`` above 0 says that routing pays in score. ``costs``
    are a question's mean costs, the router's own included.
    """

    router: Interval
    single: Interval
    oracle: Interval
    gain: Difference
    best_single: str
    costs: dict[str, float]
    chosen: dict[str, int]


def report(
    chosen: Sequence[str],
    outcomes: Mapping[str, Sequence[float]],
    best_single: str,
    *,
    cost: Mapping[str, float] | None = None,
    own_cost: float = 0.0,
    seed: int = 0,
) -> RouterReport:
    """Judge a router: ``chosen[i]`` is its technique for question i, ``outcomes[name][i]`` what each would have scored.

    ``best_single`` is chosen on the *development* split (`RouterTable.best_single`): the best one of the test split is
    known only afterwards. The oracle takes the best outcome of every question, which no router can pass.
    """
    if best_single not in outcomes:
        raise ValueError(f"best_single must be one of the outcomes {', '.join(outcomes)}, got {best_single!r}")
    for name, values in outcomes.items():
        if len(values) != len(chosen):
            raise ValueError(f"outcomes of {name!r} has {len(values)} values for {len(chosen)} questions")
    if unknown := sorted(set(chosen) - set(outcomes)):
        raise ValueError(f"chosen names {unknown[0]!r}, which has no outcomes")
    price = dict(cost or {})
    mine = [outcomes[name][i] for i, name in enumerate(chosen)]
    single = list(outcomes[best_single])
    ideal = [max(values[i] for values in outcomes.values()) for i in range(len(chosen))]
    spent = sum(price.get(name, 0.0) for name in chosen) / max(len(chosen), 1) + own_cost
    return RouterReport(
        router=bootstrap_interval(mine, seed),
        single=bootstrap_interval(single, seed),
        oracle=bootstrap_interval(ideal, seed),
        gain=paired_bootstrap(mine, single, seed),
        best_single=best_single,
        costs={"router": spent, best_single: price.get(best_single, 0.0)},
        chosen={name: list(chosen).count(name) for name in outcomes},
    )
