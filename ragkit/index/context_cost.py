"""What contextual retrieval costs: tokens read and written a document, with and without a cached prefix.

One call a chunk, and each call reads the whole document: without a cache the input grows with chunks × document, that
is, with the square of the document. With a cache the document is written once and then read at a discount.

The factors are arguments. Their defaults are Anthropic's prices for prompt caching (2024): writing a prefix 1.25× the
price of plain input, reading it 0.1×, a life of five minutes that each use renews. A local server with prefix caching
(vLLM, SGLang) has no surcharge: ``write=1``, and ``read=0`` if only arithmetic counts. Any change in a prefix misses:
the cache knows tokens, not documents. Lengths are MiniLM's word pieces, the course's unit. Left out: discounts for
batches, and the price of embedding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import floor, isfinite
from typing import NamedTuple

from ragkit.index.contextual import context_prompt, document_prefix
from ragkit.text import count_tokens

WRITE, READ = 1.25, 0.1
"""Anthropic's factors on the price of plain input: writing a prefix into the cache, reading it from there."""


class TokenBill(NamedTuple):
    """Tokens of an indexing run by what they are billed as: plain input, cache writes, cache reads, output."""

    calls: int = 0
    plain: int = 0
    written: int = 0
    read: int = 0
    output: int = 0

    @property
    def input(self) -> int:
        """All tokens that the model is shown: the same with a cache and without."""
        return self.plain + self.written + self.read

    def plus(self, other: TokenBill) -> TokenBill:
        """Both bills together."""
        return TokenBill(*(a + b for a, b in zip(self, other, strict=True)))


def prefix_cost(uses: int, write: float = WRITE, read: float = READ) -> float:
    """Cost of ``uses`` calls that share a prefix: ``write + read (uses - 1)``, in units of reading it once uncached.

    >>> [round(prefix_cost(n), 2) for n in (0, 1, 2, 10)]
    [0.0, 1.25, 1.35, 2.15]
    """
    _check_factors(write, read)
    if uses < 0:
        raise ValueError(f"uses must be at least 0, got {uses}")
    return write + read * (uses - 1) if uses else 0.0


def pays_from(write: float = WRITE, read: float = READ) -> int | None:
    """The least number of uses at which a cached prefix is cheaper than reading it every time; None if none is.

    ``write + read (n - 1) < n`` holds from the first whole ``n`` above ``(write - read) / (1 - read)``.

    >>> pays_from(), pays_from(write=2.0), pays_from(write=1.0, read=1.0)
    (2, 3, None)
    """
    _check_factors(write, read)
    if write < 1:
        return 1
    w, r = Fraction(str(float(write))), Fraction(str(float(read)))  # 1.8 / 0.9 must not come out as 1.999
    return None if r >= 1 else floor((w - r) / (1 - r)) + 1


def document_bill(
    document: str,
    chunks: Sequence[str],
    cached: bool = True,
    output: int = 50,
    writes: int = 1,
    min_prefix: int = 0,
    count: Callable[[str], int] = count_tokens,
) -> TokenBill:
    """The tokens it takes to contextualise one document's ``chunks``; blank chunks cost no call.

    ``output`` is the length of a context. ``writes`` says how often the prefix is written: once for calls one after
    the other, ``len(chunks)`` for calls all at once, since nobody can read what the first has not finished writing.
    A prefix shorter than ``min_prefix`` is not cached (Anthropic's models take none below 1,024 tokens or more).
    """
    if output < 0:
        raise ValueError(f"output must be at least 0, got {output}")
    if writes < 1:
        raise ValueError(f"writes must be at least 1, got {writes}")
    prefix = document_prefix(document)
    shared = count(prefix)
    kept = [chunk for chunk in chunks if chunk.strip()]
    own = sum(count(context_prompt(document, chunk)[len(prefix) :]) for chunk in kept)
    n = len(kept)
    if not cached or shared < min_prefix:
        return TokenBill(n, n * shared + own, 0, 0, n * output)
    written = min(writes, n)
    return TokenBill(n, own, written * shared, (n - written) * shared, n * output)


def corpus_bill(
    documents: Iterable[tuple[str, Sequence[str]]],
    cached: bool = True,
    output: int = 50,
    writes: int = 1,
    min_prefix: int = 0,
    count: Callable[[str], int] = count_tokens,
) -> TokenBill:
    """The sum of ``document_bill`` over ``(document, chunks)`` pairs; no documents cost nothing."""
    total = TokenBill()
    for document, chunks in documents:
        total = total.plus(document_bill(document, chunks, cached, output, writes, min_prefix, count))
    return total


def price(
    bill: TokenBill, input_price: float, output_price: float = 0.0, write: float = WRITE, read: float = READ
) -> float:
    """The bill in money; prices are for a million tokens of plain input and of output.

    >>> price(TokenBill(calls=2, plain=100_000, written=1_000_000, read=1_000_000), input_price=1.0)
    1.45
    """
    _check_factors(write, read)
    for name, value in (("input_price", input_price), ("output_price", output_price)):
        if not (isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
    units = bill.plain + write * bill.written + read * bill.read
    return (units * input_price + bill.output * output_price) / 1_000_000


def _check_factors(write: float, read: float) -> None:
    for name, value in (("write", write), ("read", read)):
        if not (isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
