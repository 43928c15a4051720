"""A stand-in for a language model: answers written beside the example that needs them, and an error otherwise.

The idea is the test stub of Meszaros, *xUnit Test Patterns* (2007, chapter 23): canned answers, and a loud failure on
a call nobody foresaw. Left out: any default answer, since a silent one hides that the prompt is not the expected one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ragkit.base import Message
from ragkit.models.shapes import chat_prompt, check_prompt


class StandInMiss(LookupError):  # noqa: N818 - the field speaks of a hit and a miss
    """No canned answer fits a prompt. ``prompt`` holds the whole of it."""

    def __init__(self, prompt: str, known: Sequence[str]) -> None:
        self.prompt = prompt
        listed = "\n".join(f"  - {entry!r:.100}" for entry in known) or "  (none)"
        super().__init__(f"no canned answer fits this prompt:\n{prompt}\nKnown entries:\n{listed}")


class StandIn:
    """A model whose answers are given: by whole prompt, by substring, or by a function.

    ``answers`` is a mapping (prompt -> answer, matched exactly), a list of ``(substring, answer)`` rules (the first
    whose substring occurs in the prompt answers), or a function ``str -> str``. ``prompts`` lists what was asked, in
    order. A conversation is looked up by ``shapes.chat_prompt``: a lone user turn by its content.

    Raises ``StandInMiss`` where nothing fits, ``ValueError`` for a prompt or an answer that is not a ``str``.

    >>> StandIn([("capital of France", "Paris"), ("", "I do not know.")])("What is the capital of France?")
    'Paris'
    """

    def __init__(self, answers: Mapping[str, str] | Sequence[tuple[str, str]] | Callable[[str], str]) -> None:
        self.prompts: list[str] = []
        self._known: list[str] = []
        self._answer: Callable[[str], str | None]
        if isinstance(answers, Mapping):
            table = _checked(dict(answers).items())
            self._known = [prompt for prompt, _ in table]
            self._answer = dict(table).get
        elif callable(answers):
            self._answer = answers
        elif isinstance(answers, Sequence) and not isinstance(answers, (str, bytes)):
            rules = _checked(answers)
            self._known = [part for part, _ in rules]
            self._answer = lambda prompt: next((answer for part, answer in rules if part in prompt), None)
        else:
            raise ValueError(f"answers must be a mapping, a list of pairs or a function, got {type(answers).__name__}")

    def __call__(self, prompt: str) -> str:
        """Answer one prompt."""
        self.prompts.append(check_prompt(prompt))
        answer = self._answer(prompt)
        if answer is None:
            raise StandInMiss(prompt, self._known)
        if not isinstance(answer, str):
            raise ValueError(f"answers must give a str, got {type(answer).__name__} for the prompt {prompt!r:.80}")
        return answer

    def chat(self, messages: list[Message]) -> str:
        """Answer a conversation, looked up by its canonical string."""
        return self(chat_prompt(messages))


def _checked(pairs: object) -> list[tuple[str, str]]:
    """Pairs of strings as a list, or a ``ValueError`` that shows the first entry that is not one."""
    checked: list[tuple[str, str]] = []
    for pair in pairs:  # type: ignore[attr-defined]
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise ValueError(f"answers must pair a str with a str, got {pair!r:.80}")
        checked.append((pair[0], pair[1]))
    return checked
