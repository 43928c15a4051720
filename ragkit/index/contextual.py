"""Contextual retrieval: before a chunk is indexed, a model says where it stands in its document.

Anthropic, *Introducing Contextual Retrieval* (September 2024). A chunk such as "It grew by 3% over the quarter" names
neither company nor year; one or two sentences about its place, put in front of it, do. The context goes into *both*
indexes, the vectors and BM25; the passage that is returned is the original. In the prompt the document comes first and
the chunk last, so that all chunks of a document share a prefix, which a provider or a local server reads once
(``context_cost`` has the bill). The wording is ours.

The report's top-20 failure rates, 5.7% without contexts, are ``PUBLISHED_FAILURE``; its "35%", "49%" and "67%" are
*relative* cuts of 1 - recall@20, no gains of accuracy. It also says when not to do this: a corpus below some 200,000
tokens fits into the prompt. Left out: documents longer than the model's window (give the section in their place).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkit.base import LLM, Hit, Passage, Retriever, check_k, check_unique
from ragkit.index.parents import Indexer
from ragkit.query.replies import plain
from ragkit.search.fusion import fuse_retrievers
from ragkit.text import fill

PREFIX = """\
<document>
$document
</document>
Below is one passage cut from the document above. Say in one or two sentences where it belongs: name the document and
the company, product, place or period that the passage leaves unsaid. This goes in front of it in a search index.
Reply with the sentences only.
"""
"""What all prompts of one document begin with, to the byte; the request is in it, so that it is cached too."""
PROMPT = PREFIX + "\n<passage>\n$chunk\n</passage>\n"
PUBLISHED_FAILURE = {"chunks": 0.057, "contextual vectors": 0.037, "and contextual BM25": 0.029, "and reranking": 0.019}
"""1 - recall@20 in Anthropic's report, each row on top of the one before."""


def document_prefix(document: str) -> str:
    """The part of the prompt that every chunk of ``document`` shares: what a cache keeps."""
    return fill(PREFIX, document=document)


def context_prompt(document: str, chunk: str) -> str:
    """The prompt for one chunk: ``document_prefix(document)``, then the chunk."""
    return fill(PROMPT, document=document, chunk=chunk)


def read_context(reply: str) -> str:
    """The context in a reply, on one line: fences, and a preamble that ends with a colon, are dropped.

    >>> read_context("Here is the context:\\n\\n'From the manual of the Aster kettle.'")
    'From the manual of the Aster kettle.'
    """
    lines = [line for line in reply.splitlines() if line.strip() and not line.strip().startswith("```")]
    if len(lines) > 1 and lines[0].rstrip().endswith(":"):
        lines = lines[1:]
    return " ".join(" ".join(plain(line) for line in lines).split())


def contexts(documents: Mapping[str, str], chunks: Sequence[Passage], llm: LLM) -> dict[str, str]:
    """Chunk id -> its context, one call a chunk; ``documents`` maps ``meta["doc"]`` of a chunk to the whole text.

    Calls go document by document in the order of first mention, whatever the order of ``chunks``: a cached prefix
    lives for minutes, and a call for another document in between may push it out. A blank chunk costs no call and
    has no entry, nor has a chunk whose reply is empty. ValueError for a chunk of an unknown document.
    """
    check_unique([chunk.id for chunk in chunks], "chunks")
    by_document: dict[str, list[Passage]] = {}
    for chunk in chunks:
        name = chunk.meta.get("doc", "")
        if name not in documents:
            raise ValueError(f"documents has no entry for {name!r}, the document of the chunk {chunk.id!r}")
        by_document.setdefault(name, []).append(chunk)
    found = {}
    for name, members in by_document.items():
        for chunk in members:
            if chunk.text.strip():
                found[chunk.id] = read_context(llm(context_prompt(documents[name], chunk.text)))
    return {chunk.id: found[chunk.id] for chunk in chunks if found.get(chunk.id)}


def contextualised(chunks: Sequence[Passage], contexts: Mapping[str, str]) -> list[Passage]:
    """Chunks with their contexts in front, ids, titles and meta unchanged; without a context a chunk stays as it is.

    >>> contextualised([Passage("c1", "It grew by 3%.")], {"c1": "ACME's report for 2023."})[0].text
    "ACME's report for 2023.\\n\\nIt grew by 3%."
    """
    return [
        Passage(c.id, f"{contexts[c.id]}\n\n{c.text}", c.title, c.meta) if contexts.get(c.id) else c for c in chunks
    ]


def contextual_index(chunks: Sequence[Passage], contexts: Mapping[str, str], index: Indexer) -> Retriever:
    """A search over the contextualised chunks that returns the originals, with the scores of the search."""
    original = {chunk.id: chunk.text for chunk in chunks}
    search = index(contextualised(chunks, contexts))
    return lambda query, k: [Hit(hit.id, original[hit.id], hit.score) for hit in search(query, k)]


def contextual_hybrid(
    chunks: Sequence[Passage], contexts: Mapping[str, str], indexers: Sequence[Indexer], depth: int = 50, k: float = 60
) -> Retriever:
    """Several indexes over the same contextualised chunks, fused by ranks (RRF).

    With BM25 and vectors for ``indexers`` this is the report's third row; a reranker over its hits, the fourth.
    """
    check_k(depth)
    return fuse_retrievers([contextual_index(chunks, contexts, index) for index in indexers], depth, k)


def relative_cut(before: float, after: float) -> float:
    """The share of failures that is gone, ``(before - after) / before``; 0.0 where there was none.

    >>> round(relative_cut(0.057, 0.037), 2)
    0.35
    """
    for name, rate in (("before", before), ("after", after)):
        if not 0 <= rate <= 1:
            raise ValueError(f"{name} must be a rate in [0, 1], got {rate!r}")
    return (before - after) / before if before else 0.0
