"""The loops that are compared, on the same tools: the agent, one call, the loop as a program, and handing over."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ragkit.base import LLM, ChatLLM, Retriever
from ragkit.loops.agent import agent
from ragkit.loops.agent_result import AgentResult
from ragkit.loops.fixed_loop import FixedResult, answer_prompt, fixed_loop
from ragkit.loops.specialists import HandOver, Specialist, choice_prompt, hand_over, model_choice
from ragkit.recorded import sql as database_chapter
from ragkit.recorded.agents.code_search import K, code
from ragkit.recorded.agents.control import in_code
from ragkit.recorded.agents.questions import SOURCES, Case
from ragkit.recorded.agents.tools import dated, documents, outside, toolbox
from ragkit.structured import prompt_text, text_to_sql

NOT_SAID = "If nothing at hand says it, the final answer is: The sources at hand do not say."
LIMITS: dict[str, Any] = {
    "max_steps": 4,
    "reply_tokens": 220,
    "observation_tokens": 300,
    "budget": 12_000,
    "instructions": NOT_SAID,
}
"""What the agent by hand is held to: four turns and a closing call."""
ROUNDS = 3
"""Searches of the fixed loop at most: in the first source, there again in other words, and in the next one."""
EXAMPLE = """\
A solved question, to show the form:
Question: How old was the pump in the yard in 2024?
Thought: I need the year in which the pump was built.
Action: search
Action Input: {"query": "pump in the yard built"}
Observation: [yard-notes/pump] Notes on the yard (2024-03-02): The pump was built in 1987 and painted in 2019.
Thought: From 1987 to 2024 are 37 years.
Final Answer: 37 years"""
"""What the 135M model is shown, as the ReAct paper shows solved questions."""
SMALL = {"max_steps": 3, "observation_tokens": 160, "instructions": f"{NOT_SAID}\n\n{EXAMPLE}"}
"""The 135M model's own limits: three turns and a closing call, shorter observations, and a solved question."""


def run_agent(case: Case, llm: ChatLLM, keep: bool = False, small: bool = False) -> AgentResult:
    """The ReAct loop on one question, under `LIMITS` or, for a ``small`` model, also under `SMALL`."""
    limits = {**LIMITS, **SMALL} if small else LIMITS
    return agent(case.text, tools=toolbox(keep), llm=llm, **limits)


def one_call(case: Case) -> str:
    """The prompt without a loop: one search in the documents with the question's own words, one answer."""
    return answer_prompt(case.text, "\n\n".join(map(dated, documents()(case.text, K))))


def run_fixed(case: Case, llm: LLM, keep: bool = False) -> FixedResult:
    """The loop as a program, on the same tools; ``database`` is one SELECT by the same model."""
    sources: dict[str, Retriever] = {"documents": documents(), "outside": outside(), "code": partial(code, keep=keep)}
    return fixed_loop(
        case.text,
        sources=sources,
        llm=llm,
        kinds=SOURCES,
        functions={"database": partial(_select, llm=llm)},
        k=K,
        max_rounds=ROUNDS,
        show=dated,
    )


def _select(question: str, llm: LLM) -> str:
    """What one SELECT over the three nearest tables gives; a statement that does not run is a `ValueError`."""
    tables = database_chapter.linker()(question, database_chapter.LINKED).tables
    shown = prompt_text(database_chapter.schema().only(tables))
    found = text_to_sql(question, database_chapter.database(), llm, shown, max_attempts=1).result
    if found is None or not found.rows:
        raise ValueError("the statement gave no rows")
    return found.text(limit=15)


def run_hand_over(case: Case, llm: LLM, keep: bool = False) -> HandOver:
    """The question handed to a specialist of the model's choice, and to one more where that one has no answer.

    A specialist searches its own source once and answers in one call; that of the database writes one SELECT.
    """
    sources: dict[str, Retriever] = {"documents": documents(), "outside": outside(), "code": partial(code, keep=keep)}

    def one(source: Retriever, question: str) -> str:
        return llm(answer_prompt(question, "\n\n".join(map(dated, source(question, K)))))

    asked = [Specialist(name, SOURCES[name], partial(one, source)) for name, source in sources.items()]
    asked.append(Specialist("database", SOURCES["database"], partial(_select, llm=llm)))
    choose = model_choice(llm, SOURCES, "documents")
    return hand_over(case.text, asked, choose, fallbacks=("documents", "outside"), max_asked=2)


LOOPS: dict[str, Callable[..., Any]] = {
    "agent": run_agent,
    "agent_shown": partial(run_agent, small=True),
    "agent_grammar": partial(run_agent, small=True),
    "agent_plain": lambda case, llm, keep=False: llm(one_call(case)),
    "agent_fixed": run_fixed,
    "agent_mixed": lambda case, llm, keep=False: run_fixed(case, in_code(llm), keep),
    "agent_choice": lambda case, llm, keep=False: llm(choice_prompt(case.text, SOURCES)),
    "agent_hand_over": run_hand_over,
}
"""Task -> what is run with a model. Those of `WRITTEN` take a conversation, the others a prompt."""
