"""Iterative decomposition: ask a sub-question, search, answer it, and ask the next one with that answer in hand.

The sequential form of Press et al., *Measuring and Narrowing the Compositionality Gap* (Findings of EMNLP 2023):
self-ask with a search engine, section 3, where "Follow up:" and "Intermediate answer:" alternate. A second hop such as
"Where did *she* grow up?" can be searched only once the first is answered, which `ragkit.query.decompose` cannot do.
Here each part is a prompt of its own instead of one few-shot text that the search engine writes into.

Left out: the few-shot examples of the paper, and going back to a hop that was answered wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragkit.base import LLM, Hit, Retriever, check_k
from ragkit.loops.context import Show, cumulate, fit_newest, hit_text, same_text
from ragkit.loops.trace import Trace, check_bound
from ragkit.query.replies import one_line
from ragkit.search.fusion import interleave_hits
from ragkit.text import fill

PROMPT = """\
The question below needs facts that are looked up one after the other. What was found so far stands under Known.
Write the one question to look up next. It must be understandable alone: put names found so far in the place of
"she", "it" or "the company". If Known answers the question, write DONE.

Question: $question
Known:
$known
New question:"""

ANSWER_PROMPT = """\
Answer the question from the passages in a few words. If they do not say, write unknown.

$passages

Question: $question
Answer:"""

FINAL_PROMPT = """\
Answer the question from the passages and from what is known, in a few words. If they do not suffice, write unknown.

$passages

Known:
$known
Question: $question
Answer:"""

_DONE = re.compile(r"\W*(?:done|none|finished|nothing|no (?:more|further|other) questions?(?: needed)?)\W*", re.I)


@dataclass(frozen=True)
class Hop:
    """A sub-question, what a search with it found, and its answer; ``shown`` is the hop as later prompts show it."""

    question: str
    answer: str
    hits: tuple[Hit, ...]

    @property
    def shown(self) -> str:
        return f"- {self.question} {self.answer}"


@dataclass(frozen=True)
class IterativeResult:
    """The answer, the hops in order, the evidence of all hops without repeats, why it stopped, and the log.

    ``stopped`` is ``done`` (the model said so), ``repeat`` (it asked the same again), ``bound`` or ``blank``.
    """

    answer: str
    hops: tuple[Hop, ...]
    evidence: tuple[Hit, ...]
    stopped: str
    trace: Trace


def next_question_prompt(question: str, hops: Sequence[Hop], budget: int = 512) -> str:
    """The prompt that asks for the next sub-question; what is known is cut to ``budget`` tokens, newest hop first."""
    known = fit_newest([hop.shown for hop in hops], budget, "\n")
    return fill(PROMPT, question=question.strip(), known=known or "(nothing)")


def hop_answer_prompt(question: str, hits: Sequence[Hit], budget: int = 1024, show: Show = hit_text) -> str:
    """The prompt that answers one sub-question; of the passages the best ones that fit ``budget`` tokens are shown."""
    passages = fit_newest([show(hit) for hit in reversed(hits)], budget)  # best last, where the question follows
    return fill(ANSWER_PROMPT, question=question.strip(), passages=passages or "(no passage was found)")


def evidence_text(hops: Sequence[Hop], budget: int, show: Show = hit_text) -> str:
    """The passages of all hops in ``budget`` tokens, hop by hop, oldest first; the newest hop is the last to be cut.

    A passage that several hops found is shown with the newest of them.
    """
    blocks, seen = list[str](), set[str]()
    for hop in reversed(hops):
        fresh = [hit for hit in hop.hits if hit.id not in seen]
        seen.update(hit.id for hit in fresh)
        blocks.append("\n\n".join(show(hit) for hit in fresh))
    return fit_newest(blocks[::-1], budget)


def final_prompt(question: str, hops: Sequence[Hop], budget: int = 1024, show: Show = hit_text) -> str:
    """The prompt that answers the whole question from the evidence (``budget`` tokens) and the answers of the hops."""
    known = fit_newest([hop.shown for hop in hops], budget // 2, "\n")
    passages = evidence_text(hops, budget, show) or "(no passage was found)"
    return fill(FINAL_PROMPT, question=question.strip(), known=known or "(nothing)", passages=passages)


def iterative(
    question: str,
    *,
    retriever: Retriever,
    llm: LLM,
    k: int = 4,
    max_hops: int = 4,
    budget: int = 1024,
    show: Show = hit_text,
) -> IterativeResult:
    """Answer ``question`` hop by hop, at most ``max_hops`` of them.

    Each hop costs two calls and one search of ``k`` passages; the end costs one or two calls more. It stops when the
    model writes DONE or nothing, when it repeats a sub-question, or at the bound. A model that is done before the first
    hop gets one all the same, with the question itself, so that something is retrieved. ``budget`` bounds the tokens of
    passages in a prompt, and half of it those of known answers; what is cut is the oldest hop. A blank question gives a
    blank answer and no call.
    """
    check_k(k)
    check_bound("max_hops", max_hops)
    trace, hops, evidence = Trace(), list[Hop](), list[Hit]()
    if not question.strip():
        return IterativeResult("", (), (), "blank", trace)
    stopped = "bound"
    while len(hops) < max_hops:
        asked = one_line(llm(next_question_prompt(question, hops, budget // 2)), "")
        if not asked or _DONE.fullmatch(asked):
            stopped = "done"
            if hops:
                break
            asked = question.strip()
        if same_text(asked) in {same_text(hop.question) for hop in hops}:
            stopped = "repeat"
            trace.add("stop", asked, note="the same sub-question again")
            break
        hits = retriever(asked, k)
        trace.add("retrieve", asked, hits)
        answer = one_line(llm(hop_answer_prompt(asked, hits, budget, show)), "unknown")
        trace.add("answer", answer, note=asked)
        hops.append(Hop(asked, answer, tuple(hits)))
        evidence = cumulate(evidence, hits, len(evidence) + k)
        if stopped == "done":
            break
    final = one_line(llm(final_prompt(question, hops, budget, show)), "unknown")
    trace.add("final", final, note=stopped)
    return IterativeResult(final, tuple(hops), tuple(evidence), stopped, trace)


def iterative_search(question: str, k: int, *, retriever: Retriever, llm: LLM, max_hops: int = 4) -> list[Hit]:
    """The passages of all hops taken in turn, at most ``k``, so that no hop crowds out another; score is 1 / rank."""
    result = iterative(question, retriever=retriever, llm=llm, k=k, max_hops=max_hops)
    return interleave_hits([hop.hits for hop in result.hops], k)
