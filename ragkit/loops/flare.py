"""FLARE: look one sentence ahead, and retrieve only where the model is unsure of a word in it.

Jiang et al., *Active Retrieval Augmented Generation* (EMNLP 2023), section 3.2 (FLARE direct). The next sentence is
written without new passages; if its *lowest* token probability is under ``threshold`` (the paper's theta), passages are
searched with that sentence and it is written again with them before the question. The mean would hide one invented date
among twenty safe words. Passages of earlier steps are dropped, as in the paper.

The forms of the query are in ``flare_queries.py``. The end-of-text token is no word and is not judged. Left out: FLARE
instruct, where the model writes ``[Search(...)]`` itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ragkit.base import Hit, Retriever, check_k
from ragkit.loops.context import Show, hit_text, same_text
from ragkit.loops.flare_queries import QueryForm, queries_for
from ragkit.loops.sentence import Sentence, cut_to_first_sentence, lowest_probability
from ragkit.loops.trace import Trace, check_bound
from ragkit.models.shapes import Completion
from ragkit.search.fusion import interleave_hits
from ragkit.text import fill

PROMPT = """\
${passages}Answer the question in full sentences.

Question: $question
Answer: $written"""

Generate: TypeAlias = Callable[[str], Completion]
"""A prompt to be continued in, a completion with token probabilities out.

With the local model: ``partial(Local(max_tokens=64).generate, raw=True)``.
"""


@dataclass(frozen=True)
class FlareSentence:
    """A sentence of the answer: as kept, as first written, its lowest probability, the queries and what they found."""

    text: str
    ahead: str
    lowest: float
    queries: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True)
class FlareResult:
    """The answer, its sentences, why it stopped (``end``, ``empty``, ``repeat``, ``bound``, ``blank``), and the log."""

    answer: str
    sentences: tuple[FlareSentence, ...]
    stopped: str
    trace: Trace


def flare_prompt(question: str, written: str = "", hits: Sequence[Hit] = (), show: Show = hit_text) -> str:
    """The prompt to be continued: passages before the question, the answer so far at the end."""
    passages = "".join(f"{show(hit)}\n\n" for hit in hits)
    return fill(PROMPT, passages=passages, question=question.strip(), written=written).rstrip()


def flare(
    question: str,
    *,
    retriever: Retriever,
    generate: Generate,
    threshold: float = 0.8,
    mask_below: float = 0.4,
    form: QueryForm = "masked",
    k: int = 2,
    max_sentences: int = 8,
    start_with_question: bool = False,
    show: Show = hit_text,
) -> FlareResult:
    """Write an answer sentence by sentence, at most ``max_sentences``, retrieving where the model is unsure.

    A sure sentence costs one call; an unsure one two, its searches, and with ``form="question"`` one call a span. With
    ``threshold`` 0 it never retrieves, above 1 always. ``start_with_question`` gives the first look ahead the passages
    of the question (``look_ahead_pre_retrieval`` of the released code). It ends when the model ends its text, writes
    nothing, or repeats a sentence. If a search finds nothing, or the second writing is empty, the first is kept.

    Raises `ValueError` where ``generate`` gives no token probabilities.
    """
    check_k(k)
    check_bound("max_sentences", max_sentences)
    if form not in ("masked", "question", "sentence"):
        raise ValueError(f"form must be 'masked', 'question' or 'sentence', got {form!r}")
    if not 0.0 <= mask_below <= 1.0 or not threshold >= 0.0:
        raise ValueError(f"threshold and mask_below must be probabilities, got {threshold} and {mask_below}")
    trace, kept = Trace(), list[FlareSentence]()
    if not question.strip():
        return FlareResult("", (), "blank", trace)

    def write(hits: Sequence[Hit]) -> Sentence:
        completion = generate(flare_prompt(question, written, hits, show))
        if completion.text.strip() and not completion.tokens:
            raise ValueError("generate must give token probabilities, got a completion without tokens")
        return cut_to_first_sentence(completion)

    def text_of(prompt: str) -> str:
        return generate(prompt).text

    written, stopped, given = "", "bound", retriever(question, k) if start_with_question else []
    while len(kept) < max_sentences:
        ahead = write(given)
        lowest, given = lowest_probability(ahead.tokens), []
        trace.add("look ahead", ahead.text, score=lowest, note="unsure" if lowest < threshold else "sure")
        final, queries, hits = ahead, list[str](), list[Hit]()
        if ahead.text and lowest < threshold:
            queries = queries_for(ahead, question, written, form, mask_below, text_of)
            hits = interleave_hits([retriever(query, k) for query in queries], k)
            trace.add("retrieve", " | ".join(queries), hits)
            again = write(hits) if hits else ahead
            final = again if again.text else ahead
        if not final.text or same_text(final.text) in {same_text(sentence.text) for sentence in kept}:
            stopped = "repeat" if final.text else "empty"
            break
        kept.append(FlareSentence(final.text, ahead.text, lowest, tuple(queries), tuple(hits)))
        written = f"{written} {final.text}".strip()
        trace.add("keep", final.text, hits)
        if final.ends:
            stopped = "end"
            break
    return FlareResult(written, tuple(kept), stopped, trace)
