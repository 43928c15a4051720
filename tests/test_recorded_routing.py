"""The prompts and stored runs of the chapter on routers: what a router sees, and that a run reads as it was written."""

import tomllib

import pytest

from ragkit import corpus
from ragkit.loops.route_self import yes_share
from ragkit.models.shapes import Completion, Token
from ragkit.recorded import measuring, routing

YES = Token("Yes", 0.61234, ((" Yes", 0.61234), ("No", 0.2), ("Maybe", 0.1)))
SAID = Completion('Yes, "it\'s" £5\n☕', (YES, Token(', "it\'s"', 1e-05), Token(" £5\n☕", 0.5)), prompt_tokens=71)


def test_a_router_sees_the_text_of_a_message_and_no_history() -> None:
    question = corpus.load().select(cls="follow_up")[0]
    for run in ("assessed", "closed"):
        prompt = routing.prompt_of(run, question)
        assert question.text in prompt
        assert not any(turn["content"] in prompt for turn in question.history)


def test_the_hand_answers_are_asked_of_the_test_half_alone() -> None:
    test = corpus.load().select(split="test")
    assert [item for item, _ in routing.assessments()] == [question.id for question in test]
    assert {item for item, _ in routing.chat()} == {question.id for question in test if question.cls == routing.CHAT}


def test_the_sample_is_spread_over_the_classes() -> None:
    sample = routing.sample()
    counts = {cls: sum(question.cls == cls for question in sample) for cls in corpus.CLASSES}
    assert counts.pop(routing.CHAT) == len(corpus.load().select(cls=routing.CHAT, split="test")) > 10
    assert set(counts.values()) == {routing.PER_CLASS}
    assert {question.split for question in sample} == {"test"}
    assert len({question.cls for question in sample[-13:]}) == 13, "the last round has one of each class"
    with pytest.raises(ValueError, match="run must be one of"):
        routing.asked("closed book")


def test_the_facts_are_read_by_the_prompts_of_chapter_four() -> None:
    for question in routing.facts():
        assert routing.prompt_of("gold", question) == measuring.reader_prompt(question, "gold")
        assert question in routing.asked("closed")


def test_a_completion_survives_being_written_down(tmp_path) -> None:
    path = tmp_path / "closed.toml"
    routing.save(path, {"no_retrieval-01": routing._kept(SAID)}, "one thread")
    file = tomllib.loads(path.read_text(encoding="utf-8"))
    back = routing._read(file["answers"]["no_retrieval-01"])
    assert (back.text, back.prompt_tokens, back.completion_tokens) == (SAID.text, 71, 3)
    assert back.tokens[0].top == ((" Yes", 0.6123), ("No", 0.2)), "of the alternatives the verdicts are kept"
    assert yes_share(back) == pytest.approx(0.6123 / 0.8123)
    assert file["command"] == "python -m ragkit.recorded.routing closed"


@pytest.mark.parametrize("run", routing.RUNS)
def test_a_stored_run_answers_every_question_of_its_prompts(run: str) -> None:
    replay = routing.replay(run)
    for question in routing.asked(run):
        found = replay(routing.prompt_of(run, question))
        assert 0 < len(found.tokens) <= routing.RUNS[run].max_tokens
        assert all(0 <= token.probability <= 1 for token in found.tokens)
    with pytest.raises(KeyError):
        replay("another prompt")
