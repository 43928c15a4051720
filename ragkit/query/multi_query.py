"""Multi-query retrieval: ask the same thing in several wordings and fuse the lists by rank.

The scheme known as RAG-Fusion (Rackauckas, 2024) and LangChain's ``MultiQueryRetriever``, with Reciprocal Rank Fusion
(Cormack et al., 2009): a passage on which several wordings agree rises. The original question always takes part, but
with one vote: poor paraphrases that agree can outvote it. Left out: weighting the original above the others.
"""

from __future__ import annotations

from ragkit.base import LLM, Hit, Retriever, check_k
from ragkit.query.replies import list_items
from ragkit.search.fusion import fuse_hits
from ragkit.text import fill

PROMPT = """\
Write $n other wordings of the question below for a search engine.
Each asks exactly the same thing with other words: synonyms, another order, the terms a manual or a report would use.
Keep every code, number and name as written. One wording a line, numbered, and nothing else.

Question: $question
Wordings:"""


def paraphrases_prompt(question: str, n: int = 3) -> str:
    """The prompt that asks for ``n`` other wordings."""
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    return fill(PROMPT, question=question.strip(), n=n)


def paraphrases(question: str, llm: LLM, n: int = 3) -> list[str]:
    """The question itself and then at most ``n`` other wordings, each once whatever its case.

    A reply with fewer wordings, or none, is fine: the question is there in any case. A blank question gives ``[]``
    without a call, ``n = 0`` the question alone.
    """
    check_k(n)
    if not question.strip():
        return []
    if n == 0:
        return [question]
    same = " ".join(question.casefold().split())
    found = list_items(llm(paraphrases_prompt(question, n)))
    return [question, *[wording for wording in found if " ".join(wording.casefold().split()) != same][:n]]


def multi_query_search(
    question: str, k: int, *, retriever: Retriever, llm: LLM, n: int = 3, depth: int = 50, rrf_k: float = 60
) -> list[Hit]:
    """Search with the question and ``n`` paraphrases, ``depth`` hits each (or ``k`` if more), fused by RRF.

    Scores are RRF's. Cost: one model call and ``n + 1`` searches.
    """
    check_k(k)
    check_k(depth)
    return fuse_hits([retriever(q, max(k, depth)) for q in paraphrases(question, llm, n)], k, rrf_k)
