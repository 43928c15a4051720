"""Query2doc: append a made-up answer to the query instead of replacing it.

Wang, Yang and Wei, *Query2doc: Query Expansion with Large Language Models* (EMNLP 2023), section 2: for a sparse
retriever the query is repeated 5 times before the pseudo-document, so that its own terms are not drowned; for a dense
one it is ``query [SEP] document``. They report 3 to 15% on BM25. The sparse form works only if the index counts a
repeated query term as often as it is written. The paper's prompt carries four solved examples, drawn from training
data: give them with ``ragkit.query.few_shot``. Left out: training a dense retriever on expanded queries.
"""

from __future__ import annotations

from collections.abc import Callable

from ragkit.base import LLM, Hit, Retriever, check_k
from ragkit.text import fill

PROMPT = """\
Write a passage of about fifty words that answers the query below, in the style of a reference text.
Use the terms that such a text would use. Reply with the passage only.

Query: $question
Passage:"""


def pseudo_document_prompt(question: str) -> str:
    """The prompt that asks for one pseudo-document."""
    return fill(PROMPT, question=question.strip())


def pseudo_document(question: str, llm: LLM) -> str:
    """A made-up passage for ``question``, on one line; ``""`` for a blank question (no call)."""
    return " ".join(llm(pseudo_document_prompt(question)).split()) if question.strip() else ""


def sparse_query(question: str, document: str, repeat: int = 5) -> str:
    """The query ``repeat`` times, then the document: for BM25.

    >>> sparse_query("red kettle", "It holds 1.7 litres.", repeat=2)
    'red kettle red kettle It holds 1.7 litres.'
    """
    if repeat < 1:
        raise ValueError(f"repeat must be at least 1, got {repeat}")
    return " ".join([*[question] * repeat, document]) if document else question


def dense_query(question: str, document: str) -> str:
    """Query and document with BERT's separator between them: for an embedding model of that family.

    >>> dense_query("red kettle", "It holds 1.7 litres.")
    'red kettle [SEP] It holds 1.7 litres.'
    """
    return f"{question} [SEP] {document}" if document else question


def query2doc_search(
    question: str, k: int, *, retriever: Retriever, llm: LLM, expand: Callable[[str, str], str] = sparse_query
) -> list[Hit]:
    """Search with the expanded query; ``expand`` is `sparse_query` for BM25, `dense_query` for vectors.

    Where the model writes nothing, it is the plain search. Cost: one model call a query.
    """
    check_k(k)
    return retriever(expand(question, pseudo_document(question, llm)), k)
