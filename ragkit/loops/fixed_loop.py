"""The agent's task with the control flow in code: classify, retrieve, check, answer; the model only fills in.

What an agent leaves to the model (which tool, when to stop, what form) is written down here as a program, in the manner
of the workflows of Anthropic's *Building effective agents* (2024): a small model is asked three small questions, each
with an answer that can be read whatever it says. The price is that the program answers only what its author foresaw.

Left out: more than one kind of check, and learning the program from trajectories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ragkit.base import LLM, Hit, Retriever, check_k
from ragkit.loops.context import Show, cumulate, fit_newest, hit_text
from ragkit.loops.specialists import read_choice
from ragkit.loops.trace import Trace, check_bound
from ragkit.query.replies import one_line
from ragkit.text import fill

CLASSIFY_PROMPT = """\
What kind of message is this? Reply with one word from the list.

$kinds

Message: $question
Kind:"""

CHECK_PROMPT = """\
Do the passages say what the question asks? Reply yes or no.

$passages

Question: $question
Do they say it:"""

REPHRASE_PROMPT = """\
A search for the question below found nothing that answers it. Write the question in other words, on one line.

Question: $question
In other words:"""

ANSWER_PROMPT = """\
Answer the question from the passages in a few words.

$passages

Question: $question
Answer:"""

PLAIN_PROMPT = """\
$question"""

UNKNOWN = "The sources at hand do not say."
DIRECT = "direct"


@dataclass(frozen=True)
class FixedResult:
    """The answer, the kind of question, the evidence, whether the check passed (None: there was none), calls, log."""

    answer: str
    kind: str
    evidence: tuple[Hit, ...]
    supported: bool | None
    calls: int
    trace: Trace


def classify_prompt(question: str, kinds: Mapping[str, str]) -> str:
    """The prompt that asks for a kind; ``kinds`` maps each to a line on what it means."""
    listed = "\n".join(f"{name}: {text}" for name, text in kinds.items())
    return fill(CLASSIFY_PROMPT, kinds=listed, question=question.strip())


def check_prompt(question: str, passages: str) -> str:
    """The prompt that asks whether the passages suffice."""
    return fill(CHECK_PROMPT, question=question.strip(), passages=passages or "(no passage was found)")


def rephrase_prompt(question: str) -> str:
    """The prompt that asks for other words."""
    return fill(REPHRASE_PROMPT, question=question.strip())


def answer_prompt(question: str, passages: str) -> str:
    """The prompt that asks for the answer."""
    return fill(ANSWER_PROMPT, question=question.strip(), passages=passages or "(no passage was found)")


def read_yes(reply: str) -> bool | None:
    """Yes or no, whichever is said first; None for neither.

    >>> read_yes("**No**, they do not."), read_yes("Yes"), read_yes("Perhaps")
    (False, True, None)
    """
    choice = read_choice(reply, ["yes", "no"])
    mentioned = choice is not None and choice in reply.casefold()
    return choice == "yes" if mentioned else None


def fixed_loop(
    question: str,
    *,
    sources: Mapping[str, Retriever],
    llm: LLM,
    kinds: Mapping[str, str],
    fallback: str | None = None,
    functions: Mapping[str, Callable[[str], str]] | None = None,
    k: int = 4,
    max_rounds: int = 2,
    budget: int = 1024,
    show: Show = hit_text,
) -> FixedResult:
    """Answer ``question`` by a program of at most ``1 + 3 * max_rounds`` calls.

    1. *Classify* into one of ``kinds`` (name -> description). Each kind is a key of ``sources`` (a retriever), of
       ``functions`` (answers by itself, such as a calculator or SQL), or is ``direct``: answered by the model without
       a search. An unreadable reply is ``fallback`` (default: the first source).
    2. *Retrieve* ``k`` passages from that source, *check* by a yes or no. On no, the question is put in other words
       and searched again, in the source and then in the next ones, ``max_rounds`` in all.
    3. *Answer* from the evidence of all rounds, the newest first to survive ``budget`` tokens; when no check passed the
       answer is ``UNKNOWN``. An unreadable check counts as no.

    A function that raises counts as one that found nothing: the fallback source is searched.
    """
    check_k(k)
    check_bound("max_rounds", max_rounds)
    ready = dict(functions or {})
    if not sources:
        raise ValueError("sources must hold at least one retriever")
    if homeless := [kind for kind in kinds if kind not in sources and kind not in ready and kind != DIRECT]:
        raise ValueError(f"kinds holds {homeless[0]!r}, which is no source, no function and not {DIRECT!r}")
    default = next(iter(sources)) if fallback is None else fallback
    if default not in sources:
        raise ValueError(f"fallback must be one of the sources {', '.join(sources)}, got {fallback!r}")
    program = _Program(question.strip(), llm, Trace())
    if not question.strip():
        return FixedResult("", "", (), None, 0, program.trace)
    kind = read_choice(program.ask("classify", classify_prompt(question, kinds)), list(kinds)) or default
    if kind == DIRECT:
        return program.result(program.ask("answer", fill(PLAIN_PROMPT, question=question.strip())), kind)
    if kind in ready:
        try:
            answer = ready[kind](question)
            program.trace.add("function", answer, note=kind)
            return program.result(answer, kind)
        except Exception as error:  # whatever it raises, the program goes on
            program.trace.add("function", note=f"{kind} failed: {error}")
    start = kind if kind in sources else default
    order = [start, *(name for name in sources if name != start)]
    evidence, supported = _gather(program, order, sources, k, max_rounds, budget, show)
    if not supported:
        program.trace.add("answer", UNKNOWN, note="no check passed")
        return program.result(UNKNOWN, kind, evidence, False)
    answer = program.ask("answer", answer_prompt(question, _passages(evidence, budget, show)))
    return program.result(answer, kind, evidence, True)


@dataclass
class _Program:
    """The question, the model, and the count of its calls."""

    question: str
    llm: LLM
    trace: Trace
    calls: int = 0

    def ask(self, action: str, prompt: str) -> str:
        self.calls += 1
        reply = self.llm(prompt).strip()
        line = reply if action == "answer" else one_line(reply, "")
        self.trace.add(action, line)
        return line

    def result(
        self, answer: str, kind: str, evidence: Sequence[Hit] = (), supported: bool | None = None
    ) -> FixedResult:
        return FixedResult(answer, kind, tuple(evidence), supported, self.calls, self.trace)


def _gather(
    program: _Program,
    order: Sequence[str],
    sources: Mapping[str, Retriever],
    k: int,
    max_rounds: int,
    budget: int,
    show: Show,
) -> tuple[list[Hit], bool]:
    """Rounds of search and check; the evidence, newest last, and whether a check passed."""
    evidence, query = list[Hit](), program.question
    for turn in range(max_rounds):
        source = order[0] if turn < 2 else order[min(turn - 1, len(order) - 1)]
        found = sources[source](query, k)
        program.trace.add("retrieve", query, found, note=source)
        evidence = cumulate(evidence, found, len(evidence) + k)
        if found and read_yes(program.ask("check", check_prompt(program.question, _passages(found, budget, show)))):
            return evidence, True
        if turn + 1 < max_rounds and turn == 0:
            query = program.ask("rephrase", rephrase_prompt(program.question)) or program.question
    return evidence, False


def _passages(hits: Sequence[Hit], budget: int, show: Show) -> str:
    return fit_newest([show(hit) for hit in hits], budget)
