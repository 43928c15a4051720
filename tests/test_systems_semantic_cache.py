"""The semantic cache: its contract on vectors, the one-token trap on real ones, and the second gate."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ragkit.systems import GuardedSemanticCache, Scope, SemanticCache, difference, holds_identifier

SCOPE = Scope("smol", "p1", "c1", "ann")
small = st.lists(st.integers(-3, 3).map(float), min_size=3, max_size=3)

# --- the contract


def naive_get(stored, asked, threshold):
    """Exhaustive search with the tie rule, on cosines computed one by one."""
    if not any(asked):
        return None
    cosines = [
        (sum(a * b for a, b in zip(v, asked, strict=True)) / (np.linalg.norm(v) * np.linalg.norm(asked)), answer)
        for v, answer in stored
        if any(v)
    ]
    if not cosines or max(c for c, _ in cosines) < threshold - 1e-9:
        return None
    best = max(c for c, _ in cosines)
    return [answer for c, answer in cosines if c >= best - 1e-9][-1]


@settings(max_examples=100, deadline=None)
@given(stored=st.lists(small, max_size=6), asked=small, threshold=st.sampled_from([-1, -0.5, 0, 0.3, 0.7, 0.95, 1]))
def test_get_equals_an_exhaustive_search(stored, asked, threshold):
    cache = SemanticCache(threshold)
    pairs = [(v, i) for i, v in enumerate(stored)]
    for v, i in pairs:
        cache.put(v, i)
    expected = naive_get(pairs, asked, threshold)
    cosines = [
        c
        for v in stored
        if any(v) and any(asked)
        for c in [np.dot(v, asked) / np.linalg.norm(v) / np.linalg.norm(asked)]
    ]
    assume(all(not 1e-12 < abs(c - threshold) < 1e-8 for c in cosines))
    assert cache.get(asked) == expected


def test_answers_come_back_as_they_are_even_falsy_ones_and_none_is_refused():
    cache = SemanticCache(0.9)
    for vec, answer in (([1, 0, 0], 0), ([0, 1, 0], ""), ([0, 0, 1], marker := object())):
        cache.put(vec, answer)
    assert cache.get([2, 0, 0]) == 0
    assert cache.get([0, 2, 0]) == ""
    assert cache.get([0, 0, 2]) is marker
    with pytest.raises(ValueError, match="answer"):
        cache.put([1, 0, 0], None)


def test_the_latest_put_wins_among_equals_whatever_the_norm():
    cache = SemanticCache(1)
    cache.put([1, 1], "old")
    cache.put([1e-200, 1e-200], "new")
    assert cache.get([1e200, 1e200]) == "new"


def test_a_zero_vector_never_matches_stored_or_asked_even_at_threshold_minus_1():
    cache = SemanticCache(-1)
    cache.put([0, 0], "zero")
    assert cache.get([1, 0]) is None
    cache.put([-1, 0], "opposite")
    assert cache.get([0, 0]) is None
    assert cache.get([1, 0]) == "opposite"


def test_a_stored_vector_is_a_copy():
    vec = np.array([1.0, 0.0])
    cache = SemanticCache(0.9)
    cache.put(vec, "a")
    vec[:] = [0.0, 1.0]
    assert cache.get([1.0, 0.0]) == "a"


@pytest.mark.parametrize("threshold", [1.1, -1.1, float("nan")])
def test_a_threshold_outside_minus_1_to_1_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold"):
        SemanticCache(threshold)


@pytest.mark.parametrize("vec", [[], [[1.0]], [float("nan")], [float("inf")], [1.0, 2.0]])
def test_bad_vectors_are_named(vec):
    cache = SemanticCache(0.5)
    cache.put([1.0], "a")
    with pytest.raises(ValueError, match="vec"):
        cache.get(vec)


# --- the second gate


DIFFERENT = [
    ("What was the revenue in Q3 2023?", "What was the revenue in Q3 2024?", "number"),
    ("Is the warranty two years?", "Is the warranty three years?", "number"),
    ("How do I fly from Paris to London?", "How do I fly from London to Paris?", "name"),
    ("Paris hotels", "London hotels", "name"),
    ("Which stores are open in June?", "Which stores are open in july?", "name"),
    ("Can I return opened earbuds?", "Can I not return opened earbuds?", "negation"),
    ("Does it work with a filter?", "Doesn't it work with a filter?", "negation"),
    ("Can I return it without a receipt?", "Can I return it with a receipt?", "negation"),
    ("Who joined before the merger?", "Who joined after the merger?", "polarity"),
    ("Which store sold most lamps?", "Which store sold fewest lamps? least", "polarity"),
    ("convert litres to gallons", "convert gallons to litres", "direction"),
    ("trains from bergen to oslo", "is there a train to bergen from oslo", "direction"),
    ("does anna owe ben", "does ben owe anna", "direction"),
    ("红色水壶的保修期", "蓝色水壶的保修期", "script"),
]
SAME = [
    ("How long is the warranty?", "What is the length of the warranty?"),
    ("Refund rules for lamps?", "What are the refund rules for lamps?"),
    ("Where is the Riverside store?", "What is the address of the Riverside store?"),
    ("What was the revenue in Q3 2023?", "How much revenue was there in Q3 2023?"),
    ("Does it weigh 1,000 grams?", "Is the weight 1000 grams?"),
    ("Is it two litres?", "Is it 2 litres?"),
    ("红色水壶的保修期?", "红色水壶的保修期"),
    ("", ""),
]


@pytest.mark.parametrize(("one", "other", "reason"), DIFFERENT)
def test_the_gate_refuses_what_one_token_decides_both_ways(one, other, reason):
    assert difference(one, other) == reason
    assert difference(other, one) == reason


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_gate_lets_paraphrases_pass(one, other):
    assert difference(one, other) == difference(other, one) == ""


def test_names_in_lower_case_are_seen_if_they_are_given():
    assert difference("warranty of the red kettle", "warranty of the blue kettle") == ""
    assert difference("warranty of the red kettle", "warranty of the blue kettle", {"red", "blue"}) == "name"


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_the_gate_is_symmetric_and_never_refuses_the_same_text(one, other):
    assert difference(one, one) == ""
    assert bool(difference(one, other)) == bool(difference(other, one))


@pytest.mark.parametrize(
    "question",
    [
        "Where is ORD-482913?",
        "where is ord-482913?",
        "Do EARBUDS-AIR2 have tips?",
        "tips for earbuds-air2",
        "Refund status of order 4512",
        "order no. 4512 please",
        "Ticket #17",
        "invoice number: 9001",
        "Is 482913 shipped?",
        "What did ann@example.org buy?",
        "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
        "Part AB1234",
        "status of PO-17",
    ],
)
def test_identifiers_are_recognised(question):
    assert holds_identifier(question)


@pytest.mark.parametrize(
    "question",
    [
        "Revenue in Q3 2023?",
        "A 2-year warranty?",
        "24-hour returns",
        "It cost 1,200.50",
        "Is it 1.7 litres?",
        "No order?",
        "",
    ],
)
def test_numbers_and_hyphens_alone_are_no_identifiers(question):
    assert not holds_identifier(question)


# --- the guarded cache, on made-up vectors in which everything is close


def same_for_all(texts):
    return np.tile(np.array([[1.0, 0.0]], dtype=np.float32), (len(texts), 1))


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def guarded(**options):
    return GuardedSemanticCache(0.9, same_for_all, **options)


def test_a_near_question_must_pass_the_second_gate_and_the_reason_is_counted():
    cache = guarded()
    assert cache.put("Is it two litres?", "Yes.", SCOPE)
    assert cache.get("Is it 2 litres?", SCOPE) == "Yes."
    assert cache.get("Is it 3 litres?", SCOPE) is None
    assert cache.get("Is it not 2 litres?", SCOPE) is None
    assert +cache.stats == {"hit": 1, "miss": 2, "guard:number": 1, "guard:negation": 1}


def test_where_the_nearest_is_refused_a_farther_true_match_is_served():
    vectors = {"stored for 2024": [1, 0], "stored for 2023": [0.98, 0.2], "asked for 2023 stored": [1, 0.01]}
    cache = GuardedSemanticCache(0.9, lambda texts: np.array([vectors[t] for t in texts], dtype=np.float32))
    cache.put("stored for 2024", "wrong", SCOPE)
    cache.put("stored for 2023", "right", SCOPE)
    assert cache.get("asked for 2023 stored", SCOPE) == "right"


def test_identifiers_are_neither_stored_nor_served():
    cache = guarded()
    assert not cache.put("Where is order 12345?", "Lost.", SCOPE)
    cache.put("Where is my parcel?", "On its way.", SCOPE)
    assert cache.get("Where is order 12345?", SCOPE) is None
    assert cache.stats["identifier"] == 1
    cache.put("What about 17?", "It is a prime.", SCOPE)
    assert cache.get("What about #17?", SCOPE) is None  # here no number differs: the identifier alone refuses it
    assert cache.get("And what about 17?", SCOPE) == "It is a prime."


@pytest.mark.parametrize(
    "other",
    [
        Scope("other", "p1", "c1", "ann"),
        Scope("smol", "p2", "c1", "ann"),
        Scope("smol", "p1", "c2", "ann"),
        Scope("smol", "p1", "c1", "bob"),
    ],
)
def test_scopes_never_share_answers(other):
    cache = guarded()
    cache.put("my points?", "12", SCOPE)
    assert cache.get("my points?", other) is None
    assert cache.get("my points?", SCOPE) == "12"


def test_entries_expire_and_are_dropped_with_their_sources():
    clock = Clock()
    cache = guarded(ttl=10, clock=clock)
    cache.put("warranty?", "two years", SCOPE, sources=["manual#1", "manual"])
    assert cache.invalidate("lamp") == 0
    assert cache.invalidate("manual") == 1
    assert cache.get("warranty?", SCOPE) is None
    cache.put("warranty?", "three years", SCOPE)
    clock.now = 9.9
    assert cache.get("warranty?", SCOPE) == "three years"
    clock.now = 10
    assert cache.get("warranty?", SCOPE) is None
    assert (cache.stats["expired"], cache.stats["invalidated"]) == (1, 1)


def test_the_latest_put_wins_among_equally_near_ones():
    cache = guarded()
    cache.put("warranty?", "two years", SCOPE)
    cache.put("warranty?", "three years", SCOPE)
    assert cache.get("Warranty", SCOPE) == "three years"


def test_a_reported_false_hit_is_counted_and_its_entry_dropped():
    cache = guarded()
    cache.put("how long does it run", "8 hours", SCOPE)
    assert cache.get("how far does it reach", SCOPE) == "8 hours"
    assert cache.report_false_hit("how far does it reach", SCOPE)
    assert cache.get("how far does it reach", SCOPE) is None
    assert not cache.report_false_hit("how far does it reach", SCOPE)
    assert cache.stats["false_hit"] == 1


def test_blank_questions_are_misses_and_bad_input_is_named():
    cache = guarded()
    assert not cache.put(" ", "a", SCOPE)
    assert cache.get(" ", SCOPE) is None
    with pytest.raises(ValueError, match="threshold"):
        GuardedSemanticCache(2, same_for_all)
    with pytest.raises(ValueError, match="ttl"):
        guarded(ttl=0)
    with pytest.raises(ValueError, match="sources"):
        cache.put("q", "a", SCOPE, sources="manual")
