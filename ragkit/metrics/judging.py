"""A model as a judge of pairs, and how much of its verdict is the order in which the pair was shown.

The two-order protocol of Zheng et al. (2023, *Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena*, section 3.4):
show each pair both ways, and let a win stand only where both verdicts name the same answer. Left out: the judge itself;
it comes in as a callable, so a stand-in, a recording or a model serves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple, TypeAlias

Verdict: TypeAlias = Literal["first", "second", "tie"]
PairJudge: TypeAlias = Callable[[str, str, str], Verdict | None]
"""``(question, first, second)`` in, which shown answer is better out; ``None`` where no verdict was readable."""


class JudgedPair(NamedTuple):
    """One pair: the verdicts on ``(a, b)`` and on ``(b, a)``, and ``"a"``, ``"b"`` or ``"tie"`` as the outcome."""

    as_given: Verdict | None
    swapped: Verdict | None
    outcome: Literal["a", "b", "tie"]
    consistent: bool


class JudgeReport(NamedTuple):
    """What the two orders say together.

    ``agreement``: share of pairs on which both orders name the same outcome. ``position_preference``: share of all
    readable verdicts for the first place minus that for the second; 0 for a fair judge, 1 for one that always says
    "first". ``win_rate``: of ``a``, ties counting half. ``unreadable``: verdicts that were ``None``.
    """

    pairs: tuple[JudgedPair, ...]
    agreement: float
    position_preference: float
    win_rate: float
    unreadable: int


def judge_pairs(judge: PairJudge, pairs: Iterable[tuple[str, str, str]]) -> JudgeReport:
    """Ask ``judge`` about every ``(question, a, b)`` in both orders: two calls a pair.

    A pair with an unreadable verdict is a tie and not consistent. No pairs, or another verdict, is a ``ValueError``.

    >>> report = judge_pairs(lambda question, first, second: "first", [("q", "x", "y")])
    >>> report.agreement, report.position_preference, report.win_rate
    (0.0, 1.0, 0.5)
    """
    judged = tuple(_judge_pair(judge, *pair) for pair in pairs)
    if not judged:
        raise ValueError("pairs is empty")
    verdicts = [verdict for pair in judged for verdict in (pair.as_given, pair.swapped)]
    readable = [verdict for verdict in verdicts if verdict is not None]
    lean = readable.count("first") - readable.count("second")
    points = sum({"a": 1.0, "b": 0.0, "tie": 0.5}[pair.outcome] for pair in judged)
    return JudgeReport(
        pairs=judged,
        agreement=sum(pair.consistent for pair in judged) / len(judged),
        position_preference=lean / len(readable) if readable else 0.0,
        win_rate=points / len(judged),
        unreadable=len(verdicts) - len(readable),
    )


def _judge_pair(judge: PairJudge, question: str, a: str, b: str) -> JudgedPair:
    as_given, swapped = judge(question, a, b), judge(question, b, a)
    for verdict in (as_given, swapped):
        if verdict not in ("first", "second", "tie", None):
            raise ValueError(f"judge must answer 'first', 'second', 'tie' or None, got {verdict!r}")
    winners: dict[tuple[Verdict | None, Verdict | None], Literal["a", "b", "tie"]] = {
        ("first", "second"): "a",
        ("second", "first"): "b",
        ("tie", "tie"): "tie",
    }
    outcome = winners.get((as_given, swapped))
    return JudgedPair(as_given, swapped, outcome or "tie", outcome is not None)
