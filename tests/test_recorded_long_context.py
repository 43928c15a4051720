"""The shelf of chapter 19: append-only, the question last, a rule for right answers, and times that are measured."""

from ragkit.models import Recording
from ragkit.recorded import long_context as lc


def test_the_long_prompts_share_the_shelf_as_their_beginning_and_end_with_the_question():
    questions = lc.asked()
    prompts = [lc.second_prompt(question) for question in questions]
    start = prompts[0].index(questions[0].text)
    assert len({prompt[:start] for prompt in prompts}) == 1
    assert all(prompt.endswith(f"{q.text}\nAnswer:") for prompt, q in zip(prompts, questions, strict=True))
    assert lc.shelf_text() in prompts[0]


def test_the_shelf_grows_at_its_end():
    dates = [document.date for document in lc.shelf()]
    assert dates == sorted(dates)


def test_a_right_answer_holds_most_words_of_an_accepted_one_and_silence_is_right_where_there_is_none():
    fact = next(question for question in lc.asked() if question.id == "single_fact-20")
    none = next(question for question in lc.asked() if not question.relevant)
    assert lc.right(f"It takes {fact.answer}.", fact)
    assert not lc.right("", fact)
    assert not lc.right("It takes long.", fact)
    assert lc.right("unanswerable", none)
    assert lc.right("The text does not say.", none)
    assert not lc.right("Two years.", none)


def test_every_question_is_answered_by_hand_and_the_sample_by_the_small_model():
    for question in lc.asked():
        assert Recording("self_route")(lc.first_prompt(question))
        assert Recording("self_route_long")(lc.second_prompt(question))
    for question in lc.sample():
        assert Recording("self_route", "135M")(lc.first_prompt(question))
        assert Recording("self_route_long", "135M")(lc.second_prompt(question))


def test_the_times_come_in_pairs_and_the_second_reads_only_the_question():
    about, fresh, again = lc.times()
    assert {"date", "model", "machine", "threads"} == set(about)
    assert len(fresh) == len(again) == len(lc.LENGTHS)
    assert all(a.cached == 0 and b.cached > 0.9 * b.tokens for a, b in zip(fresh, again, strict=True))
    assert all(b.seconds < a.seconds for a, b in zip(fresh, again, strict=True))
