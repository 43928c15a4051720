"""A router that hands a question to specialists: one choice, one answer, and a second specialist where the first fails.

The pattern of LlamaIndex's ``RouterQueryEngine`` with ``LLMSingleSelector`` and of LangGraph's supervisor: each
specialist is described in a line, something chooses (a model, or a trained router), and the question goes there whole.
The agent of ``agent.py`` keeps the question and calls tools; here the question itself changes hands, once or a bounded
number of times. Left out: several specialists at once and a merge of their answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ragkit.base import LLM
from ragkit.loops.routes import Decision, RouterCost
from ragkit.loops.trace import Trace, check_bound
from ragkit.metrics import abstains
from ragkit.query.replies import one_line
from ragkit.text import count_tokens, fill

PROMPT = """\
Choose who shall answer the question. Reply with one name from the list.

$specialists

Question: $question
Name:"""


@dataclass(frozen=True)
class Specialist:
    """Who can be asked: a name, a line on what for, and the function that answers."""

    name: str
    description: str
    answer: Callable[[str], str]


@dataclass(frozen=True)
class HandOver:
    """The answer, who gave it (``""`` if nobody could), who was asked in order, the router's cost, and the log."""

    answer: str
    by: str
    asked: tuple[str, ...]
    cost: RouterCost
    trace: Trace


def choice_prompt(question: str, descriptions: Mapping[str, str]) -> str:
    """The prompt that asks for a name."""
    listed = "\n".join(f"{i}. {name}: {text}" for i, (name, text) in enumerate(descriptions.items(), start=1))
    return fill(PROMPT, specialists=listed, question=question.strip())


def read_choice(reply: str, names: Sequence[str]) -> str | None:
    """The name that a reply chooses: the first one mentioned, or its number in the list (from 1); None for neither.

    Case is ignored, a longer name is preferred to one inside it, and names count before numbers.

    >>> read_choice("2. **SQL**, because of the numbers", ["passages", "sql"]), read_choice("(1)", ["a", "b"])
    ('sql', 'a')
    >>> read_choice("I cannot say", ["passages", "sql"]) is None
    True
    """
    longest = sorted(names, key=len, reverse=True)
    pattern = "|".join(re.escape(name) for name in longest)
    found = re.search(rf"(?<!\w)(?:{pattern})(?!\w)", reply, re.I) if names else None
    if found:
        return next(name for name in names if name.casefold() == found.group().casefold())
    number = re.search(r"(?<![\w.])\d{1,3}(?![\w])", reply)
    place = int(number.group()) if number else 0
    return names[place - 1] if 1 <= place <= len(names) else None


def model_choice(llm: LLM, descriptions: Mapping[str, str], fallback: str) -> Callable[[str], Decision]:
    """A model as the router; a reply that chooses nobody gives ``fallback``, with a note that says so."""
    if fallback not in descriptions:
        raise ValueError(f"fallback must be one of {', '.join(descriptions) or 'no names'}, got {fallback!r}")

    def choose(question: str) -> Decision:
        prompt = choice_prompt(question, descriptions)
        reply = llm(prompt)
        name = read_choice(one_line(reply, ""), list(descriptions)) or read_choice(reply, list(descriptions))
        cost = RouterCost(1, count_tokens(prompt), count_tokens(reply))
        return Decision(name or fallback, None, cost, "" if name else f"no choice in {reply[:40]!r}")

    return choose


def hand_over(
    question: str,
    specialists: Sequence[Specialist],
    choose: Callable[[str], Decision],
    *,
    fallbacks: Sequence[str] = (),
    max_asked: int = 2,
) -> HandOver:
    """Let ``choose`` pick a specialist; where that one abstains or fails, ask the ``fallbacks`` in turn.

    At most ``max_asked`` are asked, nobody twice. An answer counts unless it is blank or says that it does not know
    (`ragkit.metrics.abstains`). If nobody answers, ``answer`` is the last abstention, or ``""``. A choice that names
    nobody is passed over like a specialist that failed. A blank question costs nothing.
    """
    check_bound("max_asked", max_asked)
    by_name = {specialist.name: specialist for specialist in specialists}
    if not by_name or len(by_name) < len(specialists):
        raise ValueError("specialists must hold at least one, each name once")
    if unknown := [name for name in fallbacks if name not in by_name]:
        raise ValueError(f"fallbacks names {unknown[0]!r}, who is no specialist")
    trace, asked, last = Trace(), list[str](), ""
    if not question.strip():
        return HandOver("", "", (), RouterCost(), trace)
    decision = choose(question)
    known = decision.route in by_name
    trace.add("route", decision.route, score=decision.confidence, note=decision.note if known else "no such specialist")
    for name in dict.fromkeys([*([decision.route] if known else []), *fallbacks]):
        if len(asked) == max_asked:
            break
        asked.append(name)
        try:
            answer = by_name[name].answer(question)
        except Exception as error:  # one specialist's failure is the next one's question
            trace.add("fail", name, note=str(error))
            continue
        last = answer
        if not abstains(answer):
            trace.add("answer", answer, note=name)
            return HandOver(answer, name, tuple(asked), decision.cost, trace)
        trace.add("abstain", answer, note=name)
    return HandOver(last, "", tuple(asked), decision.cost, trace)
