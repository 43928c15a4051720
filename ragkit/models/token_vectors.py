"""One vector a token, where ``embed.py`` gives one a text: all-MiniLM-L6-v2 before its pooling.

Late interaction (Khattab and Zaharia, *ColBERT*, SIGIR 2020) compares such vectors token by token. MiniLM was trained
for the mean of its token vectors, so single ones are a by-product here; ColBERT trains them, and projects them to 128
dimensions. Left out: that projection, and a cache (the vectors of a passage take a hundred times the room of one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.models.embed import SentenceEmbedder, check_texts, sentence_embedder


class TokenVectors(NamedTuple):
    """The tokens of one text and their vectors, ``(tokens, d)`` float32, rows of unit length."""

    tokens: tuple[str, ...]
    vectors: NDArray[np.float32]


TokenEmbedder: TypeAlias = Callable[[list[str]], list[TokenVectors]]
"""``n`` texts in, ``n`` `TokenVectors` out. A text without tokens has vectors of shape ``(0, d)``."""


def token_embedder(name: str | None = None) -> TokenEmbedder:
    """The course's `TokenEmbedder`: all-MiniLM-L6-v2 (d = 384), or a sentence-transformers model by name.

    Special tokens and padding are no tokens of the text and are left out. Each vector is brought to length 1 on its
    own. A vector depends on its whole text, and agrees to 1e-5 whatever else is in the list. The model reads 256 word
    pieces; what lies beyond has no vectors. A name other than the course's model may be downloaded, as in `embedder`.
    """
    model = sentence_embedder(name)

    def embed(texts: list[str]) -> list[TokenVectors]:
        check_texts(texts)
        found: dict[int, TokenVectors] = {}
        for batch in _batches(texts):
            found.update(zip(batch, _token_vectors([texts[i] for i in batch], model), strict=True))
        return [found[i] for i in range(len(texts))]

    return embed


class PairStates(NamedTuple):
    """A query and a passage read as one sequence: the hidden states of both after every layer, special tokens left out.

    ``(layers + 1, tokens, d)`` float32 each, not normalised; the first slice is the embedding before any layer, the
    same whatever the partner is, and from the second on each token has seen those of the partner.
    """

    query: NDArray[np.float32]
    passage: NDArray[np.float32]


PairEncoder: TypeAlias = Callable[[list[tuple[str, str]]], list[PairStates]]
"""``n`` (query, passage) pairs in, ``n`` `PairStates` out."""


def pair_encoder(name: str | None = None) -> PairEncoder:
    """All-MiniLM-L6-v2 over pairs, ``[CLS] query [SEP] passage [SEP]`` with marked segments, as BERT reads two texts.

    The model was not trained on pairs; its attention sees both all the same. A pair beyond 256 word pieces loses the
    end of its longer text. States agree to 1e-4 whatever else is in the list.
    """
    model = sentence_embedder(name)

    def encode(pairs: list[tuple[str, str]]) -> list[PairStates]:
        check_texts([text for pair in pairs for text in pair])
        found: dict[int, PairStates] = {}
        for batch in _batches([query + passage for query, passage in pairs]):
            found.update(zip(batch, _pair_states([pairs[i] for i in batch], model), strict=True))
        return [found[i] for i in range(len(pairs))]

    return encode


def _pair_states(pairs: list[tuple[str, str]], model: SentenceEmbedder) -> Iterator[PairStates]:
    import torch

    tokenizer, transformer = model.transformer
    batch = tokenizer(
        [query for query, _ in pairs],
        [passage for _, passage in pairs],
        padding=True,
        truncation="longest_first",
        max_length=model.max_length,
        return_special_tokens_mask=True,
        return_tensors="pt",
    )
    special = batch.pop("special_tokens_mask").bool()
    with torch.inference_mode():
        layers = torch.stack(transformer(**batch, output_hidden_states=True).hidden_states, dim=1)
    for states, segment, left_out in zip(layers, batch["token_type_ids"], special, strict=True):
        yield PairStates(*(states[:, (segment == part) & ~left_out].numpy() for part in (0, 1)))


def _batches(texts: Sequence[str], size: int = 32) -> Iterator[list[int]]:
    """Positions in groups of similar length, so that little is padded."""
    order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), i))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _token_vectors(texts: list[str], model: SentenceEmbedder) -> list[TokenVectors]:
    import torch

    tokenizer, transformer = model.transformer
    batch = tokenizer(
        texts,
        padding=True,
        truncation=True,
        max_length=model.max_length,
        return_special_tokens_mask=True,
        return_tensors="pt",
    )
    special = batch.pop("special_tokens_mask").bool()  # padding is special too
    with torch.inference_mode():
        states = torch.nn.functional.normalize(transformer(**batch).last_hidden_state, dim=-1)
    rows = []
    for ids, vectors, left_out in zip(batch["input_ids"], states, special, strict=True):
        tokens = tokenizer.convert_ids_to_tokens(ids[~left_out].tolist())
        rows.append(TokenVectors(tuple(tokens), vectors[~left_out].numpy().astype(np.float32)))
    return rows
