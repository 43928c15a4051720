"""DRIFT search: a global look at the reports asks the first questions, local searches answer them and ask on.

Microsoft's *Dynamic Reasoning and Inference with Flexible Traversal* (microsoft/graphrag, ``query/structured_search/
drift_search``, 2024). The *primer* reads the nearest community reports in ``folds`` parts; each reply holds an
``intermediate_answer``, a ``score`` from 0 to 100 and ``follow_up_queries``. Then come ``depth`` rounds: at most
``per_round`` open questions are each answered from local notes, in the same JSON, and what they ask is opened in turn.
A last call *reduces* all answers to one.

The order is deterministic: by ``scorer`` where there is one, else the question asked first (the released code shuffles
when it has no scorer). Replies that are no JSON, and rounds without follow-ups, are ordinary cases (there they raise).
Which reports the primer reads is chosen by ``drift_primer``. Left out: parallel calls; those of one round are
independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from ragkit.base import LLM
from ragkit.graph.global_search import NO_ANSWER
from ragkit.graph.replies import cut_to_tokens, json_objects, read_score
from ragkit.graph.reports import Report
from ragkit.text import count_tokens, fill

_REPLY = """\
Reply with one JSON object:
{"intermediate_answer": "what they say about it", "score": 0 to 100 for how far that answers the question asked,
 "follow_up_queries": ["a narrower question", "another"]}
"""
PRIMER_PROMPT = (
    """\
Below are reports about parts of a collection. Answer the question as far as they allow, and ask what one would have to
look up in the collection to answer it fully: at most five questions, each understandable alone.

"""
    + _REPLY
    + """
Question: ${question}

Reports:
${reports}
"""
)
LOCAL_PROMPT = (
    """\
Answer the narrower question from the notes alone, with a view to the question that was asked first. If something is
still missing for that first question, ask for it: at most five questions, each understandable alone.

"""
    + _REPLY
    + """
First question: ${question}
Narrower question: ${query}

Notes:
${notes}
"""
)
REDUCE_PROMPT = """\
Answer the question from these partial answers, which a search over a collection gathered, the most helpful first.
Merge what says the same. Add nothing that they do not hold.

Question: ${question}

Partial answers:
${answers}
"""
_SEPARATOR = "\n\n---\n\n"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """One reply. ``round`` is 0 for the primer, whose ``query`` is the question itself.

    ``score`` is None where the reply had none; ``readable`` says whether it held the JSON that was asked for (if not,
    its text is the ``answer``). A query for which there are no notes costs no call and has the answer "".
    """

    round: int
    query: str
    answer: str
    score: float | None = None
    follow_ups: tuple[str, ...] = ()
    readable: bool = True


@dataclass(frozen=True, slots=True)
class DriftAnswer:
    """``answer`` with its trace: the steps in order, the questions nobody got to, and the calls to the model."""

    answer: str
    steps: tuple[Step, ...] = ()
    unanswered: tuple[str, ...] = ()
    calls: int = 0


def primer_prompt(question: str, reports: Sequence[str]) -> str:
    """The prompt for one fold of report texts."""
    return fill(PRIMER_PROMPT, question=question, reports=_SEPARATOR.join(reports))


def local_prompt(question: str, query: str, notes: str) -> str:
    """The prompt for one follow-up ``query`` under the ``question`` that was asked first."""
    return fill(LOCAL_PROMPT, question=question, query=query, notes=notes)


def reduce_prompt(question: str, answers: Sequence[str]) -> str:
    """The last prompt."""
    return fill(REDUCE_PROMPT, question=question, answers=_SEPARATOR.join(answers))


def split_folds(items: Sequence[T], folds: int) -> list[list[T]]:
    """Consecutive parts of nearly equal size; empty ones are left out, so few items make few folds.

    >>> split_folds([1, 2, 3, 4, 5], 2), split_folds([1], 3)
    ([[1, 2], [3, 4, 5]], [[1]])
    """
    if folds < 1:
        raise ValueError(f"folds must be at least 1, got {folds}")
    n = len(items)
    edges = [i * n // folds for i in range(folds + 1)]
    return [list(items[a:b]) for a, b in pairwise(edges) if b > a]


def read_step(reply: str, number: int, query: str) -> Step:
    """The step in a reply: the first JSON object that holds an answer or follow-ups.

    >>> read_step('{"intermediate_answer": "Red", "score": "80%", "follow_up_queries": ["Why?"]}', 0, "Which?")
    Step(round=0, query='Which?', answer='Red', score=80.0, follow_ups=('Why?',), readable=True)
    """
    for found in json_objects(reply):
        if not found.keys() & {"intermediate_answer", "response", "follow_up_queries"}:
            continue
        answer = found.get("intermediate_answer", found.get("response"))  # the released local prompt says "response"
        asked = found.get("follow_up_queries")
        asked = [asked] if isinstance(asked, str) else asked if isinstance(asked, list) else []
        texts = dict.fromkeys(" ".join(item.split()) for item in asked if isinstance(item, str))
        follow_ups = tuple(text for text in texts if text)
        return Step(number, query, str(answer or "").strip(), read_score(found.get("score")), follow_ups)
    return Step(number, query, reply.strip(), readable=False)


def drift(
    question: str,
    reports: Sequence[Report],
    notes: Callable[[str], str],
    llm: LLM,
    *,
    folds: int = 5,
    depth: int = 3,
    per_round: int = 20,
    reduce_budget: int = 2000,
    scorer: Callable[[str], float] | None = None,
) -> DriftAnswer:
    """Answer ``question`` from ``reports`` (``primer_reports``, best first) and local ``notes``.

    ``notes`` maps a query to what a local search gathers for it, "" for nothing, for instance
    ``lambda query: search.context(query).text``. ``scorer`` rates an open question, higher first, ties by the time of
    asking. A question is asked once, whatever its case and spacing. Defaults are the released code's: at most
    ``folds + depth * per_round + 1`` calls. Without reports the question itself is the first local query. Where
    nothing was answered, and for a blank question, the answer is ``NO_ANSWER``, without a last call.
    """
    for name, value, least in (("depth", depth, 0), ("per_round", per_round, 1), ("reduce_budget", reduce_budget, 1)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    parts = split_folds(reports, folds)
    if not question.strip():
        return DriftAnswer(NO_ANSWER)
    steps: list[Step] = []
    known: set[str] = set()
    unanswered: list[str] = []
    calls = 0

    def open_questions(queries: Sequence[str]) -> None:
        for query in queries:
            if (key := " ".join(query.casefold().split())) not in known:
                known.add(key)
                unanswered.append(query)

    if parts:
        known.add(" ".join(question.casefold().split()))
        steps = [read_step(llm(primer_prompt(question, [r.text for r in part])), 0, question) for part in parts]
        calls = len(steps)
        for step in steps:
            open_questions(step.follow_ups)
    else:
        open_questions([question])
    for number in range(1, depth + 1):
        ranked = sorted(unanswered, key=lambda query: -scorer(query)) if scorer else list(unanswered)  # stable
        for query in ranked[:per_round]:
            unanswered.remove(query)
            gathered = notes(query)
            calls += bool(gathered.strip())
            reply = llm(local_prompt(question, query, gathered)) if gathered.strip() else None
            steps.append(Step(number, query, "") if reply is None else read_step(reply, number, query))
            open_questions(steps[-1].follow_ups)
        if not unanswered:
            break
    kept = pack([step for step in steps if step.answer], reduce_budget)
    answer = llm(reduce_prompt(question, kept)).strip() if kept else NO_ANSWER
    return DriftAnswer(answer, tuple(steps), tuple(unanswered), calls + bool(kept))


def pack(steps: Sequence[Step], budget: int) -> list[str]:
    """Answers by score (those without one last, ties in order) until the budget, separators counted, is full.

    The first that does not fit ends the list; the very first is cut instead, so that an answer is never lost whole.
    """
    between = count_tokens(_SEPARATOR)
    ranked = sorted(steps, key=lambda step: -1.0 if step.score is None else step.score, reverse=True)  # stable
    kept: list[str] = []
    left = budget
    for step in ranked:
        left -= count_tokens(step.answer) + (between if kept else 0)
        if left < 0:
            break
        kept.append(step.answer)
    return kept or [cut_to_tokens(step.answer, budget) for step in ranked[:1]]
