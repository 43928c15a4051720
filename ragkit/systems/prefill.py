"""What reading a prompt costs a transformer: arithmetic that grows with the square, memory that grows with the length.

A forward pass costs two operations a parameter and token, 2·N·T (Kaplan et al., *Scaling Laws for Neural Language
Models*, 2020, section 2.1), and attention besides scores every token with every other and mixes the values: 2·T²·d
each, in every layer, so 4·layers·d·T²; half of it if a causal kernel skips what is masked. With N = 12·layers·d² the
second term passes the first at T = 6·d.

Key-value memory is that of the *key-value* heads (Ainslie et al., *GQA*, EMNLP 2023); the number of attention heads in
their place is wrong by the size of a group, 4 to 8 times. Left out: embeddings, and mixtures of experts, where N is the
active part.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite


@dataclass(frozen=True, slots=True)
class ModelShape:
    """A decoder's shape: ``parameters`` in all, ``head_dim`` times ``heads`` makes ``d_model`` in the usual ones."""

    name: str
    parameters: float
    layers: int
    d_model: int
    heads: int
    kv_heads: int
    head_dim: int

    def __post_init__(self) -> None:
        for name in ("parameters", "layers", "d_model", "heads", "kv_heads", "head_dim"):
            value = getattr(self, name)
            if not (isfinite(value) and value > 0):
                raise ValueError(f"{name} must be above 0, got {value!r}")
        if self.heads % self.kv_heads:
            raise ValueError(f"heads must be a multiple of kv_heads, got {self.heads} and {self.kv_heads}")


LLAMA_2_7B = ModelShape("Llama-2-7B", 6.74e9, 32, 4096, 32, 32, 128)
LLAMA_3_8B = ModelShape("Llama-3-8B", 8.03e9, 32, 4096, 32, 8, 128)
LLAMA_3_70B = ModelShape("Llama-3-70B", 70.6e9, 80, 8192, 64, 8, 128)
LLAMA_3_405B = ModelShape("Llama-3.1-405B", 405.9e9, 126, 16384, 128, 8, 128)
SMOLLM2_135M = ModelShape("SmolLM2-135M", 134.5e6, 30, 576, 9, 3, 64)


@dataclass(frozen=True, slots=True)
class Prefill:
    """Floating-point operations of reading a prompt: in the linear layers and in attention."""

    linear: float
    attention: float

    @property
    def total(self) -> float:
        return self.linear + self.attention

    def seconds(self, flops_per_second: float, used: float = 0.4) -> float:
        """The time at ``used`` of a machine's peak."""
        if not (flops_per_second > 0 and 0 < used <= 1):
            raise ValueError(f"flops_per_second must be above 0 and used in (0, 1], got {flops_per_second}, {used}")
        return self.total / (flops_per_second * used)


def prefill_flops(model: ModelShape, tokens: int, *, causal: bool = False, cached: int = 0) -> Prefill:
    """Operations for a prompt of ``tokens``, of which the first ``cached`` have their keys and values already.

    ``causal`` halves the attention term: a kernel that skips masked pairs computes half of them. With a cached prefix
    only the new tokens go through the layers, and each of them still looks at all that stand before it.

    >>> cost = prefill_flops(LLAMA_2_7B, 24_576)
    >>> round(cost.attention / cost.linear, 2)
    0.96
    """
    _check_tokens(tokens)
    if not 0 <= cached <= tokens:
        raise ValueError(f"cached must lie between 0 and tokens, got {cached} of {tokens}")
    fresh = tokens - cached
    pairs = (tokens**2 - cached**2) / 2 if causal else fresh * tokens
    width = model.heads * model.head_dim
    return Prefill(2.0 * model.parameters * fresh, 4.0 * model.layers * width * pairs)


def quadratic_overtakes(d_model: int, *, causal: bool = False) -> int:
    """The length at which attention costs as much as the linear layers, for N = 12·layers·d_model².

    4·layers·d·T² = 2·12·layers·d²·T gives T = 6·d, and 12·d for a causal kernel.

    >>> quadratic_overtakes(4096), quadratic_overtakes(4096, causal=True)
    (24576, 49152)
    """
    if isinstance(d_model, bool) or not isinstance(d_model, int) or d_model < 1:
        raise ValueError(f"d_model must be an int of at least 1, got {d_model!r}")
    return (12 if causal else 6) * d_model


def overtakes(model: ModelShape, *, causal: bool = False) -> float:
    """The same length for a model's real shape: T = N / (2·layers·d), twice that for a causal kernel."""
    return (2 if causal else 1) * model.parameters / (2 * model.layers * model.heads * model.head_dim)


def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, bytes_per_value: float = 2) -> float:
    """Memory that one token's keys and values take: 2 · layers · kv_heads · head_dim · bytes.

    >>> kv_bytes_per_token(32, 32, 128), kv_bytes_per_token(32, 8, 128), kv_bytes_per_token(80, 8, 128)
    (524288, 131072, 327680)
    """
    for name, value in (("layers", layers), ("kv_heads", kv_heads), ("head_dim", head_dim)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be an int of at least 1, got {value!r}")
    if not (isfinite(bytes_per_value) and bytes_per_value > 0):
        raise ValueError(f"bytes_per_value must be above 0, got {bytes_per_value!r}")
    return 2 * layers * kv_heads * head_dim * bytes_per_value


def kv_bytes(model: ModelShape, tokens: int, bytes_per_value: float = 2) -> float:
    """Memory of ``tokens`` resident tokens.

    >>> [round(kv_bytes(model, 2_000_000) / 1e9) for model in (LLAMA_3_8B, LLAMA_3_70B)]
    [262, 655]
    """
    _check_tokens(tokens)
    return kv_bytes_per_token(model.layers, model.kv_heads, model.head_dim, bytes_per_value) * tokens


def _check_tokens(tokens: int) -> None:
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
        raise ValueError(f"tokens must be an int of at least 0, got {tokens!r}")
