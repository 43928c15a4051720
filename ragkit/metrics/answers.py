"""Measures of an answer and of its stated support: exact match, token F1, supporting facts, joint, abstention.

From the evaluation scripts of SQuAD (Rajpurkar et al. 2016), HotpotQA (Yang et al. 2018) and MuSiQue (Trivedi et al.
2022, which uses the rule of SQuAD 2.0). They share the normalisation and differ in two corners, which ``rule`` selects:

- ``"squad"``: plain token overlap. Two empty sides give EM 1 and F1 0.
- ``"hotpotqa"`` (also 2WikiMultiHopQA): where either side is *yes*, *no* or *noanswer* and they differ, F1 is 0, so
  that "no" earns nothing from "no idea".
- ``"musique"`` (also SQuAD 2.0): where either side is empty after normalisation, F1 is 1 if both are, else 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from ragkit.text import normalize_answer

Rule: TypeAlias = Literal["squad", "hotpotqa", "musique"]


class Scores(NamedTuple):
    """Exact match (0.0 or 1.0), F1, precision and recall."""

    em: float
    f1: float
    precision: float
    recall: float


def exact_match(prediction: str, answers: str | Sequence[str]) -> float:
    """1.0 if the normalised prediction equals that of any answer, else 0.0.

    >>> exact_match("The Blue Aster!", ["red Aster", "blue Aster"])
    1.0
    """
    return float(normalize_answer(prediction) in {normalize_answer(answer) for answer in _listed(answers)})


def token_f1(prediction: str, answers: str | Sequence[str], rule: Rule = "hotpotqa") -> float:
    """The best token F1 over the answers (the gold answer and its aliases).

    >>> round(token_f1("five years on the vessel", "five years"), 4)
    0.6667
    >>> token_f1("no idea", "no"), token_f1("no idea", "no", rule="squad")
    (0.0, 0.6666666666666666)
    """
    return answer_scores(prediction, answers, rule).f1


def answer_scores(prediction: str, answers: str | Sequence[str], rule: Rule = "hotpotqa") -> Scores:
    """All four scores against the answer with the highest F1 (ties: the first); EM is over any answer."""
    if rule not in ("squad", "hotpotqa", "musique"):
        raise ValueError(f"rule must be 'squad', 'hotpotqa' or 'musique', got {rule!r}")
    best = max((_overlap(prediction, answer, rule) for answer in _listed(answers)), key=lambda scores: scores.f1)
    return best._replace(em=exact_match(prediction, answers))


def support_scores(
    predicted: Collection[Hashable], gold: Collection[Hashable], rule: Literal["hotpotqa", "musique"] = "hotpotqa"
) -> Scores:
    """Scores of predicted against gold support, compared as sets: ``(title, sentence)`` tuples, or passage ids.

    Both empty: EM is 1; F1, precision and recall are 0 by HotpotQA's script and 1 by MuSiQue's.

    >>> support_scores([("Aster", 0), ("Aster", 2)], [("Aster", 0), ("Founder", 1)]).f1
    0.5
    """
    if rule not in ("hotpotqa", "musique"):
        raise ValueError(f"rule must be 'hotpotqa' or 'musique', got {rule!r}")
    found, true = set(predicted), set(gold)
    if not found and not true:
        return Scores(1.0, *(3 * [1.0 if rule == "musique" else 0.0]))
    hits = len(found & true)
    return _scores(float(found == true), hits / len(found) if found else 0.0, hits / len(true) if true else 0.0)


def joint_scores(answer: Scores, support: Scores) -> Scores:
    """HotpotQA's joint measure: precisions, recalls and exact matches multiplied, F1 made from the products.

    >>> joint_scores(Scores(1, 1, 1, 1), Scores(0, 0.5, 0.5, 0.5)).f1
    0.5
    """
    return _scores(answer.em * support.em, answer.precision * support.precision, answer.recall * support.recall)


_ABSTAINS = re.compile(
    r"\b(?:(?:i|we) (?:do not|don't|can ?not|can't) (?:know|say|tell|answer|find)|no ?answer|not? enough information"
    r"|(?:is|are) not (?:given|stated|mentioned|provided|in the (?:passages?|text|context|documents?))"
    r"|(?:passages?|text|context|documents?) (?:do|does) not|(?:cannot|can't|could not) be answered|unanswerable"
    r"|insufficient (?:information|context)|(?:is|are) unknown)\b|^unknown\b"
)


def abstains(response: str) -> bool:
    """Whether a response says, in one of the usual ways, that it has no answer; a blank one does.

    >>> abstains("The passages do not say."), abstains("Two years."), abstains("")
    (True, False, True)
    """
    return not response.strip() or bool(_ABSTAINS.search(response.lower().replace("’", "'")))


class Abstention(NamedTuple):
    """``accuracy`` over all questions; ``wrong_silence``: share of the answerable ones left unanswered;
    ``wrong_answers``: share of the unanswerable ones answered. A share over no questions is 0.0."""

    accuracy: float
    wrong_silence: float
    wrong_answers: float
    n: int


def abstention_accuracy(abstained: Sequence[bool], unanswerable: Sequence[bool]) -> Abstention:
    """How often silence and speech were each right, question by question.

    >>> abstention_accuracy([True, False, True], [True, True, False])
    Abstention(accuracy=0.3333333333333333, wrong_silence=1.0, wrong_answers=0.5, n=3)
    """
    if len(abstained) != len(unanswerable):
        raise ValueError(f"abstained has {len(abstained)} entries, unanswerable has {len(unanswerable)}")
    if not abstained:
        raise ValueError("abstained is empty, so there is no share to give")
    pairs = list(zip(abstained, unanswerable, strict=True))
    silent = [said_nothing for said_nothing, none_there in pairs if not none_there]
    spoke = [not said_nothing for said_nothing, none_there in pairs if none_there]
    right = sum(said_nothing == none_there for said_nothing, none_there in pairs)
    return Abstention(right / len(pairs), _share(silent), _share(spoke), len(pairs))


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def _listed(answers: str | Sequence[str]) -> list[str]:
    listed = [answers] if isinstance(answers, str) else list(answers)
    if not listed:
        raise ValueError("answers is empty: give the gold answer, or [''] where there is none")
    return listed


def _overlap(prediction: str, answer: str, rule: Rule) -> Scores:
    left, right = normalize_answer(prediction), normalize_answer(answer)
    same = float(left == right)
    if rule == "hotpotqa" and left != right and {left, right} & {"yes", "no", "noanswer"}:
        return Scores(same, 0.0, 0.0, 0.0)
    if rule == "musique" and not (left and right):
        return Scores(same, same, same, same)
    shared = sum((Counter(left.split()) & Counter(right.split())).values())
    if not shared:
        return Scores(same, 0.0, 0.0, 0.0)
    return _scores(same, shared / len(left.split()), shared / len(right.split()))


def _scores(em: float, precision: float, recall: float) -> Scores:
    total = precision + recall
    return Scores(em, 2 * precision * recall / total if total else 0.0, precision, recall)
