"""Probabilities of given text: how likely SmolLM2-135M-Instruct finds a continuation after a prefix, token by token.

The engine of ``local.py`` gives the probabilities of tokens that it generates and not those of a prompt, so the same
weights are run here by ``transformers``, in float32 (``dequantized.py``). The engine computes in other precision, so
the two agree to a few hundredths of a log-probability. Left out: graphics cards, reusing the keys and values of a
prefix that several pairs share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragkit.models import dequantized
from ragkit.models.local import CONTEXT, NAME

SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
"""The system turn that the model's own chat template puts before a conversation that has none."""


class LogProbabilities(Protocol):
    """``n`` pairs (prefix, continuation) in, ``n`` arrays out: the natural log-probability of each continuation token.

    Only tokens of the continuation are counted, and no special token is among them.
    """

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[NDArray[np.float64]]:
        """One array of shape ``(tokens,)`` a pair, in the order given."""
        ...


class Likelihood:
    """`LogProbabilities` of the course's local model.

    With ``chat`` the prefix is the user's turn and the continuation what the assistant would say; without, both are
    raw text. The two are tokenised apart, so one continuation has the same tokens behind every prefix. What looks like
    a special token in either text (``<|im_end|>``) is read as ordinary characters. ``batch_tokens`` bounds the padded
    tokens of one forward pass, and with it the memory; results agree to 1e-4 whatever else is in the list.

    An empty continuation gives an empty array. Raises ``ValueError`` for anything but pairs of strings, and for a pair
    that does not fit the context of 8,192 tokens.
    """

    name = NAME

    def __init__(self, *, chat: bool = True, batch_tokens: int = 2_048) -> None:
        if isinstance(batch_tokens, bool) or not isinstance(batch_tokens, int) or batch_tokens < 1:
            raise ValueError(f"batch_tokens must be a positive int, got {batch_tokens!r}")
        self.chat, self.batch_tokens = chat, batch_tokens

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[NDArray[np.float64]]:
        """The log-probability of every token of every continuation, given its prefix and the tokens before it."""
        found: list[NDArray[np.float64]] = [np.zeros(0)] * len(pairs)
        rows: dict[int, tuple[list[int], int]] = {}
        for i, pair in enumerate(pairs):
            if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(isinstance(p, str) for p in pair):
                raise ValueError(f"pairs[{i}] must be a pair of str, got {pair!r:.80}")
            tail = token_ids(pair[1])
            head = self.prefix_ids(pair[0])
            if len(head) + len(tail) > CONTEXT:
                raise ValueError(f"pairs[{i}] has {len(head) + len(tail)} tokens, more than the {CONTEXT} that fit")
            if tail:
                rows[i] = (head + tail, len(tail))
        for batch in _batches({i: len(ids) for i, (ids, _) in rows.items()}, self.batch_tokens):
            for i, row in zip(batch, _forward([rows[i] for i in batch]), strict=True):
                found[i] = row
        return found

    def prefix_ids(self, prefix: str) -> list[int]:
        """The tokens before the continuation: those of the chat template, or the raw ones (one marker if none)."""
        start, end = _special("<|im_start|>"), _special("<|im_end|>")
        if not self.chat:
            return token_ids(prefix) or [start]  # a first token has to follow something
        turns = [("system", SYSTEM), ("user", prefix)]
        ids = [i for role, text in turns for i in (start, *token_ids(f"{role}\n{text}"), end, *token_ids("\n"))]
        return [*ids, start, *token_ids("assistant\n")]


def token_ids(text: str) -> list[int]:
    """The model's tokens of a text, special tokens neither added nor read out of it.

    Needs the converted files: the first call on a machine takes half a minute.
    """
    ids: list[int] = dequantized.tokenizer().encode(text, add_special_tokens=False).ids
    return ids


def _special(token: str) -> int:
    return int(dequantized.tokenizer().token_to_id(token))


def _batches(lengths: Mapping[int, int], budget: int) -> Iterator[list[int]]:
    """Positions in groups of similar length whose padded size stays within ``budget`` (one alone may exceed it)."""
    batch: list[int] = []
    for i in sorted(lengths, key=lambda i: (lengths[i], i)):
        if batch and (len(batch) + 1) * lengths[i] > budget:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _forward(rows: Sequence[tuple[list[int], int]]) -> list[NDArray[np.float64]]:
    """One pass over padded rows of (tokens, length of the continuation)."""
    import torch

    model = dequantized.model()
    width = max(len(ids) for ids, _ in rows)
    padded = torch.zeros((len(rows), width), dtype=torch.long)
    for r, (ids, _) in enumerate(rows):
        padded[r, : len(ids)] = torch.tensor(ids)
    with torch.inference_mode():
        # Padding stands on the right and attention looks left only, so no token ever sees it.
        hidden = model.model(input_ids=padded, use_cache=False).last_hidden_state
        # The token at position t is predicted at t - 1. The vocabulary is large: only these positions are projected.
        wanted = torch.cat([hidden[r, len(ids) - n - 1 : len(ids) - 1] for r, (ids, n) in enumerate(rows)])
        target = torch.cat([torch.tensor(ids[-n:]) for ids, n in rows])
        logits = model.lm_head(wanted).double()
        chosen = logits.gather(1, target[:, None])[:, 0] - logits.logsumexp(dim=1)
    return [part.numpy() for part in chosen.split([n for _, n in rows])]
