"""The price of a question: everything in the prompt, or retrieved passages; with and without a cached prefix.

Money here is tokens times a price per million. Cached prefixes are priced as Anthropic does (writing 1.25 times the
input price, reading 0.1, five minutes of life); a cache serves only a prompt whose *beginning* is the same, so the
corpus comes first, only grows at its end, and the question comes last. What a prompt costs in arithmetic and memory is
in ``prefill.py``. Left out: batch discounts, and the rent of an own machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import NamedTuple

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in one currency per million tokens; ``cache_write`` and ``cache_read`` are multiples of ``input``."""

    input: float
    output: float = 0.0
    cache_write: float = 1.25
    cache_read: float = 0.1

    def __post_init__(self) -> None:
        for name in ("input", "output", "cache_write", "cache_read"):
            _check(name, getattr(self, name))


def call_price(prompt: float, completion: float = 0, *, prices: Prices, cached: float = 0, written: float = 0) -> float:
    """The price of one call: ``prompt`` tokens, of which ``cached`` were read from a cache and ``written`` to one.

    >>> one = Prices(input=1.0)
    >>> call_price(500_000, prices=one), call_price(500_000, prices=one, cached=500_000), call_price(5_000, prices=one)
    (0.5, 0.05, 0.005)
    """
    for name, value in (("prompt", prompt), ("completion", completion), ("cached", cached), ("written", written)):
        _check(name, value)
    if cached + written > prompt:
        raise ValueError(f"cached and written are {cached + written} tokens of a prompt of {prompt}")
    fresh = prompt - cached - written
    read = (fresh + prices.cache_write * written + prices.cache_read * cached) * prices.input
    return (read + completion * prices.output) / MILLION


def prefix_price(prefix: int, questions: int, *, prices: Prices, question: int = 0, completion: int = 0) -> float:
    """The price of ``questions`` calls over one cached prefix: written once, read by all the others in time.

    ``question`` and ``completion`` are the tokens that each call adds.
    """
    _check("questions", questions)
    if not questions:
        return 0.0
    first = call_price(prefix + question, completion, prices=prices, written=prefix)
    later = call_price(prefix + question, completion, prices=prices, cached=prefix)
    return first + (questions - 1) * later


def caching_pays_from(prices: Prices) -> int | None:
    """The smallest number of uses at which a cached prefix is cheaper; None if it never is.

    write + read (n - 1) < n, so n > (write - read) / (1 - read).

    >>> caching_pays_from(Prices(input=3.0)), caching_pays_from(Prices(input=3.0, cache_read=1.0))
    (2, None)
    """
    if prices.input == 0 or (prices.cache_read >= 1 and prices.cache_write >= 1):
        return None
    if prices.cache_write < 1:
        return 1
    return int((prices.cache_write - prices.cache_read) / (1 - prices.cache_read)) + 1


def crossover(retrieved: float, *, prices: Prices, questions: int | None = None) -> float:
    """The corpus size in tokens at which the whole corpus costs as much as ``retrieved`` tokens a question.

    Above it retrieval is cheaper. With ``questions`` the corpus is a cached prefix that is written once and read by all
    the others in time, T (write + read (n - 1)) / n = retrieved; without, it is read afresh each time. ``inf`` where
    reading the prefix is free.

    >>> one = Prices(input=1.0)
    >>> crossover(500, prices=one), round(crossover(500, prices=one, questions=1_000))
    (500.0, 4943)
    """
    _check("retrieved", retrieved)
    if questions is None:
        return float(retrieved)
    if questions < 1:
        raise ValueError(f"questions must be at least 1, got {questions}")
    share = (prices.cache_write + prices.cache_read * (questions - 1)) / questions
    return retrieved / share if share else inf


class Growth(NamedTuple):
    """By what a longer prompt multiplies: scoring and mixing in attention, the linear layers, and the price."""

    attention: float
    linear: float
    price: float


def growth(before: int, after: int) -> Growth:
    """What a prompt of ``after`` tokens costs over one of ``before``.

    Attention compares every token with every other, so it grows with the square; the linear layers treat each token
    alone, and providers charge by token.

    >>> growth(12_000, 48_000)
    Growth(attention=16.0, linear=4.0, price=4.0)
    """
    if before < 1 or after < 0:
        raise ValueError(f"before must be at least 1 and after at least 0, got {before} and {after}")
    times = after / before
    return Growth(times**2, times, times)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One question answered from everything and from retrieved passages, in money; ``fits`` says if a window holds it.

    ``ratio`` is ``inf`` where retrieval costs nothing and the long context something.
    """

    long_tokens: int
    retrieved_tokens: int
    long: float
    long_cached: float
    retrieved: float
    fits: bool
    queries_per_day: float

    @property
    def ratio(self) -> float:
        return _ratio(self.long, self.retrieved)

    @property
    def cached_ratio(self) -> float:
        """The ratio when every question finds the corpus in the cache."""
        return _ratio(self.long_cached, self.retrieved)

    @property
    def long_daily(self) -> float:
        return self.long * self.queries_per_day

    @property
    def retrieved_daily(self) -> float:
        return self.retrieved * self.queries_per_day


def compare(
    documents: int,
    tokens_per_document: int,
    passages: int,
    tokens_per_passage: int,
    *,
    prices: Prices,
    queries_per_day: float = 0,
    window: int = MILLION,
) -> Comparison:
    """The whole corpus in the prompt against ``passages`` retrieved ones, input tokens alone.

    >>> one = compare(500, 4_000, 8, 250, prices=Prices(input=3.0), queries_per_day=2_000)
    >>> one.long, one.retrieved, round(one.ratio), one.long_daily, one.retrieved_daily, round(one.long_cached, 2)
    (6.0, 0.006, 1000, 12000.0, 12.0, 0.6)
    >>> one.long_tokens, one.fits
    (2000000, False)
    """
    counts = {
        "documents": documents,
        "tokens_per_document": tokens_per_document,
        "passages": passages,
        "tokens_per_passage": tokens_per_passage,
        "queries_per_day": queries_per_day,
        "window": window,
    }
    for name, value in counts.items():
        _check(name, value)
    whole, part = documents * tokens_per_document, passages * tokens_per_passage
    return Comparison(
        long_tokens=whole,
        retrieved_tokens=part,
        long=call_price(whole, prices=prices),
        long_cached=call_price(whole, prices=prices, cached=whole),
        retrieved=call_price(part, prices=prices),
        fits=whole <= window,
        queries_per_day=queries_per_day,
    )


def _ratio(one: float, other: float) -> float:
    return one / other if other else inf if one else 1.0


def _check(name: str, value: float) -> None:
    if isinstance(value, bool) or not (isfinite(value) and value >= 0):
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
