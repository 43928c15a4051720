"""Late interaction: query and passage are encoded apart, token by token, and meet in a sum of best matches (MaxSim).

Khattab and Zaharia, *ColBERT* (SIGIR 2020), section 3: for each token of the query the best cosine among the tokens of
the passage, summed. Passages can be encoded before any query is known (`LateInteraction.prepare`), and which word
matched which can be shown. As there, punctuation of a passage is left out. Left out of the paper: training (see
``models/token_vectors.py``), padding a query with mask tokens that the trained model fills, and the compressed index
for searching a whole corpus (ColBERTv2, PLAID).
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragkit.base import Hit
from ragkit.models.token_vectors import TokenEmbedder, TokenVectors
from ragkit.search.rerank import scoring

PUNCTUATION = frozenset(string.punctuation)


class Match(NamedTuple):
    """A token of the query, the token of the passage that suits it best, and their cosine."""

    query: str
    passage: str
    similarity: float


def maxsim(query: ArrayLike, passages: Sequence[ArrayLike]) -> NDArray[np.float64]:
    """MaxSim of a query ``(q, d)`` with each passage ``(t_i, d)``: shape ``(n,)``, at most ``q`` for unit rows.

    Rows are taken as they are: bring each to length 1 first. A passage without tokens has the lowest score that unit
    vectors allow, ``-q``; a query without tokens scores 0 with everything.

    >>> maxsim([[1.0, 0.0], [0.0, 1.0]], [[[1.0, 0.0], [0.6, 0.8]], [[0.6, 0.8]]]).tolist()
    [1.8, 1.4]
    """
    asked = np.asarray(query, dtype=np.float64)
    rows = [np.asarray(passage, dtype=np.float64) for passage in passages]
    if asked.ndim != 2:
        raise ValueError(f"query must have two dimensions, (tokens, d), got shape {asked.shape}")
    if bad := next((row.shape for row in rows if row.ndim != 2 or row.shape[1] != asked.shape[1]), None):
        raise ValueError(f"passages must all have the shape (tokens, {asked.shape[1]}), got {bad}")
    scores = np.full(len(rows), -float(len(asked)))
    filled = [i for i, row in enumerate(rows) if len(row)]
    if filled:
        # The passages stand one below the other, so nothing is padded and no padding can win a maximum.
        similarity = np.concatenate([rows[i] for i in filled]) @ asked.T
        starts = np.cumsum([0, *(len(rows[i]) for i in filled[:-1])])
        scores[filled] = np.maximum.reduceat(similarity, starts, axis=0).sum(axis=1)
    return scores


def matches(query: TokenVectors, passage: TokenVectors) -> list[Match]:
    """For each token of the query its best partner in the passage, ties to the earlier; ``[]`` if either is empty."""
    if not query.tokens or not passage.tokens:
        return []
    similarity = query.vectors @ passage.vectors.T
    best = similarity.argmax(axis=1)
    return [
        Match(token, passage.tokens[j], float(similarity[i, j]))
        for i, (token, j) in enumerate(zip(query.tokens, best, strict=True))
    ]


def without_punctuation(text: TokenVectors) -> TokenVectors:
    """A passage's tokens without those that are punctuation; all of them if nothing else would be left."""
    kept = [i for i, token in enumerate(text.tokens) if not set(token) <= PUNCTUATION]
    if not kept:
        return text
    return TokenVectors(tuple(text.tokens[i] for i in kept), text.vectors[kept])


class LateInteraction:
    """A `Reranker` by MaxSim: ``LateInteraction(token_embedder())``.

    ``prepare`` encodes texts ahead, as an index would; a text that was not prepared is encoded when it comes and then
    forgotten. Scores lie in [-q, q] for a query of q tokens, so they do not compare across queries.
    """

    def __init__(self, embed: TokenEmbedder) -> None:
        if not callable(embed):
            raise ValueError(f"embed must be a callable, got {type(embed).__name__}")
        self.embed = embed
        self._prepared: dict[str, TokenVectors] = {}
        self._rerank = scoring(self.scores)

    def __call__(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """The hits by MaxSim, ties in their old order."""
        return self._rerank(query, hits)

    def scores(self, query: str, texts: list[str]) -> NDArray[np.float64]:
        """MaxSim of the query with each text, shape ``(n,)``."""
        return maxsim(self.embed([query])[0].vectors, [found.vectors for found in self.passages(texts)])

    def prepare(self, texts: Sequence[str]) -> None:
        """Encode texts and keep their vectors: 1.5 kB a token for MiniLM."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._prepared]
        self._prepared.update(zip(missing, self._encode(missing), strict=True))

    def passages(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Tokens and vectors of passages, prepared or not, without punctuation."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._prepared]
        known = self._prepared | dict(zip(missing, self._encode(missing), strict=True))
        return [known[text] for text in texts]

    def _encode(self, texts: list[str]) -> list[TokenVectors]:
        return [without_punctuation(found) for found in self.embed(texts)] if texts else []
