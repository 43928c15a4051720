"""doc2query: write down, at indexing time, the questions that a passage answers.

Nogueira, Yang, Lin and Cho, *Document Expansion by Query Prediction* (2019): the predicted questions are appended to
the passage, which gives BM25 the words of those who ask. For vectors each question is a representation of its own, the
mirror image of HyDE, paid for once and not at every query. The passage is returned once, and with its own text: the
expansion is for the index, never for the reader. Left out: the trained T5 (docTTTTTquery) and filtering the questions
by a reranker (doc2query--).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkit.base import LLM, Hit, Passage, Retriever
from ragkit.index.parents import Indexer
from ragkit.index.representations import representation
from ragkit.query.replies import list_items
from ragkit.text import fill

PROMPT = """\
Write $n different questions that customers or colleagues might ask and that the passage below answers.
Use the words that people use who do not know the passage. One question a line, numbered, and nothing else.

Title: $title
Passage: $text

Questions:"""


def questions_prompt(passage: Passage, n: int = 3) -> str:
    """The prompt that asks for ``n`` questions that one passage answers."""
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    return fill(PROMPT, n=n, title=passage.title or "(none)", text=passage.text)


def hypothetical_questions(passages: Sequence[Passage], llm: LLM, n: int = 3) -> dict[str, list[str]]:
    """At most ``n`` questions a passage, by its id: one model call a passage, none for a blank one."""
    return {p.id: list_items(llm(questions_prompt(p, n)))[:n] if p.text.strip() else [] for p in passages}


def question_representations(passages: Sequence[Passage], questions: Mapping[str, Sequence[str]]) -> list[Passage]:
    """Every question as a representation of its passage: for a dense index, by ``representations_index``."""
    return [representation(p, text, "question", i) for p in passages for i, text in enumerate(questions.get(p.id, ()))]


def expanded(passages: Sequence[Passage], questions: Mapping[str, Sequence[str]]) -> list[Passage]:
    """Passages with their questions appended, ids and titles unchanged: for BM25.

    >>> expanded([Passage("p1", "Boils in 3 minutes.")], {"p1": ["How fast is it?"]})[0].text
    'Boils in 3 minutes.\\nHow fast is it?'
    """
    return [Passage(p.id, "\n".join([p.text, *questions.get(p.id, ())]), p.title, p.meta) for p in passages]


def doc2query_index(passages: Sequence[Passage], questions: Mapping[str, Sequence[str]], index: Indexer) -> Retriever:
    """A search over the expanded passages that returns each once, with the text it had before."""
    text = {p.id: p.text for p in passages}
    search = index(expanded(passages, questions))
    return lambda query, k: [Hit(hit.id, text[hit.id], hit.score) for hit in search(query, k)]
