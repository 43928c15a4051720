"""Query likelihood: a passage is as good as the query is probable after it.

Ponte and Croft, *A Language Modeling Approach to Information Retrieval* (SIGIR 1998), with a neural model and the
prompt of Sachan et al., *Improving Passage Retrieval with Zero-Shot Question Generation* (UPR, EMNLP 2022, section 2),
here in our words. The paper takes the mean of the query tokens' log-probabilities; the released ``upr_gpt.py`` sums
them and counts the end-of-text token too. Special tokens are left out here. Left out: dividing out the probability
that the query has without any passage, and mixing with the first search's scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragkit.models.likelihood import LogProbabilities
from ragkit.search.rerank import Reranker, scoring
from ragkit.text import fill

PROMPT = """\
Passage: $passage
Please write a question that this passage answers."""


def question_prompt(passage: str, words: int = 300) -> str:
    """What stands before the query: the passage, cut after ``words`` words, and the request for a question."""
    if words < 1:
        raise ValueError(f"words must be at least 1, got {words}")
    return fill(PROMPT, passage=" ".join(passage.split()[:words]))


def token_log_probabilities(
    query: str, texts: Sequence[str], model: LogProbabilities, words: int = 300
) -> list[NDArray[np.float64]]:
    """For each text the log-probability of every query token, ``(tokens,)``; the tokens are the same for all texts."""
    question = query.strip()
    rows = model([(question_prompt(text, words), question) for text in texts])
    if len({len(row) for row in rows}) > 1:
        raise ValueError("model gives a query other numbers of tokens after other passages: the sums do not compare")
    return rows


def query_likelihood(model: LogProbabilities, aggregate: Literal["mean", "sum"] = "mean", words: int = 300) -> Reranker:
    """A `Reranker` by the mean or the sum of the query tokens' log-probabilities, one forward pass a hit.

    A query has as many tokens after one passage as after another, so mean and sum order its hits alike. Across queries
    a sum falls with every token, and only means can be compared at all. The score is at most 0. ``model`` is
    `ragkit.models.Likelihood` or any `LogProbabilities`. A query without tokens leaves the hits in their order.
    """
    if aggregate not in ("mean", "sum"):
        raise ValueError(f"aggregate must be mean or sum, got {aggregate!r}")
    question_prompt("", words)

    def score(query: str, texts: list[str]) -> NDArray[np.float64]:
        table = np.array(token_log_probabilities(query, texts, model, words), dtype=np.float64).reshape(len(texts), -1)
        total: NDArray[np.float64] = table.sum(axis=1)
        return total if aggregate == "sum" else total / max(1, table.shape[1])

    return scoring(score)
