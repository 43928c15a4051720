"""The keywords of a question on two levels: particular things, and themes.

LightRAG (Guo et al., 2024), section 3.2: a model names *low-level* keywords (names, products, codes), which are looked
up among entities, and *high-level* ones (themes), which are looked up among relations. Where it names none at all, the
authors' code takes a question below 50 characters for its own low-level keyword and gives up on a longer one; so do we.
Left out: the conversation before the question.
"""

from __future__ import annotations

from typing import NamedTuple

from ragkit.base import LLM
from ragkit.graph.keyword_extract import read_keywords_list
from ragkit.graph.replies import json_objects
from ragkit.text import fill

PROMPT = """\
Split the question into search keywords of two levels. Low-level: the particular names, products, places, people and
codes in it. High-level: the themes it is about. Use short phrases; a level may be empty.

Reply with one JSON object:
{"low_level_keywords": [""], "high_level_keywords": [""]}

Question: ${question}
"""
SHORT_QUERY = 50
"""Characters from which on a question no longer stands for its keywords."""


class Keywords(NamedTuple):
    """The keywords of a question, by level."""

    low: tuple[str, ...] = ()
    high: tuple[str, ...] = ()


def keywords_prompt(question: str) -> str:
    """The prompt that asks for keywords of both levels."""
    return fill(PROMPT, question=question)


def read_keywords(reply: str) -> Keywords:
    """Both lists from the first JSON object that has one of them; none of it gives empty lists.

    >>> read_keywords('Sure: {"low_level_keywords": ["Aster"], "high_level_keywords": "warranty, repair"}')
    Keywords(low=('Aster',), high=('warranty', 'repair'))
    """
    for found in json_objects(reply):
        if "low_level_keywords" in found or "high_level_keywords" in found:
            levels = (found.get(f"{level}_level_keywords") for level in ("low", "high"))
            return Keywords(*map(read_keywords_list, levels))
    return Keywords()


def query_keywords(query: str, llm: LLM) -> Keywords:
    """The keywords of ``query``, by one call; a blank query has none and costs none.

    If the reply names none on either level, a query below ``SHORT_QUERY`` characters is its own low-level keyword, and
    a longer one has no keywords: nothing is found for it.
    """
    if not query.strip():
        return Keywords()
    found = read_keywords(llm(keywords_prompt(query)))
    return Keywords(low=(query,)) if not any(found) and len(query) < SHORT_QUERY else found
