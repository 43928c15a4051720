"""Decisions of a loop that code can make: where to search, and whether what was found will do.

The first by a router that is trained on the development half, the second by the words that question and passages share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from ragkit import corpus
from ragkit.base import LLM
from ragkit.corpus.code import load_code_questions
from ragkit.loops.fixed_loop import CHECK_PROMPT, CLASSIFY_PROMPT, check_prompt
from ragkit.loops.route_classifier import RouteClassifier, train_router
from ragkit.models.recording_tasks import by_opening
from ragkit.recorded.agents.code_search import K
from ragkit.recorded.agents.tools import by_stem, dated, documents
from ragkit.text import LUCENE_STOP_WORDS, tokenize

REACH = 0.7
"""The least share of the question's words that evidence must hold to pass the check in code (`tuned_reach`)."""


def in_code(llm: LLM) -> LLM:
    """A model for `run_fixed` whose two small questions, which source and whether it suffices, are answered by code."""
    check = by_opening(CHECK_PROMPT, lambda prompt: "yes" if reach(prompt) >= REACH else "no", llm)
    return by_opening(CLASSIFY_PROMPT, lambda prompt: router()(_asked(prompt)).route, check)


def _asked(prompt: str) -> str:
    last: str = re.findall(r"^(?:Message|Question): (.*)$", prompt, re.M)[-1]
    return last


def reach(prompt: str) -> float:
    """Share of the words of a check's question that its passages hold, stems compared and stop words left out."""
    passages, _, rest = prompt.rpartition("\n\nQuestion: ")
    words = set(tokenize(rest.rpartition("\n")[0], stem=True, stop=LUCENE_STOP_WORDS))
    held = set(tokenize(passages, stem=True))
    return len(words & held) / len(words) if words else 0.0


@cache
def router() -> RouteClassifier:
    """Documents or code, by the words of the question, trained on the development halves of both."""
    world = corpus.load()
    pairs = [(q.text, "documents") for q in world.select(split="dev") if q.relevant]
    pairs += [(q.text, "code") for q in load_code_questions() if q.split == "dev"]
    texts = [text for text, _ in pairs]
    seen = Counter(word for text in texts for word in set(by_stem(text)))
    words = sorted(word for word, count in seen.items() if count >= 3)
    return train_router(texts, [label for _, label in pairs], partial(_bag, words))


def _bag(words: Sequence[str], questions: Sequence[str]) -> NDArray[np.float64]:
    rows = [set(by_stem(question)) for question in questions]
    return np.array([[float(word in row) for word in words] for row in rows])


def tuned_reach() -> float:
    """The value of `REACH`: in the development half it tells single facts from questions without answer best."""

    def values(cls: str) -> list[float]:
        asked = corpus.load().select(cls, "dev")
        texts = [(q.text, "\n\n".join(map(dated, documents()(q.text, K)))) for q in asked]
        return [reach(check_prompt(*pair)) for pair in texts]

    there, absent = values("single_fact"), values("no_answer")
    grid = [step / 20 for step in range(1, 21)]
    return max(grid, key=lambda at: (sum(v >= at for v in there) + sum(v < at for v in absent), -at))
