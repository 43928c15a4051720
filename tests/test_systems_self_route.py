"""Self-Route: two calls at most, both paid for; the router over everything, held against the best single technique."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Hit, Passage
from ragkit.loops.routes import RouterCost
from ragkit.metrics import paired_bootstrap
from ragkit.models import StandIn
from ragkit.search import BM25
from ragkit.systems.cost import Prices
from ragkit.systems.router import RouterTable, answer_by_route, report
from ragkit.systems.self_route import declines, long_prompt, self_route, self_route_prompt, self_route_share
from ragkit.text import count_tokens

DOCS = BM25([Passage("kettle", "The Aster kettle holds 1.7 litres."), Passage("lamp", "The lamp is green.")])
TEXT = "The Aster kettle holds 1.7 litres. Its lid is blue. " * 20


def never(*_):
    pytest.fail("called")


def test_the_first_call_answers_from_the_passages():
    llm = StandIn([("from the passages", "1.7 litres")])
    result = self_route("What does the Aster kettle hold?", retriever=DOCS, llm=llm, text=never)
    assert (result.answer, result.routed, result.stopped) == ("1.7 litres", False, "retrieved")
    assert [call.name for call in result.calls] == ["retrieved"]
    assert result.prompt_tokens == count_tokens(llm.prompts[0])


def test_cost_counts_both_calls_of_a_routed_question():
    llm = StandIn([("from the passages", "Unanswerable."), ("from the text", "blue")])
    result = self_route("Which lid has the kettle?", retriever=DOCS, llm=llm, text=TEXT)
    assert (result.answer, result.routed, result.stopped) == ("blue", True, "long")
    assert result.prompt_tokens == sum(count_tokens(prompt) for prompt in llm.prompts)
    assert len(llm.prompts) == 2
    written = count_tokens("Unanswerable.") + count_tokens("blue")
    assert result.completion_tokens == written
    assert result.price(Prices(input=1.0, output=2.0)) == pytest.approx((result.prompt_tokens + 2 * written) / 1e6)
    assert result.prompt_tokens > count_tokens(long_prompt("Which lid has the kettle?", TEXT))


def test_the_long_prompt_has_its_question_last_and_the_first_one_allows_to_decline():
    assert long_prompt("Why?", "corpus").endswith("corpus\n\nQuestion: Why?\nAnswer:")
    assert 'write "unanswerable"' in self_route_prompt("Why?", [Hit("a", "x", 1.0)])
    assert "{x} for $5" in self_route_prompt("{x} for $5", [])


@pytest.mark.parametrize(
    ("reply", "declined"),
    [
        ("unanswerable", True),
        ("**Unanswerable**: the passages do not say.", True),
        ("Answer: unanswerable", True),
        ("The question is unanswerable.", True),
        ("The passages do not say.", True),
        ("I do not know.", True),
        ("", True),
        ("1.7 litres", False),
        ("Two years; for the red one it is unanswerable.", False),
        ("The answer is: Unanswerable.", True),
        ("**Unanswerable**", True),
        ("The answer is two years, the rest is unanswerable.", False),
    ],
)
def test_a_reply_declines_or_answers(reply, declined):
    assert declines(reply) is declined


def test_a_text_beyond_the_window_is_not_sent():
    llm = StandIn([("from the passages", "unanswerable")])
    result = self_route("Which kettle lid?", retriever=DOCS, llm=llm, text=TEXT, window=100)
    assert (result.answer, result.stopped, len(result.calls)) == ("", "window", 1)


def test_without_hits_there_is_nothing_to_decline_and_another_model_may_read_the_long_text():
    long = StandIn([("", "blue")])
    result = self_route("zebra", retriever=DOCS, llm=never, text=lambda question: f"{question} {TEXT}", long_llm=long)
    assert (result.answer, len(result.calls)) == ("blue", 1)
    assert "zebra The Aster" in long.prompts[0]
    assert self_route("kettle", retriever=never, llm=never, text="t", long_llm=long, k=0).answer == "blue"
    assert self_route(" ", retriever=never, llm=never, text=never).stopped == "blank"
    with pytest.raises(ValueError, match="k"):
        self_route("Why?", retriever=never, llm=never, text=never, k=-1)


def test_the_share_shows_when_routing_costs_more_than_it_saves():
    kept = self_route("kettle", retriever=DOCS, llm=lambda p: "1.7", text=TEXT)
    routed = self_route("kettle", retriever=DOCS, llm=lambda p: "unanswerable" if "passages" in p else "x", text=TEXT)
    long = count_tokens(long_prompt("kettle", TEXT))
    assert self_route_share([kept], long).of_long < 1
    assert self_route_share([routed], long).of_long > 1
    half = self_route_share([kept, routed], long)
    assert half.routed == 0.5
    assert half.prompt_tokens == (kept.prompt_tokens + routed.prompt_tokens) / 2
    with pytest.raises(ValueError, match="results"):
        self_route_share([], 1)
    with pytest.raises(ValueError, match="long_tokens"):
        self_route_share([kept], 0)


# --- the router over everything

SCORES = {
    "hybrid": {"fact": 0.9, "theme": 0.1, "hop": 0.4},
    "global": {"fact": 0.2, "theme": 0.8, "hop": 0.2},
    "long": {"fact": 0.8, "theme": 0.5, "hop": 0.6},
}
TABLE = RouterTable(SCORES)


def ask(classes, table=TABLE, **options):
    techniques = {name: (lambda question, name=name: f"by {name}") for name in SCORES} | options.pop("techniques", {})
    return answer_by_route("Why?", table=table, classify=lambda q: classes, techniques=techniques, **options)


def test_the_technique_with_the_best_expected_score_is_asked():
    assert ask({"fact": 1.0}).answer == "by hybrid"
    assert ask({"theme": 1.0}).answer == "by global"
    # 0.5 fact, 0.5 theme: hybrid 0.50, global 0.50, long 0.65
    assert ask({"fact": 1.0, "theme": 1.0}).answer == "by long"
    assert TABLE.value("long", {"fact": 2.0, "theme": 2.0}) == pytest.approx(0.65)
    assert ask({}).technique == ask({"fact": 0.0}).technique == TABLE.best_single() == "long"


def test_a_price_moves_the_choice_and_ties_go_to_the_cheaper():
    costly = RouterTable(SCORES, cost={"long": 10.0, "hybrid": 1.0, "global": 5.0}, price=0.05)
    assert costly.order({"hop": 1.0}) == ["hybrid", "long", "global"]  # 0.35, 0.1 and -0.05
    even = RouterTable({"b": {"x": 0.5}, "a": {"x": 0.5}}, cost={"b": 2.0})
    assert even.order({"x": 1.0}) == ["a", "b"]


def broken(question):
    raise RuntimeError("no index")


@pytest.mark.parametrize("first", [broken, lambda q: None, lambda q: "I do not know.", lambda q: ""])
def test_where_a_technique_fails_the_next_one_is_asked(first):
    result = ask({"fact": 1.0}, techniques={"hybrid": first}, cost=RouterCost(embedded=1))
    assert (result.answer, result.technique, result.tried) == ("by long", "long", ("hybrid", "long"))
    assert result.cost == RouterCost(embedded=1)
    assert [step.action for step in result.trace] == ["route", "fail", "answer"]


def test_the_long_context_is_the_last_resort_when_retrieval_fails():
    result = ask(
        {"theme": 1.0}, techniques={"global": broken, "spare": lambda q: "by spare"}, last_resort="spare", max_tried=2
    )
    assert result.tried == ("global", "spare")
    assert ask({"fact": 1.0}, last_resort="long", techniques={"hybrid": broken}).tried == ("hybrid", "long")


def test_tries_are_bounded_and_the_last_abstention_is_given():
    shy = dict.fromkeys(SCORES, lambda question: "unknown")
    result = ask({"fact": 1.0}, techniques=shy, max_tried=2)
    assert (result.answer, result.technique, len(result.tried)) == ("unknown", "", 2)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["raise", "none", "shy", "answer"]), min_size=3, max_size=3), st.integers(1, 5))
def test_each_technique_is_asked_once_at_most(behaviours, max_tried):
    calls = []

    def make(name, behaviour):
        def technique(question):
            calls.append(name)
            if behaviour == "raise":
                raise RuntimeError(name)
            return {"none": None, "shy": "unknown", "answer": name}[behaviour]

        return technique

    techniques = {name: make(name, behaviour) for name, behaviour in zip(SCORES, behaviours, strict=True)}
    result = ask({"hop": 1.0}, techniques=techniques, max_tried=max_tried)
    assert len(calls) == len(set(calls)) <= max_tried
    assert tuple(calls) == result.tried
    assert bool(result.technique) == ("answer" in [dict(zip(SCORES, behaviours, strict=True))[name] for name in calls])


def test_the_report_holds_the_router_against_the_best_single_technique():
    outcomes = {"hybrid": [1, 0, 1, 0], "global": [0, 1, 0, 1], "long": [1, 1, 0, 0]}
    found = report(
        ["hybrid", "global", "hybrid", "long"], outcomes, "long", cost={"long": 9.0, "hybrid": 1.0}, own_cost=0.5
    )
    assert (found.router.mean, found.single.mean, found.oracle.mean) == (0.75, 0.5, 1.0)
    assert found.gain == paired_bootstrap([1, 1, 1, 0], [1, 1, 0, 0], 0)
    assert found.costs == {"router": (1 + 0 + 1 + 9) / 4 + 0.5, "long": 9.0}
    assert found.chosen == {"hybrid": 2, "global": 1, "long": 1}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_no_router_passes_the_oracle_and_a_constant_router_is_the_single_technique(seed):
    rng = np.random.default_rng(seed)
    outcomes = {name: rng.integers(0, 2, 12).tolist() for name in SCORES}
    chosen = rng.choice(list(SCORES), 12).tolist()
    found = report(chosen, outcomes, "hybrid")
    assert found.router.mean <= found.oracle.mean
    constant = report(["hybrid"] * 12, outcomes, "hybrid")
    assert constant.gain.mean == constant.gain.low == constant.gain.high == 0.0


def test_bad_tables_and_arguments_are_named():
    cases = itertools.chain(
        [
            ("scores", lambda: RouterTable({})),
            ("scores of 'b'", lambda: RouterTable({"a": {"x": 1.0}, "b": {"y": 1.0}})),
        ],
        [
            ("finite", lambda: RouterTable({"a": {"x": float("nan")}})),
            ("cost", lambda: RouterTable(SCORES, {"web": 1.0})),
        ],
        [("price", lambda: RouterTable(SCORES, price=-1.0)), ("class 'vague'", lambda: ask({"vague": 1.0}))],
        [("max_tried", lambda: ask({}, max_tried=0)), ("last_resort", lambda: ask({}, last_resort="web"))],
        [("best_single", lambda: report([], SCORES, "web")), ("outcomes", lambda: report(["a"], {"a": []}, "a"))],
        [("chosen", lambda: report(["b"], {"a": [1.0]}, "a"))],
        [("techniques", lambda: answer_by_route("?", table=TABLE, classify=never, techniques={}))],
    )
    for name, call in cases:
        with pytest.raises(ValueError, match=name):
            call()
    assert answer_by_route(" ", table=TABLE, classify=never, techniques=dict.fromkeys(SCORES, never)).tried == ()
