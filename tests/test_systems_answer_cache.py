"""The exact cache: what is one question, what is one scope, and when an entry dies."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.systems import AnswerCache, Scope, normal_form

SCOPE = Scope("smol", "p1", "c1", "ann")


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_the_same_question_in_another_dress_is_a_hit():
    cache = AnswerCache()
    cache.put("Where is  the LAMP made?", "In Bergen.", SCOPE)
    for asked in ("where is the lamp made", " Where is\nthe lamp made ?!", "Where is the lamp made?"):
        assert cache.get(asked, SCOPE) == "In Bergen."
    assert cache.get("Where is the lamp not made?", SCOPE) is None
    assert cache.stats == {"hit": 3, "miss": 1}


def test_orders_that_differ_in_one_digit_never_meet():
    cache = AnswerCache()
    cache.put("Where is order 12345?", "Lost.", SCOPE)
    assert cache.get("Where is order 12346?", SCOPE) is None


@pytest.mark.parametrize(
    "other",
    [
        Scope("other", "p1", "c1", "ann"),
        Scope("smol", "p2", "c1", "ann"),
        Scope("smol", "p1", "c2", "ann"),
        Scope("smol", "p1", "c1", "bob"),
    ],
)
def test_the_key_holds_model_prompt_version_corpus_version_and_user(other):
    cache = AnswerCache()
    cache.put("q", "a", SCOPE)
    assert cache.get("q", other) is None
    assert cache.get("q", SCOPE) == "a"


def test_an_entry_is_dead_from_its_ttl_on():
    clock = Clock()
    cache = AnswerCache(ttl=10, clock=clock)
    cache.put("q", "a", SCOPE)
    clock.now = 9.999
    assert cache.get("q", SCOPE) == "a"
    clock.now = 10.0
    assert cache.get("q", SCOPE) is None
    assert len(cache) == 0
    assert cache.stats == {"hit": 1, "expired": 1, "miss": 1}


def test_a_hit_does_not_prolong_life_but_a_new_put_does():
    clock = Clock()
    cache = AnswerCache(ttl=10, clock=clock)
    cache.put("q", "a", SCOPE)
    clock.now = 8
    assert cache.get("q", SCOPE) == "a"
    cache.put("q", "b", SCOPE)
    clock.now = 17
    assert cache.get("q", SCOPE) == "b"


def test_a_changed_source_drops_every_answer_that_rests_on_it_in_every_scope():
    cache = AnswerCache()
    bob = Scope("smol", "p1", "c1", "bob")
    cache.put("warranty", "two years", SCOPE, sources=["manual#3", "manual"])
    cache.put("warranty", "two years", bob, sources={"manual#4", "manual"})
    cache.put("lamp", "dims", SCOPE, sources=["lamp#1"])
    assert cache.invalidate("manual#3") == 1
    assert cache.invalidate("manual") == 1
    assert cache.invalidate("manual") == 0
    assert cache.get("warranty", bob) is None
    assert cache.get("lamp", SCOPE) == "dims"
    assert cache.stats["invalidated"] == 2


def test_the_least_recently_used_entry_goes_first():
    cache = AnswerCache(max_entries=2)
    cache.put("a", "1", SCOPE)
    cache.put("b", "2", SCOPE)
    cache.get("a", SCOPE)
    cache.put("c", "3", SCOPE)
    assert (cache.get("a", SCOPE), cache.get("b", SCOPE), cache.get("c", SCOPE)) == ("1", None, "3")
    assert cache.stats["evicted"] == 1


def test_blank_questions_are_not_stored_and_empty_answers_are_answers():
    cache = AnswerCache()
    cache.put(" ? ", "a", SCOPE)
    assert cache.get("?", SCOPE) is None
    cache.put("q", "", SCOPE)
    assert cache.get("q", SCOPE) == ""


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="ttl"):
        AnswerCache(ttl=0)
    with pytest.raises(ValueError, match="max_entries"):
        AnswerCache(max_entries=0)
    with pytest.raises(ValueError, match="sources"):
        AnswerCache().put("q", "a", SCOPE, sources="manual")


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=40))
def test_normal_form_is_stable(text):
    assert normal_form(normal_form(text)) == normal_form(text)


QUESTIONS = ["Where is the lamp?", "where is  the LAMP", "Is it red?", " ?"]
SCOPES = [SCOPE, Scope("smol", "p1", "c1", "bob"), Scope("smol", "p1", "c2", "ann")]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "get", "invalidate", "wait"]),
        st.sampled_from(QUESTIONS),
        st.sampled_from(SCOPES),
        st.sets(st.sampled_from(["manual", "policy"])),
        st.integers(0, 4),
    ),
    max_size=25,
)


def searched(history, question, scope, now, ttl):
    """The answer by reading all that happened from the newest on: the last put of that question decides."""
    same = " ".join(question.lower().replace("?", "").split())
    for i in range(len(history) - 1, -1, -1):
        kind, at, asked, of, sources, answer = history[i]
        if kind != "put" or of != scope or " ".join(asked.lower().replace("?", "").split()) != same or not same:
            continue
        gone = any(later[0] == "invalidate" and later[4] & sources for later in history[i + 1 :])
        return None if gone or now - at >= ttl else answer
    return None


@settings(max_examples=200, deadline=None)
@given(STEPS)
def test_any_history_gives_what_a_search_through_all_that_happened_gives(steps):
    clock, history = Clock(), []
    cache = AnswerCache(ttl=6, clock=clock)
    for number, (kind, question, scope, sources, seconds) in enumerate(steps):
        if kind == "wait":
            clock.now += seconds
        elif kind == "put":
            cache.put(question, f"answer {number}", scope, sources)
            history.append(("put", clock.now, question, scope, sources, f"answer {number}"))
        elif kind == "invalidate" and sources:
            source = min(sources)
            cache.invalidate(source)
            history.append(("invalidate", clock.now, "", None, {source}, ""))
        for asked, of in itertools.product(QUESTIONS, SCOPES):
            assert cache.get(asked, of) == searched(history, asked, of, clock.now, 6)
