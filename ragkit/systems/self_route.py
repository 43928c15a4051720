"""Self-Route: answer from the retrieved passages or say that they do not suffice; only then read the long context.

Li et al., *Retrieval Augmented Generation or Long-Context LLMs? A Comprehensive Study and Hybrid Approach* (EMNLP 2024
Industry Track), section 4. The first prompt holds the retrieved passages and lets the model answer or decline, the
second, for what was declined, holds everything. A routed question costs *both* calls, so the method pays only if most
questions stop at the first. A model that never declines is plain retrieval; one that always does is the long context
with a surcharge.

Left out: cutting a long context that does not fit the window, which the paper's models do not need.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ragkit.base import LLM, Hit, Retriever, check_k
from ragkit.loops.context import Show, hit_text
from ragkit.loops.trace import Trace
from ragkit.metrics import abstains
from ragkit.systems.cost import Prices, call_price
from ragkit.text import count_tokens, fill

PROMPT = """\
Answer the question from the passages alone, in a few words.
If the question cannot be answered from these passages, write "unanswerable".

$passages

Question: $question
Answer:"""

LONG_PROMPT = """\
Answer the question from the text, in a few words.

$text

Question: $question
Answer:"""

_UNANSWERABLE = re.compile(
    r"\W*(?:(?:the )?answer(?: is)?\s*:?)?\W*(?:(?:the|this) question (?:is|remains) )?unanswerable\b", re.I
)


class Call(NamedTuple):
    """One call: which, and its tokens."""

    name: str
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class SelfRouteResult:
    """The answer, whether the long context was asked for, both calls, what was retrieved, and the log.

    ``stopped`` is ``retrieved``, ``long``, ``window`` (declined, and the text does not fit) or ``blank``.
    """

    answer: str
    routed: bool
    calls: tuple[Call, ...]
    hits: tuple[Hit, ...]
    stopped: str
    trace: Trace

    @property
    def prompt_tokens(self) -> int:
        """Prompt tokens of all calls: the first one is paid for also where the second follows."""
        return sum(call.prompt_tokens for call in self.calls)

    @property
    def completion_tokens(self) -> int:
        return sum(call.completion_tokens for call in self.calls)

    def price(self, prices: Prices) -> float:
        """The money for all calls, without caches."""
        return call_price(self.prompt_tokens, self.completion_tokens, prices=prices)


def self_route_prompt(question: str, hits: Sequence[Hit], show: Show = hit_text) -> str:
    """The first prompt: passages, and leave to decline."""
    passages = "\n\n".join(show(hit) for hit in hits) or "(no passage was found)"
    return fill(PROMPT, passages=passages, question=question.strip())


def long_prompt(question: str, text: str) -> str:
    """The second prompt: everything, the question last, so that the text before it can be cached."""
    return fill(LONG_PROMPT, text=text, question=question.strip())


def declines(reply: str) -> bool:
    """Whether the first reply says that the passages do not suffice: "unanswerable" at its head, or an abstention.

    Looking for the word anywhere would throw away a partial answer that mentions it.

    >>> declines("Unanswerable."), declines("Two years; for the red one it is unanswerable."), declines("")
    (True, False, True)
    """
    return bool(_UNANSWERABLE.match(reply)) or (abstains(reply) and "unanswerable" not in reply.lower())


def self_route(
    question: str,
    *,
    retriever: Retriever,
    llm: LLM,
    text: str | Callable[[str], str],
    long_llm: LLM | None = None,
    k: int = 5,
    window: int | None = None,
    show: Show = hit_text,
) -> SelfRouteResult:
    """Answer from ``k`` passages, or, where the model declines, from ``text``: at most two calls.

    ``text`` is the long context, or a function from the question to it; ``long_llm`` a model with a longer window
    (default: the same). ``window`` is its size in tokens of `ragkit.text.count_tokens`; a prompt beyond it is not sent,
    and the answer stays ``""``. Where nothing is retrieved the first call is skipped: there is nothing to decline. A
    blank question costs nothing.
    """
    check_k(k)
    trace, calls = Trace(), list[Call]()
    if not question.strip():
        return SelfRouteResult("", False, (), (), "blank", trace)
    hits = tuple(retriever(question, k)) if k else ()
    trace.add("retrieve", question, hits)
    if hits:
        reply = _call(llm, "retrieved", self_route_prompt(question, hits, show), calls)
        if not declines(reply):
            trace.add("answer", reply, hits, note="from passages")
            return SelfRouteResult(reply, False, tuple(calls), hits, "retrieved", trace)
        trace.add("decline", reply)
    prompt = long_prompt(question, text if isinstance(text, str) else text(question))
    if window is not None and count_tokens(prompt) > window:
        trace.add("stop", note=f"the long context does not fit {window} tokens")
        return SelfRouteResult("", True, tuple(calls), hits, "window", trace)
    answer = _call(long_llm or llm, "long", prompt, calls)
    trace.add("answer", answer, note="from the long context")
    return SelfRouteResult(answer, True, tuple(calls), hits, "long", trace)


def _call(llm: LLM, name: str, prompt: str, calls: list[Call]) -> str:
    reply = llm(prompt).strip()
    calls.append(Call(name, count_tokens(prompt), count_tokens(reply)))
    return reply


class Share(NamedTuple):
    """Over many questions: the share routed, prompt tokens a question, and those relative to the long context alone."""

    routed: float
    prompt_tokens: float
    of_long: float


def self_route_share(results: Sequence[SelfRouteResult], long_tokens: float) -> Share:
    """What Self-Route cost over ``results``, beside ``long_tokens`` a question for the long context alone.

    Above 1 in ``of_long`` it costs more than what it was to save.
    """
    if not results:
        raise ValueError("results must hold at least one question")
    if not long_tokens > 0:
        raise ValueError(f"long_tokens must be above 0, got {long_tokens!r}")
    mean = sum(result.prompt_tokens for result in results) / len(results)
    return Share(sum(result.routed for result in results) / len(results), mean, mean / long_tokens)
