"""What can be read off the runs of an agent: answers, counts of what happened, and a transcript."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragkit.loops.agent_result import AgentResult
from ragkit.loops.fixed_loop import FixedResult, read_yes
from ragkit.recorded.agents.code_search import K
from ragkit.recorded.agents.questions import Case
from ragkit.recorded.agents.tools import documents, toolbox


def outcome(result: Any) -> str:
    """The answer of any of the loops."""
    return result if isinstance(result, str) else str(result.answer)


def gathered(case: Case, result: Any) -> tuple[str, ...]:
    """Ids of what any of the loops found on the way to its answer, each once; one call has only its own search."""
    if isinstance(result, AgentResult):
        return result.ids
    hits = result.evidence if isinstance(result, FixedResult) else documents()(case.text, K)
    return tuple(hit.id for hit in hits)


def held(case: Case, result: Any) -> float:
    """Share of the question's relevant passages that a loop found; `ValueError` for a question that has none."""
    if not case.relevant:
        raise ValueError(f"case must have relevant passages, {case.id} has none")
    return len(set(case.relevant) & set(gathered(case, result))) / len(case.relevant)


def tally(results: Sequence[AgentResult]) -> dict[str, int]:
    """What happened in the turns of some runs, closing calls left out, and how many runs ended in which way.

    ``readable`` turns hold a call or an answer, ``ran`` ones a call that its tool accepted.
    """
    steps = [step for result in results for step in result.steps if step.kind != "closing"]
    kinds = Counter(step.kind for step in steps)
    return {
        "runs": len(results),
        "turns": len(steps),
        "readable": len(steps) - kinds["unreadable"],
        "ran": kinds["ok"],
        "refused": kinds["unknown tool"] + kinds["bad arguments"] + kinds["failed"],
        "invented": sum(bool(step.turn.invented) for step in steps),
        "repeated": kinds["repeat"],
        "ignored": sum(result.faults["ignored"] for result in results),
        "answered": sum(result.stopped == "answer" for result in results),
        "calls": sum(len(result.steps) for result in results),
        "tokens": sum(result.tokens for result in results),
    }


def chosen(results: Sequence[AgentResult]) -> Counter[str]:
    """How often which tool was called; a name that no tool has counts under "(no such tool)"."""
    names = {tool.name for tool in toolbox()}
    calls = [step.turn.call.tool for result in results for step in result.steps if step.turn.call]
    return Counter(name if name in names else "(no such tool)" for name in calls)


def transcript(result: AgentResult) -> str:
    """A run in the form of Search-R1, whose search engine here is five tools: a query names its tool first."""
    parts = []
    for step in result.steps:
        if step.turn.thought and step.turn.thought != step.turn.final:
            parts.append(f"<think>{step.turn.thought}</think>")
        if step.turn.call:
            values = step.turn.call.arguments
            asked = values if isinstance(values, str) else " ".join(map(str, values.values()))
            parts.append(f"<search>{step.turn.call.tool}: {asked}</search>")
        if step.observation:
            parts.append(f"<information>{step.observation.text}</information>")
    return "\n".join([*parts, *([f"<answer>{result.answer}</answer>"] if result.answer else [])])


def verdicts(runs: Mapping[Case, FixedResult]) -> Iterator[tuple[bool, bool]]:
    """Every check of the program: whether all relevant passages were before it, and whether it said yes.

    Questions on code and sums are left out, since no passages are labelled for them.
    """
    for case, result in runs.items():
        whole = False
        for step in result.trace if case.relevant or not (case.answers or case.names) else ():
            if step.action == "retrieve":
                whole = bool(case.relevant) and set(case.relevant) <= set(step.ids)
            elif step.action == "check":
                yield whole, bool(read_yes(step.text))
