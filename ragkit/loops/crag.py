"""Corrective RAG: an evaluator scores what was retrieved, and the scores decide where the knowledge comes from.

Yan et al., *Corrective Retrieval Augmented Generation* (2024), algorithm 1 and sections 4.3 to 4.5. One document scored
at ``upper`` or above: *Correct*, refine what was retrieved. All below ``lower``: *Incorrect*, discard it and search
elsewhere. Else *Ambiguous*: refine what was retrieved, **and** search elsewhere. "Elsewhere" is the web in the paper
and a second `Retriever` here. The defaults are those of PopQA in the released script (0.592 and -0.995; it takes 0.995
and negates it); the paper prints 0.59 and -0.99.

The paper says "higher than" the upper threshold, the code ``>=``; here as in the code. The paper's evaluator is a
fine-tuned T5 with scores from -1 to 1; `ragkit.loops.relevance` makes one of a chat model, which the paper found weaker
(section 5.5). Left out: fetching and cleaning web pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ragkit.base import LLM, Hit, Retriever, check_k
from ragkit.loops.context import same_text
from ragkit.loops.strips import Evaluator, Order, Strip, checked_score, join, refine
from ragkit.loops.trace import Trace
from ragkit.query.replies import one_line
from ragkit.text import fill

KEYWORDS_PROMPT = """\
Write at most three search keywords for the question, separated by commas. Keep names, codes and dates.

Question: $question
Keywords:"""

UPPER, LOWER = 0.592, -0.995

Action = Literal["correct", "incorrect", "ambiguous"]


def decide(scores: Sequence[float], upper: float = UPPER, lower: float = LOWER) -> Action:
    """The action for the scores of all retrieved documents; no documents are *incorrect*.

    >>> decide([0.6, -1.0]), decide([-1.0, -0.996]), decide([0.5, -1.0])
    ('correct', 'incorrect', 'ambiguous')
    """
    if not lower <= upper:
        raise ValueError(f"lower must not be above upper, got lower={lower} and upper={upper}")
    if any(score >= upper for score in scores):
        return "correct"
    return "incorrect" if all(score < lower for score in scores) else "ambiguous"


def keywords_prompt(question: str) -> str:
    """The prompt that turns a question into keywords for a search engine (section 4.5)."""
    return fill(KEYWORDS_PROMPT, question=question.strip())


def keywords(question: str, llm: LLM) -> str:
    """The query for the second search: at most three keywords, or the question where the model gives none."""
    parts = [part.strip() for part in one_line(llm(keywords_prompt(question)), "").removeprefix("Keywords:").split(",")]
    return ", ".join([part for part in parts if part][:3]) or question.strip()


@dataclass(frozen=True)
class CragResult:
    """What to answer from: the action, the documents with their scores, strips from inside and from outside, the log.

    ``knowledge`` is the text for the generator, inside before outside; ``""`` where nothing passed.
    """

    action: Action
    scored: tuple[tuple[Hit, float], ...]
    internal: tuple[Strip, ...]
    external: tuple[Strip, ...]
    trace: Trace

    @property
    def knowledge(self) -> str:
        return join([*self.internal, *self.external])

    @property
    def passages(self) -> tuple[str, ...]:
        """The ids of the passages that the knowledge comes from, each once."""
        return tuple(dict.fromkeys(strip.passage for strip in (*self.internal, *self.external)))


def crag(
    question: str,
    *,
    retriever: Retriever,
    web: Retriever,
    evaluate: Evaluator,
    rewrite: Callable[[str], str] | None = None,
    k: int = 10,
    web_k: int = 5,
    upper: float = UPPER,
    lower: float = LOWER,
    size: int = 3,
    keep: int = 5,
    strip_threshold: float = -0.5,
    order: Order = "document",
) -> CragResult:
    """Retrieve, judge, correct: the knowledge that a generator should answer ``question`` from.

    ``rewrite`` turns the question into the query for ``web`` (``partial(keywords, llm=llm)``); without it the question
    is asked. Costs one evaluation a document and one a strip, one search or two. Outside passages are refined like
    inside ones, and a strip held already is not held twice. Where *correct* documents hold no strip that passes ("Sold
    out."), the best document is kept whole. A blank question gives *incorrect* and no knowledge, at no cost.
    """
    check_k(k)
    check_k(web_k)
    decide([], upper, lower)
    trace, internal, external = Trace(limit=k + 10), list[Strip](), list[Strip]()
    if not question.strip():
        return CragResult("incorrect", (), (), (), trace)

    def refined(hits: Sequence[Hit]) -> list[Strip]:
        return refine(question, hits, evaluate, size=size, keep=keep, threshold=strip_threshold, order=order)

    hits = retriever(question, k)
    trace.add("retrieve", question, hits)
    scored = [(hit, checked_score(evaluate, question, hit.text)) for hit in hits]
    for hit, score in scored:
        trace.add("evaluate", hit.text, [hit], score)
    action = decide([score for _, score in scored], upper, lower)
    trace.add("decide", note=action)
    if action != "incorrect":
        internal = refined(hits)
        if action == "correct" and not internal:
            best, score = max(scored, key=lambda pair: pair[1])
            internal = [Strip(best.id, best.text, score)]
        trace.add("refine", join(internal), [strip.passage for strip in internal], note="inside")
    if action != "correct":
        query = rewrite(question) if rewrite else question
        found = web(query, web_k)
        trace.add("search elsewhere", query, found)
        inside = {same_text(strip.text) for strip in internal}
        external = [strip for strip in refined(found) if same_text(strip.text) not in inside]
        trace.add("refine", join(external), [strip.passage for strip in external], note="outside")
    return CragResult(action, tuple(scored), tuple(internal), tuple(external), trace)
