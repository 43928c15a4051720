"""A small trained cross-encoder: frozen MiniLM reads query and passage together, a linear head weighs what it saw.

The architecture of Nogueira and Cho, *Passage Re-ranking with BERT* (2019), with the network frozen: there all layers
are trained on half a million labelled queries, here `len(NAMES)` weights on some hundreds. So little data cannot teach
the marker token that BERT pools; the head gets pooled interactions instead, of the states after every layer (compare
MacAvaney et al., *CEDR*, SIGIR 2019, which adds such similarities to BERT). ``train_head.py`` trains the weights that
lie beside this file. Left out: training the layers, and any passage beyond 256 word pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragkit.models.token_vectors import PairEncoder, PairStates, pair_encoder
from ragkit.search.rerank import Reranker, scoring

WEIGHTS = Path(__file__).with_suffix(".npz")
LAYERS = 7
"""States of MiniLM: the embedding and six layers."""

POOLED = ("best match, mean", "best match, least", "best match, spread", "cosine of the means")
NAMES = tuple(f"layer {layer}: {name}" for layer in range(LAYERS) for name in POOLED)
"""What each weight of the head stands for."""

Float = NDArray[np.float64]


class Head(NamedTuple):
    """A linear head over standardised features: ``score = weights @ ((features - mean) / scale)``; each ``(f,)``.

    ``inputs`` is a hash of what it was trained on (``train_head.inputs_hash``).
    """

    weights: Float
    mean: Float
    scale: Float
    inputs: str

    def scores(self, features: Float) -> Float:
        """One score a row of ``features`` ``(n, f)``; only differences between passages of one query mean something."""
        return np.asarray((features - self.mean) / self.scale @ self.weights)


def pooled(states: PairStates) -> Float:
    """The features of one pair, ``(len(NAMES),)``.

    At each layer: the cosine of every query token with its best passage token (as MaxSim takes it), of these the mean,
    the least and the standard deviation; and the cosine of the two mean vectors. All 0 for a side without tokens.
    """
    layers = states.query.shape[0]
    if not states.query.shape[1] or not states.passage.shape[1]:
        return np.zeros(layers * len(POOLED))
    query, passage = states.query.astype(np.float64), states.passage.astype(np.float64)
    best = (_unit(query) @ _unit(passage).transpose(0, 2, 1)).max(axis=2)
    means = (_unit(query.mean(axis=1)) * _unit(passage.mean(axis=1))).sum(axis=1)
    return np.stack([best.mean(axis=1), best.min(axis=1), best.std(axis=1), means], axis=1).ravel()


def _unit(vectors: Float) -> Float:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12))


def pair_features(pairs: Sequence[tuple[str, str]], encode: PairEncoder, batch: int = 64) -> Float:
    """Features of many pairs, ``(n, len(NAMES))``; states are large, so each batch is pooled before the next one."""
    order = sorted(range(len(pairs)), key=lambda i: (len(pairs[i][0]) + len(pairs[i][1]), i))
    table = np.zeros((len(pairs), len(NAMES)))
    for start in range(0, len(order), batch):
        part = order[start : start + batch]
        table[part] = [pooled(states) for states in encode([pairs[i] for i in part])]
    return table


def load_head(path: Path = WEIGHTS) -> Head:
    """The weights that ``python -m ragkit.search.train_head`` wrote; ``ValueError`` where they do not fit the code."""
    with np.load(path, allow_pickle=False) as stored:
        if stored["names"].tolist() != list(NAMES) or stored["weights"].shape != (len(NAMES),):
            raise ValueError(f"path holds a head of other features: train it again ({path.name})")
        return Head(stored["weights"], stored["mean"], stored["scale"], str(stored["inputs"]))


@lru_cache(maxsize=1)
def _trained() -> Head:
    return load_head()


def cross_encoder_head(encode: PairEncoder | None = None, head: Head | None = None) -> Reranker:
    """A `Reranker` by the trained head; one forward pass of MiniLM a hit, over query and passage together.

    It was trained on passages with their titles (`full_texts`). Scores have no unit: they order the hits of one query.
    """
    encoder = pair_encoder() if encode is None else encode
    weights = _trained() if head is None else head

    def score(query: str, texts: list[str]) -> Float:
        return weights.scores(pair_features([(query, text) for text in texts], encoder))

    return scoring(score)
