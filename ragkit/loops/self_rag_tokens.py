"""Self-RAG's reflection tokens: what they are worth, and reading their probabilities out of a stored generation.

Asai et al., *Self-RAG* (ICLR 2024), table 1 (the tokens) and section 3.3 (their worth). The trained weights are not
here, so a `Segment` holds what such a model wrote with one passage and what it thought of it. Left out: training.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import TypeAlias

from ragkit.models.shapes import Token

RETRIEVE, NO_RETRIEVE, CONTINUE = "[Retrieval]", "[No Retrieval]", "[Continue to Use Evidence]"
RELEVANCE = {"[Relevant]": 1.0, "[Irrelevant]": 0.0}
SUPPORT = {"[Fully supported]": 1.0, "[Partially supported]": 0.5, "[No support / Contradictory]": 0.0}
UTILITY = {f"[Utility:{stars}]": (stars - 3) / 2 for stars in range(1, 6)}
"""Each group: token -> what its share of the group's probability is worth."""

Probabilities: TypeAlias = Mapping[str, float]
_CONTROL = (RETRIEVE, NO_RETRIEVE, CONTINUE, *RELEVANCE, *SUPPORT, *UTILITY, "<paragraph>", "</paragraph>", "</s>")
_CONTROLS = re.compile("|".join(map(re.escape, _CONTROL)))


@dataclass(frozen=True)
class Segment:
    """What was written with one passage, and the probabilities of each group of reflection tokens (``{}``: missing).

    ``log_probability`` is the mean log-probability of its tokens, for the paper's term p(y | x, d).
    """

    text: str
    relevance: Probabilities = field(default_factory=dict)
    support: Probabilities = field(default_factory=dict)
    utility: Probabilities = field(default_factory=dict)
    passage: str = ""
    log_probability: float | None = None


def group_score(probabilities: Probabilities, worth: Mapping[str, float]) -> float:
    """The worth of a group's tokens, weighted by their share of the group; 0 where no token of it has probability.

    Other tokens in ``probabilities`` are ignored, absent ones count 0. `ValueError` for what is no probability: a
    negative number is probably a logarithm.

    >>> group_score({"[Relevant]": 0.4, "[Irrelevant]": 0.1, "kettle": 0.5}, RELEVANCE)
    0.8
    """
    for token, p in probabilities.items():
        if not 0.0 <= p <= 1.0 + 1e-6:
            raise ValueError(f"probabilities[{token!r}] must lie in [0, 1], got {p}: is it a log-probability?")
    total = fsum(probabilities.get(token, 0.0) for token in worth)
    return fsum(value * probabilities.get(token, 0.0) for token, value in worth.items()) / total if total > 0 else 0.0


def without_tokens(text: str) -> str:
    """What a reader sees of a generation: control tokens dropped.

    >>> without_tokens("[Relevant]It is red.[Fully supported][Utility:5]</s>")
    'It is red.'
    """
    return " ".join(_CONTROLS.sub(" ", text).split())


def read_segment(tokens: Sequence[Token], passage: str = "") -> Segment:
    """A stored generation as a `Segment`: each group is read where the first of its tokens was written.

    A group that was never written is missing. The probabilities are those of the token and of its listed alternatives,
    so the engine must list enough of them (the released code asks for thousands).
    """

    def group(worth: Mapping[str, float]) -> dict[str, float]:
        at = next((token for token in tokens if token.text.strip() in worth), None)
        if at is None:
            return {}
        listed = {text.strip(): p for text, p in at.top}
        listed.setdefault(at.text.strip(), at.probability)
        return {token: listed[token] for token in worth if token in listed}

    text = without_tokens("".join(token.text for token in tokens))
    return Segment(text, group(RELEVANCE), group(SUPPORT), group(UTILITY), passage)
