"""Price, arithmetic and memory of prompts: hand arithmetic, the worked numbers of the course, and limits."""

import math
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.systems.cost import Prices, caching_pays_from, call_price, compare, crossover, growth, prefix_price
from ragkit.systems.prefill import (
    LLAMA_2_7B,
    LLAMA_3_8B,
    LLAMA_3_70B,
    LLAMA_3_405B,
    ModelShape,
    kv_bytes,
    kv_bytes_per_token,
    overtakes,
    prefill_flops,
    quadratic_overtakes,
)

ONE = Prices(input=1.0)
COUNTS = st.integers(0, 3_000_000)


def test_the_check_figure_of_the_course():
    assert call_price(500_000, prices=ONE) == 0.5
    assert call_price(500_000, prices=ONE, cached=500_000) == pytest.approx(0.05)
    assert call_price(5_000, prices=ONE) == 0.005


def test_the_worked_numbers_of_query_cost():
    one = compare(500, 4_000, 8, 250, prices=Prices(input=3.0), queries_per_day=2_000)
    assert (one.long, one.retrieved, one.long_daily, one.retrieved_daily) == pytest.approx((6.0, 0.006, 12_000, 12))
    assert one.ratio == pytest.approx(1_000)
    assert one.long_cached == pytest.approx(0.6)
    assert one.cached_ratio == pytest.approx(100)
    assert (one.long_tokens, one.retrieved_tokens, one.fits) == (2_000_000, 2_000, False)
    assert compare(250, 4_000, 8, 250, prices=ONE).fits


def test_the_worked_numbers_of_attention_cost():
    assert growth(12_000, 48_000) == (16, 4, 4)


def test_a_cached_prefix_pays_from_the_second_use():
    # writing 1.25, reading 0.1: one use 1.25 > 1, two uses 1.35 < 2
    assert caching_pays_from(Prices(input=3.0)) == 2
    assert prefix_price(1_000_000, 1, prices=ONE) == pytest.approx(1.25)
    assert prefix_price(1_000_000, 2, prices=ONE) == pytest.approx(1.35)
    assert prefix_price(1_000_000, 10, prices=ONE) == pytest.approx(1.25 + 0.9)
    assert prefix_price(1_000_000, 0, prices=ONE) == 0.0


@settings(max_examples=100, deadline=None)
@given(st.floats(0, 3), st.floats(0, 0.99))
def test_caching_pays_from_is_the_first_number_of_uses_that_is_cheaper(write, read):
    prices = Prices(input=1.0, cache_write=write, cache_read=read)
    n = caching_pays_from(prices)
    cheaper = [uses for uses in range(1, n + 2) if write + read * (uses - 1) < uses - 1e-9]
    assert cheaper[0] in (n, n + 1)  # a tie within rounding may fall to either side
    assert all(write + read * (uses - 1) >= uses - 1e-9 for uses in range(1, n))


def test_a_change_in_the_prefix_misses_and_is_written_anew():
    assert call_price(1_000_000, prices=ONE, written=1_000_000) == pytest.approx(1.25)
    assert caching_pays_from(Prices(input=1.0, cache_read=1.0)) is None
    assert caching_pays_from(Prices(input=1.0, cache_write=0.5)) == 1
    assert caching_pays_from(Prices(input=0.0)) is None


@settings(max_examples=50, deadline=None)
@given(COUNTS, COUNTS, st.floats(0, 100))
def test_price_is_linear_and_parts_add_up(prompt, completion, price):
    prices = Prices(input=price, output=5 * price)
    alone = call_price(prompt, prices=prices) + call_price(0, completion, prices=prices)
    assert call_price(prompt, completion, prices=prices) == pytest.approx(alone)
    assert call_price(prompt, prices=prices, cached=prompt) == pytest.approx(0.1 * call_price(prompt, prices=prices))


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 20_000), st.integers(1, 500))
def test_at_the_crossover_both_prices_are_equal(retrieved, questions):
    # the price of n questions over the prefix, by the other function, against n prompts of retrieved tokens
    assert crossover(retrieved, prices=ONE) == retrieved
    size = crossover(retrieved, prices=ONE, questions=questions)
    first = call_price(size, prices=ONE, written=size)
    later = call_price(size, prices=ONE, cached=size)
    assert first + (questions - 1) * later == pytest.approx(questions * call_price(retrieved, prices=ONE))


def test_a_free_prefix_has_no_crossover():
    free = Prices(input=1.0, cache_write=0, cache_read=0)
    assert crossover(500, prices=free, questions=3) == inf
    assert crossover(0, prices=ONE, questions=3) == 0


def test_limits_of_a_comparison():
    assert compare(10, 10, 0, 0, prices=ONE).ratio == inf
    assert compare(0, 0, 0, 0, prices=ONE).ratio == 1.0


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: Prices(input=-1), "input"),
        (lambda: Prices(input=1, cache_read=math.nan), "cache_read"),
        (lambda: call_price(-1, prices=ONE), "prompt"),
        (lambda: call_price(1, prices=ONE, cached=2), "cached"),
        (lambda: compare(-1, 1, 1, 1, prices=ONE), "documents"),
        (lambda: growth(0, 1), "before"),
        (lambda: prefix_price(1, -1, prices=ONE), "questions"),
        (lambda: crossover(-1, prices=ONE), "retrieved"),
        (lambda: crossover(1, prices=ONE, questions=0), "questions"),
        (lambda: quadratic_overtakes(0), "d_model"),
        (lambda: kv_bytes_per_token(32, 0, 128), "kv_heads"),
        (lambda: kv_bytes_per_token(32, 8, 128, 0), "bytes_per_value"),
        (lambda: kv_bytes(LLAMA_2_7B, -1), "tokens"),
        (lambda: prefill_flops(LLAMA_2_7B, 10, cached=11), "cached"),
        (lambda: prefill_flops(LLAMA_2_7B, 1).seconds(0), "flops_per_second"),
        (lambda: ModelShape("x", 1e9, 1, 8, 3, 2, 4), "heads"),
        (lambda: ModelShape("x", 0, 1, 8, 2, 2, 4), "parameters"),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()


# --- arithmetic and memory


def test_key_value_bytes_count_key_value_heads_and_not_attention_heads():
    assert kv_bytes_per_token(32, 32, 128) == 524_288
    assert kv_bytes(LLAMA_2_7B, 1) == 524_288
    assert kv_bytes(LLAMA_3_8B, 1) == 131_072
    assert kv_bytes(LLAMA_3_70B, 1) == 327_680
    assert kv_bytes_per_token(32, LLAMA_3_8B.heads, 128) == 4 * 131_072  # the slip, 4 times too much
    assert kv_bytes_per_token(80, LLAMA_3_70B.heads, 128) == 8 * 327_680  # and 8 times


def test_two_million_resident_tokens_take_hundreds_of_gigabytes():
    assert 200e9 < kv_bytes(LLAMA_3_8B, 2_000_000) < kv_bytes(LLAMA_3_70B, 2_000_000) < 700e9


def test_the_quadratic_term_overtakes_at_six_times_the_width():
    assert quadratic_overtakes(4096) == 24_576
    assert quadratic_overtakes(4096, causal=True) == 49_152


@pytest.mark.parametrize("d", [256, 576, 4096, 8192])
@pytest.mark.parametrize("causal", [False, True])
def test_at_that_length_both_terms_are_equal(d, causal):
    layers = 7
    model = ModelShape("plain", 12 * layers * d * d, layers, d, d // 64, d // 64, 64)
    length = quadratic_overtakes(d, causal=causal)
    cost = prefill_flops(model, length, causal=causal)
    assert cost.attention == pytest.approx(cost.linear, rel=1e-12)
    assert overtakes(model, causal=causal) == pytest.approx(length)
    assert prefill_flops(model, length - 1, causal=causal).attention < prefill_flops(model, length - 1).linear


def test_the_terms_agree_with_a_count_of_multiplications():
    # one layer, width 4, 2 heads of 2: projections q, k, v, o and a feed-forward of 4 times the width
    d, heads, size, tokens = 4, 2, 2, 5
    weights = 4 * d * d + 2 * d * 4 * d
    linear = attention = 0
    for _query in range(tokens):
        linear += 2 * weights
        for _key in range(tokens):
            attention += heads * (2 * size + 2 * size)  # a score and a share of the value: a product and a sum each
    cost = prefill_flops(ModelShape("tiny", weights, 1, d, heads, heads, size), tokens)
    assert (cost.linear, cost.attention) == (linear, attention)
    assert weights == 12 * d * d


def test_a_causal_kernel_halves_attention_and_a_cached_prefix_saves_its_tokens():
    full, causal = prefill_flops(LLAMA_3_8B, 8_000), prefill_flops(LLAMA_3_8B, 8_000, causal=True)
    assert causal.attention == full.attention / 2
    assert causal.linear == full.linear
    rest = prefill_flops(LLAMA_3_8B, 8_000, causal=True, cached=6_000)
    before = prefill_flops(LLAMA_3_8B, 6_000, causal=True)
    assert rest.total + before.total == pytest.approx(causal.total)
    assert prefill_flops(LLAMA_3_8B, 8_000, cached=8_000).total == 0


def test_a_million_tokens_through_405b_on_128_gpus_take_about_a_minute():
    # 128 H100 at 989 TFLOP/s (bf16, dense), of which about a half is used; published: 77 s
    seconds = prefill_flops(LLAMA_3_405B, 1_000_000, causal=True).seconds(128 * 989e12, used=0.5)
    assert 50 < seconds < 100
