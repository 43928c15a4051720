"""HyDE, hypothetical document embeddings: search with the vector of a made-up answer.

Gao, Ma, Lin and Callan, *Precise Zero-Shot Dense Retrieval without Relevance Labels* (ACL 2023), section 3.2,
equation 8: the query vector is the mean over N hypothetical documents *and the query itself*, hence N + 1
(``HypotheticalDocumentEmbedder`` of langchain-classic 1.0.8 leaves the query out). In the paper InstructGPT
writes at temperature 0.7 and Contriever encodes. Left out: a prompt of its own for every task and language.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragkit.base import LLM, Hit, check_k
from ragkit.search.dense import Dense
from ragkit.text import fill

PROMPT = """\
Write the short passage of a company document (a manual, a policy, a report) in which someone would find the answer to
the question below. Write it as such a document would, three or four sentences, and do not address the reader of the
question. If you do not know a detail, write a plausible one.

Question: $question
Passage:"""


def hypothetical_document_prompt(question: str) -> str:
    """The prompt that asks for one made-up passage."""
    return fill(PROMPT, question=question.strip())


def hypothetical_documents(question: str, llm: LLM, n: int = 1) -> list[str]:
    """``n`` made-up passages: ``n`` calls with one prompt, empty replies left out.

    The samples differ only if ``llm`` samples; a model at temperature 0 or a recording writes the same one ``n`` times,
    for which ``n = 1`` is the honest setting. A blank question gives ``[]`` without a call.
    """
    check_k(n)
    if not question.strip():
        return []
    prompt = hypothetical_document_prompt(question)
    replies = [llm(prompt).strip() for _ in range(n)]
    return [reply for reply in replies if reply]


def hyde_vector(q_vec: ArrayLike, hyp_vecs: ArrayLike) -> NDArray[np.float64]:
    """``(q + sum of d_i) / (N + 1)``, shape ``(d,)``, float64, not normalised.

    ``q_vec`` is ``(d,)``, ``hyp_vecs`` ``(N, d)``; ``N = 0`` (shape ``(0, d)``) gives the query. Always a new array.

    >>> hyde_vector([1.0, 0.0], [[0.0, 1.0], [0.0, 2.0]]).tolist()
    [0.3333333333333333, 1.0]
    """
    query = np.array(q_vec, dtype=np.float64)
    documents = np.array(hyp_vecs, dtype=np.float64)
    if query.ndim != 1:
        raise ValueError(f"q_vec must have shape (d,), got {query.shape}")
    if documents.ndim != 2 or documents.shape[1] != len(query):
        raise ValueError(f"hyp_vecs must have shape (N, {len(query)}), got {documents.shape}")
    mean: NDArray[np.float64] = (query + documents.sum(axis=0)) / (len(documents) + 1)
    return mean


def hyde_search(question: str, k: int, *, dense: Dense, llm: LLM, n: int = 1) -> list[Hit]:
    """The passages nearest to the mean of the question and ``n`` hypothetical answers.

    Scores are cosines with that mean. Where the model writes nothing, it is the plain dense search. Cost: ``n`` model
    calls and ``n`` texts to embed, for every query.
    """
    check_k(k)
    documents = hypothetical_documents(question, llm, n)
    if not documents or not dense.passages:
        return dense(question, k)
    return dense.by_vector(hyde_vector(dense.query_vector(question), dense.embed(documents)), k)
