"""The meter: calls and tokens of every model, milliseconds only of those that ran."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from ragkit.models import Completion, Metered, StandIn, TruncatedError
from ragkit.text import count_tokens


class Slow:
    """A model that really runs, for 20 ms, and reports its tokens."""

    def generate(self, prompt: Any, **options: Any) -> Completion:
        time.sleep(0.02)
        done = Completion("ok", prompt_tokens=7, cached_tokens=3, completion_tokens=2)
        if options.get("max_tokens") == 1:
            raise TruncatedError(done, 1)
        return done

    def __call__(self, prompt: str) -> str:
        return self.generate(prompt).text


def test_a_replay_counts_tokens_and_never_milliseconds() -> None:
    llm = Metered(StandIn(lambda prompt: time.sleep(0.01) or "The blue kettle."))
    llm("Which kettle is blue?")
    assert (llm.calls, llm.milliseconds) == (1, 0.0)
    assert llm.prompt_tokens == count_tokens("Which kettle is blue?") == 5
    assert llm.completion_tokens == count_tokens("The blue kettle.") == 4


def test_a_conversation_counts_all_its_turns() -> None:
    llm = Metered(StandIn([("", "yes")]))
    llm.chat([{"role": "system", "content": "blue kettle"}, {"role": "user", "content": "red kettle"}])
    assert llm.prompt_tokens == count_tokens("blue kettle") + count_tokens("red kettle")


def test_a_model_that_ran_counts_its_own_tokens_and_its_time() -> None:
    llm = Metered(Slow())
    assert llm("x") == "ok"
    assert (llm.calls, llm.prompt_tokens, llm.cached_tokens, llm.completion_tokens) == (1, 7, 3, 2)
    assert llm.milliseconds >= 20
    llm.reset()
    assert (llm.calls, llm.prompt_tokens, llm.completion_tokens, llm.milliseconds) == (0, 0, 0, 0.0)


def test_a_truncated_answer_was_paid_for() -> None:
    llm = Metered(Slow())
    with pytest.raises(TruncatedError):
        llm.generate("x", max_tokens=1)
    assert (llm.calls, llm.completion_tokens) == (1, 2)


def test_a_failed_replay_counts_a_call_without_tokens() -> None:
    llm = Metered(StandIn({}))
    with pytest.raises(LookupError):
        llm("x")
    assert (llm.calls, llm.prompt_tokens, llm.completion_tokens) == (1, 0, 0)


def test_a_callable_of_ones_own_can_be_said_to_run() -> None:
    llm = Metered(lambda prompt: time.sleep(0.01) or "yes", ran=True)
    llm("x")
    assert llm.milliseconds >= 10


def test_counts_of_many_threads_add_up() -> None:
    llm = Metered(StandIn([("", "yes")]))
    threads = [threading.Thread(target=lambda: [llm("x") for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert llm.calls == llm.prompt_tokens == 400


def test_a_model_without_chat_or_generate_is_told_so() -> None:
    llm = Metered(lambda prompt: "yes")
    with pytest.raises(ValueError, match="no chat form"):
        llm.chat([{"role": "user", "content": "x"}])
    with pytest.raises(ValueError, match="no generate"):
        llm.generate("x")
    with pytest.raises(ValueError, match="must be a callable"):
        Metered("gpt")  # type: ignore[arg-type]
