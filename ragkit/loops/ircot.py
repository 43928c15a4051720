"""IRCoT: retrieval interleaved with chain-of-thought, one sentence at a time.

Trivedi et al., *Interleaving Retrieval with Chain-of-Thought Reasoning ...* (ACL 2023), section 3, and the authors'
code, ``commaqa/inference/ircot.py``. The first search is the question, every later
one the last sentence of the chain. Of each generation only the first sentence is kept: what the model writes after it
was written without the passages that this sentence will find.

As in the released code and not in the paper's text: a *reasoning sentence* ("Thus, ...", "1990 + 5 = 1995") is no
query, the last factual sentence stands in; one full stop at the end of the answer goes, for the greedy group of
``.* answer is:? (.*)`` takes it along (so "Washington D.C." loses its last one too). A sentence that the chain already
holds ends the loop here; the released code goes on to its bound.

Left out: the demonstrations (``examples`` takes yours), near-duplicate paragraphs by edit distance (equal texts are
found), and the removal of "who", "what", "is" ... from a query, which belongs to the index.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ragkit.base import LLM, Hit, Retriever, check_k
from ragkit.loops.context import Show, cumulate, hit_text, same_text
from ragkit.loops.sentence import first_sentence
from ragkit.loops.trace import Trace, check_bound
from ragkit.text import fill

PROMPT = """\
Answer the question step by step from the passages, one fact a sentence. When you know the answer, write a last
sentence "So the answer is: ...".

$examples$passages

Q: $question
A: $chain"""

MAX_WORDS = 350
"""Words of a paragraph that a prompt shows; the rest is cut, as in the released code."""

_STARTERS = re.compile(r"(?:thus|so)[ ,]|that is,|therefore|hence", re.I)
_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_SUM = re.compile(rf"{_NUMBER} ?[-+] ?{_NUMBER} ?= ?{_NUMBER}")
_ANSWER = re.compile(r".* answer is(?:: ?| )(.*)", re.I)


def is_reasoning(sentence: str) -> bool:
    """Whether a sentence concludes or reckons and so makes a poor query.

    >>> is_reasoning("Thus, she is Danish."), is_reasoning("1990 + 5 = 1995."), is_reasoning("Sofia is a town.")
    (True, True, False)
    """
    return bool(_STARTERS.match(sentence.strip()) or _SUM.search(sentence))


def read_answer(sentence: str) -> str | None:
    """What follows "answer is:" without one final full stop; None where the sentence states no answer.

    >>> read_answer("So the answer is: 1.7 litres."), read_answer("The answer lies elsewhere.")
    ('1.7 litres', None)
    """
    match = _ANSWER.match(" " + " ".join(sentence.split()))
    return match.group(1).removesuffix(".").strip() if match else None


@dataclass(frozen=True)
class Chain:
    """A chain of thought on its way: sentences, paragraphs held, queries asked, and the answer once it is stated."""

    sentences: tuple[str, ...] = ()
    paragraphs: tuple[Hit, ...] = ()
    queries: tuple[str, ...] = ()
    answer: str | None = None
    score: float = 0.0
    stopped: str = ""

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


def next_query(question: str, chain: Chain) -> str:
    """The last sentence that is no reasoning sentence; the question where there is none."""
    facts = [sentence for sentence in chain.sentences if not is_reasoning(sentence)]
    return facts[-1] if facts else question.strip()


def ircot_prompt(question: str, chain: Chain, examples: str = "", show: Show = hit_text) -> str:
    """Paragraphs (each cut to 350 words), question, and the chain so far, to be continued."""
    passages = "\n\n".join(_first_words(show(hit)) for hit in chain.paragraphs) or "(no passage was found)"
    shown = f"{examples.strip()}\n\n" if examples.strip() else ""
    return fill(PROMPT, examples=shown, passages=passages, question=question.strip(), chain=chain.text).rstrip()


def _first_words(text: str) -> str:
    ends = [match.end() for match in re.finditer(r"\S+", text)]
    return text if len(ends) <= MAX_WORDS else text[: ends[MAX_WORDS - 1]]


def gather(question: str, chain: Chain, retriever: Retriever, k: int, most: int, trace: Trace) -> Chain:
    """One retrieval step: search with `next_query` and add what is new, up to ``most`` paragraphs.

    A query that was asked before is not asked again, and none is asked once ``most`` paragraphs are held.
    """
    query = next_query(question, chain)
    if query in chain.queries or len(chain.paragraphs) >= most:
        return chain
    found = retriever(query, k)
    held = tuple(cumulate(chain.paragraphs, found, most))
    trace.add("retrieve", query, found, note=f"{len(held) - len(chain.paragraphs)} new, {len(held)} held")
    return replace(chain, paragraphs=held, queries=(*chain.queries, query))


def add_sentence(chain: Chain, generation: str, score: float = 0.0) -> Chain:
    """The chain with the first sentence of a generation; ``stopped`` says if that ended it.

    It ends with ``answer`` (stated), ``empty`` (nothing was written) or ``repeat`` (the chain holds that sentence).
    """
    sentence = first_sentence(re.sub(r"^\s*(?:A|Answer)\s*:\s*", "", generation))
    if not sentence:
        return replace(chain, stopped="empty")
    if same_text(sentence) in map(same_text, chain.sentences):
        return replace(chain, stopped="repeat")
    answer = read_answer(sentence)
    longer = replace(chain, sentences=(*chain.sentences, sentence), score=chain.score + score)
    return longer if answer is None else replace(longer, answer=answer, stopped="answer")


@dataclass(frozen=True)
class IRCoTResult:
    """The answer (``""`` where none was stated), the chain, and the log; ``stopped`` as in `add_sentence`, or
    ``bound`` or ``blank``."""

    answer: str
    chain: Chain
    stopped: str
    trace: Trace

    @property
    def paragraphs(self) -> tuple[Hit, ...]:
        """All paragraphs gathered, in the order found: what a reader gets, and what recall is measured on."""
        return self.chain.paragraphs


def ircot(
    question: str,
    *,
    retriever: Retriever,
    llm: LLM,
    k: int = 4,
    max_sentences: int = 10,
    max_paragraphs: int = 15,
    examples: str = "",
    show: Show = hit_text,
) -> IRCoTResult:
    """Alternate search and sentence until an answer is stated, or for ``max_sentences`` sentences.

    Each round costs one search of ``k`` paragraphs (the paper tries 2, 4, 6, 8) and one call. Without a stated answer
    the result's ``answer`` is ``""``; the paper then lets a separate reader answer from the paragraphs, the released
    code takes the whole chain for the answer. A blank question costs nothing and gives nothing.
    """
    check_k(k)
    check_bound("max_sentences", max_sentences)
    check_bound("max_paragraphs", max_paragraphs)
    chain, trace = Chain(), Trace()
    if not question.strip():
        return IRCoTResult("", chain, "blank", trace)
    while not chain.stopped and len(chain.sentences) < max_sentences:
        chain = gather(question, chain, retriever, k, max_paragraphs, trace)
        generation = llm(ircot_prompt(question, chain, examples, show))
        chain = add_sentence(chain, generation)
        trace.add("generate", chain.sentences[-1] if chain.sentences else "", note=chain.stopped)
    return IRCoTResult(chain.answer or "", chain, chain.stopped or "bound", trace)
