"""A meter around any model: calls, tokens, and milliseconds where a model really ran.

A replayed answer (a recording, a stand-in) costs no time worth reporting, so only its tokens are counted. Left out:
prices, which ``ragkit.systems`` works out from the tokens.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from ragkit.base import LLM, Message
from ragkit.models.shapes import Completion, as_messages, check_messages, check_prompt


class Metered:
    """``llm`` with counters: ``calls``, ``prompt_tokens``, ``cached_tokens``, ``completion_tokens``, ``milliseconds``.

    A model with a ``generate`` method (``Local``, ``OpenAICompatible``) really runs: its own token counts are used,
    and the wall clock of its calls. Any other callable is taken for a replay: tokens are word pieces of
    ``ragkit.text.count_tokens``, the texts of all turns and of the answer, and no time passes. ``ran=True`` or
    ``ran=False`` overrides that for a callable of your own. A call that raises is counted, with its time, and raises.
    """

    def __init__(self, llm: LLM, ran: bool | None = None) -> None:
        if not callable(llm):
            raise ValueError(f"llm must be a callable str -> str, got {type(llm).__name__}")
        self.llm = llm
        self.ran = hasattr(llm, "generate") if ran is None else ran
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Set every counter to zero."""
        self.calls = self.prompt_tokens = self.cached_tokens = self.completion_tokens = 0
        self.milliseconds = 0.0

    def __call__(self, prompt: str) -> str:
        """One prompt, counted."""
        if hasattr(self.llm, "generate"):
            return self.generate(check_prompt(prompt)).text
        return self._replay(check_prompt(prompt), self.llm)

    def chat(self, messages: list[Message]) -> str:
        """One conversation, counted; ``ValueError`` when the model has no chat form."""
        if hasattr(self.llm, "generate"):
            return self.generate(check_messages(messages)).text
        if not hasattr(self.llm, "chat"):
            raise ValueError(f"llm has no chat form: {type(self.llm).__name__}")
        return self._replay(check_messages(messages), self.llm.chat)

    def generate(self, prompt: str | list[Message], **options: Any) -> Completion:
        """``llm.generate``, counted; ``ValueError`` when the model has none."""
        if not hasattr(self.llm, "generate"):
            raise ValueError(f"llm has no generate method: {type(self.llm).__name__}")
        options.setdefault("top", None)
        started = time.perf_counter()
        completion: Completion | None = None
        try:
            completion = self.llm.generate(prompt, **options)
            return completion
        except ValueError as error:  # a truncated answer was paid for too
            completion = getattr(error, "completion", None)
            raise
        finally:
            spent = completion or Completion("")
            self._count(spent.prompt_tokens, spent.cached_tokens, spent.completion_tokens, started)

    def _replay(self, prompt: str | list[Message], answer: Any) -> str:
        from ragkit.text import count_tokens

        started = time.perf_counter()
        text: str | None = None
        try:
            text = answer(prompt)
            return text
        finally:
            read = sum(count_tokens(turn["content"]) for turn in as_messages(prompt)) if text is not None else 0
            self._count(read, 0, count_tokens(text) if text is not None else 0, started)

    def _count(self, prompt: int, cached: int, completion: int, started: float) -> None:
        elapsed = 1000 * (time.perf_counter() - started) if self.ran else 0.0
        with self._lock:
            self.calls += 1
            self.prompt_tokens += prompt
            self.cached_tokens += cached
            self.completion_tokens += completion
            self.milliseconds += elapsed
