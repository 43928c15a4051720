"""A ReAct agent: one conversation in which a model thinks, calls a tool, reads what it found, and answers in the end.

Yao et al., *ReAct* (ICLR 2023), in its chat form: instructions and tools in the system turn, the model's turns and the
observations in turn after it. The loop trusts the model with the choice of tool and words, and with nothing else: steps
and tokens have caps, an observation that the model invents is cut off, a call that was made before is not made again,
an unknown tool or a bad argument comes back as a text, and every step is logged.

Left out: the few-shot trajectories of the paper (put them into ``instructions``), parallel calls, and memory.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ragkit.base import ChatLLM, Message
from ragkit.graph.replies import cut_to_tokens
from ragkit.loops.agent_result import AgentResult, AgentStep, ignored
from ragkit.loops.context import same_text
from ragkit.loops.react_parser import ERRORS, Turn, parse_turn
from ragkit.loops.tool_runs import Outcome, run_tool
from ragkit.loops.tools import Observation, Tool, toolbox
from ragkit.loops.trace import Trace, check_bound
from ragkit.text import count_tokens, fill

PROMPT = """\
Answer the user's question. These tools are at hand:
$tools

Write one turn at a time, in this form, and then stop:
Thought: what you need to know next
Action: one of $names
Action Input: the arguments as JSON, such as $example

The next message gives you the observation. Never write an observation yourself.
When you know the answer, write this instead:
Thought: how you know it
Final Answer: the answer in a few words$instructions"""

CLOSING = "You can use no more tools. Write your answer now, from what you have seen.\nFinal Answer:"


def system_prompt(tools: Sequence[Tool], instructions: str = "") -> str:
    """The first turn of the conversation."""
    box = toolbox(tools)
    first = dict.fromkeys(next(iter(box.values())).schema["properties"], "...")
    return fill(
        PROMPT,
        tools="\n".join(f"- {tool.signature}" for tool in box.values()),
        names=", ".join(box),
        example=json.dumps(first),
        instructions=f"\n\n{instructions.strip()}" if instructions.strip() else "",
    )


def agent(
    question: str,
    *,
    tools: Sequence[Tool],
    llm: ChatLLM,
    max_steps: int = 6,
    budget: int = 8_000,
    reply_tokens: int = 256,
    observation_tokens: int = 400,
    max_repeats: int = 2,
    instructions: str = "",
) -> AgentResult:
    """Answer ``question`` with ``tools``, in at most ``max_steps`` turns and one closing call.

    ``budget`` bounds the tokens of all calls together, those sent and those written: a call is made only if its prompt
    and ``reply_tokens`` more still fit (give the model that limit too). ``observation_tokens`` bounds one observation.
    The same call again (same tool, same arguments up to case and blanks) is not run; after ``max_repeats`` of them the
    loop ends. Without an answer by then, one closing call asks for it with what was seen, budget permitting. A blank
    question costs nothing. What tools raise is told to the model; what the model itself raises is raised here.
    """
    box = toolbox(tools)
    check_bound("max_steps", max_steps)
    check_bound("max_repeats", max_repeats)
    for name, value in (("budget", budget), ("reply_tokens", reply_tokens), ("observation_tokens", observation_tokens)):
        check_bound(name, value, 10_000_000)
    run = _Run(box, llm, budget, reply_tokens, observation_tokens)
    if not question.strip():
        return run.result("", "blank")
    run.messages = [
        {"role": "system", "content": system_prompt(tools, instructions)},
        {"role": "user", "content": question.strip()},
    ]
    for _ in range(max_steps):
        if not run.affordable(""):
            return run.result("", "budget")
        turn = run.step()
        if turn.final is not None:
            return run.result(turn.final, "answer")
        if run.faults["repeat"] >= max_repeats:
            break
    stopped = "repeat" if run.faults["repeat"] >= max_repeats else "steps"
    return run.result(run.close() if run.affordable(CLOSING) else "", stopped)


@dataclass
class _Run:
    """A conversation on its way."""

    box: dict[str, Tool]
    llm: ChatLLM
    budget: int
    reply_tokens: int
    observation_tokens: int
    messages: list[Message] = field(default_factory=list)
    steps: list[AgentStep] = field(default_factory=list)
    trace: Trace = field(default_factory=Trace)
    faults: Counter[str] = field(default_factory=Counter)
    made: dict[tuple[str, str], int] = field(default_factory=dict)

    def affordable(self, more: str) -> bool:
        spent = sum(step.prompt_tokens + step.completion_tokens for step in self.steps)
        return spent + _tokens(self.messages) + count_tokens(more) + self.reply_tokens <= self.budget

    def step(self) -> Turn:
        """One turn of the model, and what its tool says."""
        sent = _tokens(self.messages)
        reply = self.llm([dict(message) for message in self.messages])
        turn = parse_turn(reply)
        self.messages.append({"role": "assistant", "content": turn.kept or "(nothing)"})
        notes = [note for note, seen in (("invented", turn.invented), ("early answer", turn.dropped)) if seen]
        self.faults.update(notes)
        if turn.thought:
            self.trace.add("think", turn.thought)
        kind, observation = "answer", None
        if turn.final is not None:
            self.trace.add("answer", turn.final, note=", ".join(notes))
        else:
            kind, observation = self.observe(turn, notes)
            self.messages.append({"role": "user", "content": f"Observation: {observation.text}"})
        self.steps.append(AgentStep(reply, turn, kind, observation, sent, count_tokens(reply)))
        return turn

    def observe(self, turn: Turn, notes: list[str]) -> tuple[str, Observation]:
        """The observation for a turn that is no answer: a tool's, or what was wrong with the turn."""
        if turn.call is None:
            self.faults["unreadable"] += 1
            text = f"Error: {ERRORS[turn.error]}. Write Action and Action Input, or Final Answer."
            self.trace.add("error", text, note=", ".join([turn.error, *notes]))
            return "unreadable", Observation(text)
        asked = f"{turn.call.tool} {_arguments(turn.call.arguments)}"
        outcome = self.once(turn)
        if isinstance(outcome, Observation):
            self.faults["repeat"] += 1
            self.trace.add("repeat", asked, note=", ".join(notes))
            return "repeat", outcome
        if outcome.kind != "ok":
            self.faults[outcome.kind] += 1
        self.trace.add("call", asked, note=", ".join(notes))
        text = cut_to_tokens(outcome.observation.text, self.observation_tokens)
        if text != outcome.observation.text:
            text = f"{text} [cut]"
        self.trace.add("observe", text, outcome.observation.ids, note="" if outcome.kind == "ok" else outcome.kind)
        return outcome.kind, Observation(text, outcome.observation.ids)

    def once(self, turn: Turn) -> Outcome | Observation:
        """The outcome of a call that is new; a reminder for one that was made before."""
        assert turn.call is not None
        key = (same_text(turn.call.tool), same_text(_arguments(turn.call.arguments)))
        if key in self.made:
            text = f"You made this call before, in step {self.made[key]}: read its observation. Ask something else, or"
            return Observation(f"{text} write the Final Answer.")
        self.made[key] = len(self.steps) + 1
        return run_tool(self.box, turn.call)

    def close(self) -> str:
        """The closing call: its final answer, or its text where it has none."""
        self.messages.append({"role": "user", "content": CLOSING})
        sent = _tokens(self.messages)
        reply = self.llm([dict(message) for message in self.messages])
        turn = parse_turn(reply)
        answer = turn.final if turn.final is not None else "" if turn.call else turn.thought
        self.messages.append({"role": "assistant", "content": turn.kept or "(nothing)"})
        self.steps.append(AgentStep(reply, turn, "closing", None, sent, count_tokens(reply)))
        self.trace.add("answer", answer, note="closing call")
        return answer

    def result(self, answer: str, stopped: str) -> AgentResult:
        if answer and ignored(answer, self.steps):
            self.faults["ignored"] += 1
        if stopped != "answer":
            self.trace.add("stop", note=stopped)
        return AgentResult(answer, tuple(self.steps), tuple(self.messages), stopped, self.trace, +self.faults)


def _arguments(arguments: Any) -> str:
    """Arguments in one form, whatever the order of their keys."""
    if isinstance(arguments, str):
        return arguments
    plain = dict(arguments)
    if len(plain) == 1 and isinstance(only := next(iter(plain.values())), str):
        return only
    return re.sub(r"\s+", " ", json.dumps(plain, sort_keys=True, ensure_ascii=False, default=str))


def _tokens(messages: Sequence[Message]) -> int:
    return sum(count_tokens(message["content"]) for message in messages)
